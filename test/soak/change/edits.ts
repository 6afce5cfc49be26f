// What people change in an organization by hand: between two updates, and between a review and its apply. There an edit that matters is to a record
// that the change or its stack has; any other is to records of which they say nothing.
import type { Change } from "../../../access/change/change.ts";
import { isObject, type Json } from "../../../schema/index.ts";
import { IAM } from "../../harness/small-engine/owner.ts";
import { someCapabilities, someClaims } from "../program/some.ts";
import { ofWrites } from "./compare.ts";
import { type Case, type Group, isOf, READER } from "./group.ts";

type Edit = [method: string, path: string, body?: Json];

/** A record of one of the kinds, by its plural. Undefined: there is none. */
type Find = (plural: string, edit: (uid: string) => Edit) => Edit | undefined;

interface World extends Pick<Case, "random" | "made"> {
  find: Find;
  /** of more records, to delete them */
  findAny: Find;
}

const patch = (plural: string, uid: string, body: Json): Edit => [
  "PATCH",
  `${plural}/${uid}?updateMask=${Object.keys(body).join()}`,
  body,
];

const DELETED = ["roleBindings", "roleBindings", "identities", "externalGroupRoleMappings", "groupInvites"];

const EDITS: readonly ((world: World) => Edit | undefined)[] = [
  ...DELETED.map(
    (plural) =>
      ({ findAny }: World) =>
        findAny(plural, (uid) => ["DELETE", `${plural}/${uid}`]),
  ),
  ({ find, random }) => find("identities", (uid) => patch("identities", uid, { claimMatch: someClaims(random) })),
  ({ find, random }) => find("roles", (uid) => patch("roles", uid, { capabilities: someCapabilities(random) })),
  ({ find, random, made }) =>
    find("identities", (identityUid) => {
      const body = { identityUid, roleUid: random.pick([...made.roles, made.viewer]) };
      return ["POST", `roleBindings/${random.pick(made.groups)}`, body];
    }),
  ({ findAny, random, made }) =>
    findAny("identityProviders", (uid) => patch("identityProviders", uid, { defaultRole: random.pick(made.roles) })),
];

/** Whether there was something to edit, and the API took it. */
const editOnce = async ({ owner }: Pick<Group, "owner">, world: World): Promise<boolean> => {
  const edit = world.random.pick(EDITS)(world);
  if (edit === undefined) return false;
  const [method, path, body] = edit;
  // What the API refuses is no edit.
  const ignoreRefusal = (error: Error): void => {
    if (!/ answered 4/.test(error.message)) throw error;
  };
  return (await owner.call(method, `${IAM}/${path}`, body).catch(ignoreRefusal)) !== undefined;
};

const findIn =
  ({ place }: Pick<Group, "place">, { random }: Case, isOne: (uid: string) => boolean): Find =>
  (plural, edit) => {
    const table = plural.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const isFixed = ({ name, identity_uid }: { name: string; identity_uid?: unknown }): boolean =>
      ["owner", READER].includes(name) || identity_uid === place.server.identity;
    const found = place.rows(table).filter((row) => isOne(row.uid) && !isFixed(row));
    return found.length === 0 ? undefined : edit(random.pick(found).uid);
  };

/** Of any records of the organization, between two updates. */
export const editByHand = async (group: Pick<Group, "place" | "owner">, one: Case): Promise<void> => {
  const { random, made } = one;
  const find = findIn(group, one, (uid) => uid.startsWith(made.organization));
  // Programs name the identities that were made by hand.
  const findAny = findIn(group, one, (uid) => uid.startsWith(made.organization) && !made.identities.includes(uid));
  for (let left = random.below(4); left > 0; left -= 1) await editOnce(group, { random, made, find, findAny });
};

/** Of records that the change has, or to delete of these and of those that the stack has. Returns whether there was one. */
export const editThatMatters = async (group: Group, one: Case, change: Change): Promise<boolean> => {
  const isOfWrite = ofWrites(change);
  const writes = change.writes.filter((write) => isOfWrite(one, write));
  const rows = change.rows.filter(({ identity }) => typeof identity === "string" && isOf(one, identity));
  const written = new Set(uidsIn([writes, rows]).filter((uid) => isOf(one, uid)));
  const managed = new Set(group.program.state().resources.flatMap(({ id }) => (id && isOf(one, id) ? [id] : [])));
  if (written.size === 0) return false;
  const find = findIn(group, one, (uid) => written.has(uid));
  const findAny = findIn(group, one, (uid) => written.has(uid) || managed.has(uid));
  for (let left = 10; left > 0; left -= 1)
    if (await editOnce(group, { random: one.random, made: one.made, find, findAny })) return true;
  return false;
};

const uidsIn = (value: unknown): string[] => {
  if (typeof value === "string") return /^[0-9a-f]{40}(\/[0-9a-f]{16})*$/.test(value) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap(uidsIn);
  return isObject(value) ? Object.values(value).flatMap(uidsIn) : [];
};

/** A team of its own, which has a member: nothing of it is in the change, or below what the change has. */
export const editThatDoesNotMatter = async ({ owner }: Group, { made, random, prefix }: Case): Promise<void> => {
  const { create } = owner;
  const fresh = (): string => `${prefix}by-hand-${random.hex(6)}`;
  const group = await create(`groups/${made.organization}`, { name: fresh() });
  const identity = await create(`identities/${group}`, { name: fresh(), claimMatch: someClaims(random) });
  const role = await create(`roles/${made.organization}`, { name: fresh(), capabilities: someCapabilities(random) });
  const binding = await create(`roleBindings/${group}`, { identityUid: identity, roleUid: role });
  if (random.below(2) === 0) await owner.call("DELETE", `${IAM}/roleBindings/${binding}`);
  if (random.below(2) === 0)
    await owner.call("PATCH", `${IAM}/groups/${group}?updateMask=description`, { description: random.hex(4) });
};
