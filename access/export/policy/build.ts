// A policy of the entries that a policy can express: groups, roles, identities, and who has which role where.
import { capabilityName, getOrInsert, isBuiltInRole, isUidp } from "../../../schema/index.ts";
import { ROOT } from "../../policy/policy.ts";
import { RAW_RELATIONSHIPS } from "../../policy/shape.ts";
import { pathText } from "../../policy/source.ts";
import type { Export } from "../model.ts";
import { type Entry, Reference, type Value } from "../value.ts";

/** In the order of a file. */
export const SECTIONS = ["groups", "identities", "roles", "access"] as const;

/** Where a policy declares an entry. `key` is a path of groups, `/` for the organization, or a key of the section. */
export interface Place {
  section: (typeof SECTIONS)[number];
  key: string;
  /** the place of a mistake in it: `identities.release` */
  path: string;
}

/** The sections of a policy, as Maps: others choose their keys. */
export type Node = string | number | boolean | readonly Node[] | ReadonlyMap<string, Node>;
export type Branch = Map<string, Node>;

export interface Draft {
  document: Branch;
  places: ReadonlyMap<Entry, Place>;
}

const GROUP_KEY = /^[a-z0-9 ._-]+$/;

/** A policy to which the draft is added. */
export interface Base {
  /** of the entries that it declares */
  places: ReadonlyMap<Entry, Place>;
  /** `key` of a group is its path */
  has(section: "groups" | "identities" | "roles", key: string): boolean;
  /** number of identities in a row */
  identitiesIn(group: string, role: string): number;
}

/** The policy of all entries except `excluded` ones and the entries that need one of them. With `base`, only the entries that it lacks. */
export const draftPolicy = (
  { entries, top, title }: Export,
  excluded: ReadonlySet<Entry>,
  base: Base | undefined = undefined,
): Draft => {
  const places = new Map<Entry, Place>(base?.places);
  const sections: Branch = new Map(SECTIONS.map((name) => [name, new Map()]));
  /** by path of the group */
  const opened = new Map<string, Branch>([[ROOT, sections]]);
  const pathOf = (holder: string, key: string) => (holder === ROOT ? key : `${holder}/${key}`);
  /** The groups below a group. A group of the base gets a place here with its first new group. */
  const groupsIn = (path: string): Branch => {
    const known = opened.get(path);
    if (known) return branchIn(known, "groups");
    const at = path.lastIndexOf("/");
    const own: Branch = new Map();
    groupsIn(at < 0 ? ROOT : path.slice(0, at)).set(path.slice(at + 1), own);
    opened.set(path, own);
    return branchIn(own, "groups");
  };
  /** path of the group that holds an entry; undefined if the policy does not declare it */
  const holderOf = ({ parent }: Entry) => {
    if (parent === top) return ROOT;
    const place = parent instanceof Reference ? places.get(parent.entry) : undefined;
    return place?.section === "groups" ? place.key : undefined;
  };

  const add: Partial<Record<Entry["kind"], (entry: Entry) => void>> = {
    group: (entry) => {
      const holder = holderOf(entry);
      if (holder === undefined || !hasOnly(entry, ["name", "description"])) return;
      const name = String(entry.args.get("name"));
      const isFree = (key: string) =>
        !opened.has(pathOf(holder, key)) && base?.has("groups", pathOf(holder, key)) !== true;
      const key = GROUP_KEY.test(name) && isFree(name) ? name : freeKey(entry, isFree);
      const path = pathOf(holder, key);
      const own: Branch = new Map([...renamed(entry, key), ...described(entry)]);
      groupsIn(holder).set(key, own);
      opened.set(path, own);
      places.set(entry, {
        section: "groups",
        key: path,
        path: pathText(path.split("/").flatMap((one) => ["groups", one])),
      });
    },
    role: (entry) => {
      const holder = holderOf(entry);
      if (holder === undefined || !hasOnly(entry, ["name", "description", "capabilities"])) return;
      const can = (entry.args.get("capabilities") as string[]).map(capabilityName).sort();
      addRecord(entry, "roles", holder, new Map([["can", can]]));
    },
    identity: (entry) => {
      const holder = holderOf(entry);
      if (holder === undefined || !hasOnly(entry, ["name", "description", ...RAW_RELATIONSHIPS])) return;
      const { preset, args } = entry;
      const [relationship] = RAW_RELATIONSHIPS.filter((name) => args.has(name));
      if (relationship === undefined) return;
      const own: [string, Node] = preset
        ? [preset.name, new Map(Object.entries(preset.args))]
        : [relationship, args.get(relationship) as Node];
      addRecord(entry, "identities", holder, new Map([own]));
    },
    roleBinding: (entry) => {
      const holder = holderOf(entry);
      const identity = placeOfReference(entry.args.get("identity"));
      const given = entry.args.get("role");
      const role = typeof given === "string" ? builtInRole(given) : placeOfReference(given)?.key;
      if (holder === undefined || identity === undefined || role === undefined) return;
      const row = branchIn(branchIn(sections, "access"), holder);
      const identities = [...((row.get(role) as string[] | undefined) ?? []), identity.key];
      row.set(role, identities);
      const before = base?.identitiesIn(holder, role) ?? 0;
      const path = pathText(["access", holder, role, before + identities.length - 1]);
      places.set(entry, { section: "access", key: holder, path });
    },
  };
  const placeOfReference = (value: Value | undefined) =>
    value instanceof Reference ? places.get(value.entry) : undefined;
  const addRecord = (entry: Entry, section: "identities" | "roles", holder: string, own: Branch) => {
    const place: [string, Node][] = holder === ROOT ? [] : [["in", holder]];
    // A key that is a built-in role would be a mistake: each role binding of that role would mean this one.
    const isTaken = (one: string) => section === "roles" && (isBuiltInRole(one) || builtInNames.has(one));
    const known = branchIn(sections, section);
    const key = freeKey(entry, (one) => !isTaken(one) && !known.has(one) && base?.has(section, one) !== true);
    known.set(key, new Map([...place, ...renamed(entry, key), ...described(entry), ...own]));
    places.set(entry, { section, key, path: pathText([section, key]) });
  };
  const names = new Set(entries.map(({ kind, name }) => `${kind} ${name}`));
  const builtInNames = new Set(entries.map(({ args }) => args.get("role")));
  /** The name of the entry; with its uid if the policy has that key. */
  const freeKey = ({ kind, name, uid }: Entry, isFree: (key: string) => boolean) => {
    if (isFree(name)) return name;
    const own = `${name}-${uid.split("/").at(-1)}`;
    for (let number = 1; ; number += 1) {
      const key = number === 1 ? own : `${own}-${number}`;
      if (isFree(key) && !names.has(`${kind} ${key}`)) return key;
    }
  };
  // If a custom role of the policy has the name, a row would mean that role.
  const builtInRole = (name: string) => (isUidp(name) || base?.has("roles", name) ? undefined : name);

  const organization = entries.find(({ uid, kind }) => kind === "group" && uid === top);
  const isDeclared =
    base === undefined && organization !== undefined && !excluded.has(organization) && isOrganization(organization);
  if (isDeclared) places.set(organization, { section: "groups", key: ROOT, path: "organization" });
  for (const entry of entries)
    if (entry !== organization && !places.has(entry) && !excluded.has(entry)) add[entry.kind]?.(entry);

  const head: Node = isDeclared
    ? new Map([["name", title], ...described(organization)] as [string, Node][])
    : new Map([["uid", top]]);
  return {
    document: new Map([
      ...(base === undefined ? [["organization", head] as const] : []),
      ...[...sections].filter(([, own]) => (own as Branch).size > 0),
    ]),
    places,
  };
};

/** A policy does not set the kind of an organization, and does not change it. */
const isOrganization = (entry: Entry) =>
  entry.parent === undefined &&
  hasOnly(entry, ["name", "description", ...(entry.isAdopted ? ["kind", "verified"] : ["allowDuplicate"])]);

const hasOnly = ({ args }: Entry, names: readonly string[]) => [...args.keys()].every((name) => names.includes(name));

const renamed = ({ args }: Entry, key: string): [string, Node][] => {
  const name = String(args.get("name"));
  return name === key ? [] : [["name", name]];
};

const described = ({ args }: Entry): [string, Node][] => {
  const description = args.get("description");
  return description === undefined ? [] : [["description", description as string]];
};

export const branchIn = (branch: Branch, key: string): Branch => getOrInsert(branch, key, () => new Map()) as Branch;
