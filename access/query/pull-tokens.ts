// Pull tokens (docs/internals/contract.md#pull-tokens): the credentials of container and package clients. To the service, each is an identity with
// static keys. A caller who may create identities can give this form to an identity that holds more. So the form shows only the purpose of
// an identity, and its capabilities show its access.

import { z } from "zod";
import { BUILT_IN_ROLE_CAPABILITIES, isObject, type Json, rootOf } from "../../schema/index.ts";
import { worstFirst } from "../graph/danger.ts";
import { accessIn } from "../graph/effective-access.ts";
import { type IdentityNode, nameOf, pathOf } from "../graph/graph.ts";
import type { Live } from "../graph/live.ts";
import { string, text, textOrNull, texts } from "../shape.ts";
import { roleReader } from "./answer.ts";

const ISSUER = "https://pulltoken.issuer.chainguard.dev";
const SUBJECT = /^pull-token-./;

/** When the keys of a pull token end, RFC 3339; undefined for any other identity. */
export const pullTokenExpiry = (relationship: Json | null): string | undefined => {
  const { staticKeys: keys, ...others } = relationship ?? {};
  if (!isObject(keys) || Object.keys(others).length > 0) return undefined;
  const { issuer, subject, expirationTime } = keys;
  if (issuer !== ISSUER || typeof subject !== "string" || !SUBJECT.test(subject)) return undefined;
  return typeof expirationTime === "string" && Number.isFinite(Date.parse(expirationTime)) ? expirationTime : undefined;
};

const PULL_ROLE = /^(registry|apk|libraries\.[a-z]+)\.pull$/;

/** The capabilities of these built-in roles, whatever the role of a token is called. */
const PULLS: ReadonlySet<string> = new Set(
  Object.entries(BUILT_IN_ROLE_CAPABILITIES).flatMap(([name, granted]) => (PULL_ROLE.test(name) ? granted : [])),
);

/** Whether anyone has signed in with it: until then, `lastSeenTime` is the time of its creation. */
export const isUsed = (lastSeenTime: string, createTime: string): boolean =>
  Date.parse(lastSeenTime) > Date.parse(createTime);

// The pull tokens of an organization: who holds which role where, since when, until when, and whether it holds more than pulls.

const time = textOrNull("RFC 3339; null: not known");

/** A row for each role binding of a pull token, and one for a token without any. */
export const PullToken = z.object({
  uid: text("of the identity"),
  name: string,
  group: text("uid of the group where the role holds; without a role, of the group of the identity"),
  groupName: text("path of that group from the organization, / for itself"),
  role: textOrNull("name of the role; null: it holds none"),
  binding: textOrNull("uid of the role binding"),
  created: time,
  ageDays: z.number().nullable().describe("whole days since it was created"),
  expires: text("RFC 3339"),
  lastSeen: time,
  state: z.enum(["valid", "ending", "expired"]).describe("ending: within 30 days"),
  more: texts("capabilities beyond those of pulls, of all of its roles"),
  complete: z.boolean().describe("false: you cannot see all that it holds, so it may hold more"),
});
export type PullToken = z.infer<typeof PullToken>;

/** All its access is known, and includes only pulls. */
export const holdsPullsAlone = ({ more, complete }: PullToken): boolean => more.length === 0 && complete;

const DAY_MS = 24 * 60 * 60 * 1000;
const SOON_MS = 30 * DAY_MS;

/** The worst first: tokens that hold more than pulls, or may; then the others, by group and end. */
export const pullTokensIn = ({ graph, notVisible, createdAt, lastSeen }: Live, nowMs: number): PullToken[] => {
  const { bindingsOf } = accessIn(graph);
  const isRead = roleReader(graph, notVisible);
  const rowsOf = (identity: IdentityNode): PullToken[] => {
    const { id, name } = identity;
    const expires = pullTokenExpiry(identity.relationship);
    if (expires === undefined) return [];
    const bindings = bindingsOf(id);
    const held = bindings.flatMap(({ role }) => graph.roles.get(role)?.capabilities ?? []);
    // Friendly names. A capability that this version does not know is more than a pull.
    const more = [...new Set(held).difference(PULLS)].sort();
    // Whether all bindings in its organization can be listed. The caller need not know another organization.
    const isHidden = notVisible.some(
      ({ kind, group }) => kind === "roleBinding" && (group === "" || rootOf(group) === rootOf(id)),
    );
    const complete = !isHidden && bindings.every(({ role }) => isRead(role));
    const endMs = Date.parse(expires);
    const state = endMs <= nowMs ? "expired" : endMs <= nowMs + SOON_MS ? "ending" : "valid";
    const created = createdAt?.get(id) ?? null;
    const ageDays = created === null ? null : Math.max(0, Math.floor((nowMs - Date.parse(created)) / DAY_MS));
    const own = { created, ageDays, expires, lastSeen: lastSeen?.get(id) ?? null, state, more, complete } as const;
    const places = bindings.map(({ id: binding, group, role }) => ({
      group,
      groupName: pathOf(graph, group),
      role: nameOf(graph.roles, role),
      binding,
    }));
    const none = { group: identity.group, groupName: pathOf(graph, identity.group), role: null, binding: null };
    return (places.length > 0 ? places : [none]).map((place) => ({ uid: id, name, ...place, ...own }));
  };
  const rows = [...graph.identities.values()].flatMap(rowsOf);
  return worstFirst(rows, ({ more, complete, groupName, ...row }) => ({
    capabilities: complete ? more : "unknown",
    place: groupName,
    texts: [row.expires, row.name, row.uid, row.role, row.binding],
  }));
};
