// The pull tokens among the role bindings that an exclusive set removes: with each of them, a client loses its images or packages. Role
// bindings do not show whom an identity is for, so a preview reads the identities.

import { relationshipOf } from "../../access/graph/live-record.ts";
import { isUsed, pullTokenExpiry } from "../../access/graph/pull-token.ts";
import { listAll } from "../../client/paginate.ts";
import { type Json, printable, resources } from "../../schema/index.ts";
import type { Session } from "../run/session.ts";
import { type Binding, bindingText } from "../set/pair.ts";

/** As many uids as fit into an address. */
const PART_MAX = 50;

/** `"cluster" as "registry.pull", a pull token that ends 2026-02-27T…, not used yet` for each of these bindings that a pull token has. */
export const tokenTextOf = async (
  session: Session,
  bindings: readonly Binding[],
): Promise<(one: Binding) => string> => {
  const uids = [...new Set(bindings.map(({ identity }) => identity.uid))];
  const texts = new Map(uids.map((uid) => [uid, ", whose identity cannot be read"]));
  for (let i = 0; i < uids.length; i += PART_MAX) {
    const ids = uids.slice(i, i + PART_MAX);
    for await (const record of listAll<Json & { uid: string }>(session, resources.identity.list, { uidp: { ids } }))
      if (texts.has(record.uid)) texts.set(record.uid, textOf(record));
  }
  return (one) => `${bindingText(one)}${texts.get(one.identity.uid) ?? ""}`;
};

const textOf = (record: Json): string => {
  const expires = pullTokenExpiry(relationshipOf(record));
  if (expires === undefined) return "";
  const [seen, created] = [String(record.lastSeenTime), String(record.createTime)];
  return `, a pull token that ends ${printable(expires)}, ${isUsed(seen, created) ? `last seen ${printable(seen)}` : "not used yet"}`;
};
