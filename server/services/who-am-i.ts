// Validate (docs/contract.md#validate): the claims of the caller's token, and the roles now bound to its identity, as far as
// the token may use them (docs/contract.md#d28).
import { isAncestorOrSelf, type ResponseOf } from "../../schema/index.ts";
import { shapes } from "../store/shape.ts";
import type { Row } from "../store/store.ts";
import type { ServiceContext } from "./context.ts";
import { timeText } from "./record.ts";
import type { ServiceMethods } from "./service.ts";
import { groupV1From } from "./v1.ts";
import { roleV1From } from "./v1-iam.ts";

export const whoAmIService = {
  Validate: (_, context) => {
    const { issuer, audience, issuedAtMs, expiresAtMs, email } = context.caller.token();
    return {
      issuer,
      subject: context.caller.uid,
      audience,
      expiry: timeText(expiresAtMs),
      issuedAt: timeText(issuedAtMs),
      capabilities: listBoundRoles(context),
      email,
    };
  },
} satisfies ServiceMethods;

const listBoundRoles = ({ caller, store }: ServiceContext): NonNullable<ResponseOf<"Validate">["capabilities"]> =>
  store
    .statement("SELECT parent, role_uid FROM role_bindings WHERE identity_uid = ? ORDER BY uid")
    .all(caller.uid)
    .map(({ parent, role_uid }) => ({
      group: store.get(shapes.group, parent as string) as Row,
      role: store.get(shapes.role, role_uid as string) as Row,
    }))
    .filter(({ group }) => isWithin(caller.scopes, group.uid))
    .map(({ group, role }) => ({
      group: groupV1From(store, group),
      role: roleV1From(role, (capability) => caller.capabilities?.has(capability) ?? true),
    }));

// A role that is bound above a scope counts inside it.
const isWithin = (scopes: readonly string[] | undefined, group: string): boolean =>
  !scopes || scopes.some((scope) => isAncestorOrSelf(scope, group) || isAncestorOrSelf(group, scope));
