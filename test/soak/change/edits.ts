// What people do in an organization between two updates: they remove what the stack has made, and change and add other things.
import type { Json } from "../../../schema/index.ts";
import type { Row } from "../../harness/engine-workplace.ts";
import { IAM } from "../../harness/small-engine/owner.ts";
import { someCapabilities, someClaims } from "../program/some.ts";
import { type Case, type Group, READER } from "./group.ts";

export const editByHand = async (
  { place, owner }: Pick<Group, "place" | "owner">,
  { random, made }: Case,
): Promise<void> => {
  const rows = (table: string, where = "TRUE"): Row[] =>
    place.rows(table, `uid LIKE ? AND (${where})`, `${made.organization}%`);
  const uidOf = (table: string, where?: string): string | undefined => random.pick(rows(table, where))?.uid;
  const EDITS: (() => Promise<unknown> | undefined)[] = [
    () => remove("roleBindings", uidOf("role_bindings", `identity_uid <> '${place.server.identity}'`)),
    () => remove("identities", uidOf("identities", "name LIKE '%identity-%' OR name LIKE '%p-%'")),
    () => remove("externalGroupRoleMappings", uidOf("external_group_role_mappings")),
    () => remove("groupInvites", uidOf("group_invites")),
    () => {
      const uid = uidOf("roles");
      return uid && send("PATCH", `roles/${uid}?updateMask=capabilities`, { capabilities: someCapabilities(random) });
    },
    () => {
      const uid = uidOf("identities", `relationship LIKE '%laim%' AND name NOT IN ('owner', '${READER}')`);
      return uid && send("PATCH", `identities/${uid}?updateMask=claimMatch`, { claimMatch: someClaims(random) });
    },
    () => {
      const body = { identityUid: random.pick(made.identities), roleUid: random.pick([...made.roles, made.viewer]) };
      return send("POST", `roleBindings/${uidOf("groups")}`, body);
    },
  ] as (() => Promise<unknown> | undefined)[];
  // What the API refuses is no edit.
  const send = (method: string, path: string, body?: Json): Promise<unknown> =>
    owner.call(method, `${IAM}/${path}`, body).catch(ignoreRefusal);
  const remove = (collection: string, uid: string | undefined) =>
    uid === undefined ? undefined : send("DELETE", `${collection}/${uid}`);
  for (let left = random.below(4); left > 0; left -= 1) await random.pick(EDITS)();
};

export const ignoreRefusal = (error: Error): void => {
  if (!/ answered 4/.test(error.message)) throw error;
};
