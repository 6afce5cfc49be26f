// What people change by hand between a review and its apply. An edit that matters is to a record that the change or its stack has; any other is
// to records of which they say nothing.

import type { Change } from "../../../access/change/change.ts";
import { isObject, type Json } from "../../../schema/index.ts";
import { IAM } from "../../harness/small-engine/owner.ts";
import { ofWrites } from "../change/compare.ts";
import { ignoreRefusal } from "../change/edits.ts";
import { type Case, type Group, isOf } from "../change/group.ts";
import { someCapabilities, someClaims } from "../program/some.ts";

type Edit = [method: string, path: string, body?: Json];

/** Undefined: there is no such record. */
type Find = (plural: string, edit: (uid: string) => Edit) => Edit | undefined;

interface World extends Pick<Case, "random" | "made"> {
  /** of the records that the change has */
  find: Find;
  /** of these, and of those that the stack has */
  findAny: Find;
}

/** Returns whether there was one. */
export const editThatMatters = async (group: Group, one: Case, change: Change): Promise<boolean> => {
  const isOfWrite = ofWrites(change);
  const writes = change.writes.filter((write) => isOfWrite(one, write));
  const rows = change.rows.filter(({ identity }) => typeof identity === "string" && isOf(one, identity));
  const written = [...new Set(uidsIn([writes, rows]))].filter((uid) => isOf(one, uid));
  const managed = group.program.state().resources.flatMap(({ id }) => (id && isOf(one, id) ? [id] : []));
  if (written.length === 0) return false;
  const { random, made } = one;
  const findIn =
    (uids: readonly string[]): Find =>
    (plural, edit) => {
      const table = plural.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      const found = group.place.rows(table).filter(({ uid }) => uids.includes(uid));
      return found.length === 0 ? undefined : edit(random.pick(found).uid);
    };
  const world: World = { random, made, find: findIn(written), findAny: findIn([...written, ...managed]) };
  for (let left = 10; left > 0; left -= 1) {
    const edit = random.pick(MATTERS)(world);
    if (edit === undefined) continue;
    const [method, path, body] = edit;
    // What the API refuses is no edit.
    if (await group.owner.call(method, `${IAM}/${path}`, body).catch(ignoreRefusal)) return true;
  }
  return false;
};

const uidsIn = (value: unknown): string[] => {
  if (typeof value === "string") return /^[0-9a-f]{40}(\/[0-9a-f]{16})*$/.test(value) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap(uidsIn);
  return isObject(value) ? Object.values(value).flatMap(uidsIn) : [];
};

/** By the plural of a kind: of a record that the change has, or that it or the stack has. */
const MATTERS: readonly ((world: World) => Edit | undefined)[] = [
  ({ find, random }) => find("identities", (uid) => patch("identities", uid, { claimMatch: someClaims(random) })),
  ({ find, random }) => find("roles", (uid) => patch("roles", uid, { capabilities: someCapabilities(random) })),
  ({ find, random, made }) =>
    find("identities", (identityUid) => {
      const body = { identityUid, roleUid: random.pick([...made.roles, made.viewer]) };
      return ["POST", `roleBindings/${random.pick(made.groups)}`, body];
    }),
  ({ findAny }) => findAny("roleBindings", (uid) => ["DELETE", `roleBindings/${uid}`]),
  ({ findAny }) => findAny("identities", (uid) => ["DELETE", `identities/${uid}`]),
  ({ findAny, random, made }) =>
    findAny("identityProviders", (uid) => patch("identityProviders", uid, { defaultRole: random.pick(made.roles) })),
];

const patch = (plural: string, uid: string, body: Json): Edit => [
  "PATCH",
  `${plural}/${uid}?updateMask=${Object.keys(body).join()}`,
  body,
];

/** A team of its own, which has a member: nothing of it is in the change, or below what the change has. */
export const editThatDoesNotMatter = async ({ owner }: Group, { made, random, prefix }: Case): Promise<void> => {
  const create = async (path: string, body: Json): Promise<string> =>
    (await owner.call("POST", `${IAM}/${path}`, body)).uid as string;
  const fresh = (): string => `${prefix}by-hand-${random.hex(6)}`;
  const group = await create(`groups/${made.organization}`, { name: fresh() });
  const identity = await create(`identities/${group}`, { name: fresh(), claimMatch: someClaims(random) });
  const role = await create(`roles/${made.organization}`, { name: fresh(), capabilities: someCapabilities(random) });
  const binding = await create(`roleBindings/${group}`, { identityUid: identity, roleUid: role });
  if (random.below(2) === 0) await owner.call("DELETE", `${IAM}/roleBindings/${binding}`);
  if (random.below(2) === 0)
    await owner.call("PATCH", `${IAM}/groups/${group}?updateMask=description`, { description: random.hex(4) });
};
