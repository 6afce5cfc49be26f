// A policy of the entries that a policy can say: groups, roles, identities, and who has which role where.
import { capabilityName, isBuiltInRole } from "../../../schema/index.ts";
import { ROOT } from "../../policy/index.ts";
import { RAW_RELATIONSHIPS } from "../../policy/shape.ts";
import { pathText } from "../../policy/source.ts";
import type { Export } from "../model.ts";
import { type Entry, Reference, type Value } from "../value.ts";

/** Where a policy declares an entry. `key` is a path of groups, `/` for the organization, or a key of the section. */
export interface Place {
  section: "groups" | "identities" | "roles" | "access";
  key: string;
  /** where a mistake of it is: `identities.release` */
  path: string;
}

/** The sections of a policy, as Maps: their keys are chosen by others. */
export type Node = string | number | boolean | readonly Node[] | ReadonlyMap<string, Node>;
export type Branch = Map<string, Node>;

export interface Draft {
  document: Branch;
  places: ReadonlyMap<Entry, Place>;
}

const GROUP_KEY = /^[a-z0-9 ._-]+$/;

/** The policy of all entries but `excluded`, and but those that need one of them. */
export const draftPolicy = ({ entries, top, title }: Export, excluded: ReadonlySet<Entry>): Draft => {
  const places = new Map<Entry, Place>();
  const sections = { groups: new Map(), identities: new Map(), roles: new Map(), access: new Map() } as Record<
    Place["section"],
    Branch
  >;
  const groupPaths = new Map<string, { below: Branch; path: readonly string[] }>([
    [ROOT, { below: sections.groups, path: ["groups"] }],
  ]);
  /** path of the group that holds an entry; undefined where the policy does not declare it */
  const holderOf = ({ parent }: Entry): string | undefined => {
    if (parent === top) return ROOT;
    const place = parent instanceof Reference ? places.get(parent.entry) : undefined;
    return place?.section === "groups" ? place.key : undefined;
  };

  const add: Partial<Record<Entry["kind"], (entry: Entry) => void>> = {
    group: (entry) => {
      const holder = holderOf(entry);
      if (holder === undefined || !hasOnly(entry, ["name", "description"])) return;
      const { below, path } = groupPaths.get(holder) as { below: Branch; path: readonly string[] };
      const name = String(entry.args.get("name"));
      const key = GROUP_KEY.test(name) && !below.has(name) ? name : entry.name;
      const own: Branch = new Map([...renamed(entry, key), ...described(entry)]);
      below.set(key, own);
      const groupPath = holder === ROOT ? key : `${holder}/${key}`;
      const inner: Branch = new Map();
      own.set("groups", inner);
      const at = [...path, key];
      groupPaths.set(groupPath, { below: inner, path: [...at, "groups"] });
      places.set(entry, { section: "groups", key: groupPath, path: pathText(at) });
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
      const identity = placeOf(entry.args.get("identity"));
      const given = entry.args.get("role");
      const role = typeof given === "string" ? builtInRole(given) : placeOf(given)?.key;
      if (holder === undefined || identity === undefined || role === undefined) return;
      const row = branchIn(sections.access, holder);
      const identities = [...((row.get(role) as string[] | undefined) ?? []), identity.key];
      row.set(role, identities);
      const path = pathText(["access", holder, role, identities.length - 1]);
      places.set(entry, { section: "access", key: holder, path });
    },
  };
  const placeOf = (value: Value | undefined): Place | undefined =>
    value instanceof Reference ? places.get(value.entry) : undefined;
  const addRecord = (entry: Entry, section: "identities" | "roles", holder: string, own: Branch): void => {
    const place: [string, Node][] = holder === ROOT ? [] : [["in", holder]];
    sections[section].set(entry.name, new Map([...place, ...renamed(entry, entry.name), ...described(entry), ...own]));
    places.set(entry, { section, key: entry.name, path: pathText([section, entry.name]) });
  };
  const newRoles = new Set<string>();
  // A role that this version does not know needs a line of its own.
  const builtInRole = (name: string): string | undefined => {
    if (name.length === 40 && /^[0-9a-f]+$/.test(name)) return undefined;
    if (isBuiltInRole(name) || newRoles.has(name)) return name;
    // A custom role may have taken the name: a row of the policy would mean that one.
    if (sections.roles.has(name)) return undefined;
    newRoles.add(name);
    sections.roles.set(name, new Map([["builtIn", true]]));
    return name;
  };

  const organization = entries.find(({ uid, kind }) => kind === "group" && uid === top);
  const isDeclared = organization !== undefined && !excluded.has(organization) && isOrganization(organization);
  if (isDeclared) places.set(organization, { section: "groups", key: ROOT, path: "organization" });
  for (const entry of entries) if (entry !== organization && !excluded.has(entry)) add[entry.kind]?.(entry);

  const head: Node = isDeclared
    ? new Map([["name", title], ...described(organization)] as [string, Node][])
    : new Map([["uid", top]]);
  const given = (["groups", "identities", "roles", "access"] as const).filter((name) => sections[name].size > 0);
  return {
    document: new Map([["organization", head], ...given.map((name) => [name, withoutEmpty(sections[name])] as const)]),
    places,
  };
};

/** A policy does not say the kind of an organization, and leaves it as it is. */
const isOrganization = (entry: Entry): boolean =>
  entry.parent === undefined &&
  hasOnly(entry, ["name", "description", ...(entry.isAdopted ? ["kind", "verified"] : [])]);

const hasOnly = ({ args }: Entry, names: readonly string[]): boolean =>
  [...args.keys()].every((name) => names.includes(name));

const renamed = ({ args }: Entry, key: string): [string, Node][] => {
  const name = String(args.get("name"));
  return name === key ? [] : [["name", name]];
};

const described = ({ args }: Entry): [string, Node][] => {
  const description = args.get("description");
  return description === undefined ? [] : [["description", description as string]];
};

const branchIn = (section: Branch, key: string): Branch => {
  const branch = (section.get(key) as Branch | undefined) ?? new Map<string, Node>();
  section.set(key, branch);
  return branch;
};

/** Without the `groups` of groups that have none. */
const withoutEmpty = (branch: ReadonlyMap<string, Node>): Branch =>
  new Map(
    [...branch].flatMap(([key, node]) => {
      if (!(node instanceof Map)) return [[key, node] as const];
      return key === "groups" && node.size === 0 ? [] : [[key, withoutEmpty(node)] as const];
    }),
  );
