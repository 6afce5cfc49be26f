// A field that holds the uid of a role, and takes the name of a built-in one: the name is looked up when the record does not
// have its role already.
import type { Json } from "../../schema/index.ts";
import { withLookedUp } from "../state/given-text.ts";
import { builtInRoleUid, isRoleName } from "./built-in-role.ts";
import type { LookUpSession } from "./kind.ts";

/** The rule `resolve` of a kind whose `field` is a role. */
export const resolveRole =
  (field: string) =>
  async (session: LookUpSession, desired: Json): Promise<Json> => {
    const { [field]: name } = desired;
    return isRoleName(name) ? withLookedUp(desired, field, name, await builtInRoleUid(session, name)) : desired;
  };
