// Adds groups, identities, roles and bindings to the files of a policy. Existing entries keep their meaning: the result is read again
// before anything is written.
import { getOrInsert, isObject } from "../../../schema/index.ts";
import { mistakeText, type ParsedPolicy, parsePolicy } from "../parse.ts";
import { type Policy, type PolicyBinding, ROOT } from "../policy.ts";
import { plainValue } from "../source.ts";
import { readSource } from "../text-file.ts";
import {
  type Added,
  type AddedMap,
  type ChangedFile,
  type EditPath,
  PolicyEditError,
  withEntries,
  withoutEntries,
} from "./document.ts";
import { checkResult, entryText, findIn, homesIn, type OpenPolicy, type PolicyEdit, type Section } from "./open.ts";

/**
 * The edit for an addition, sections of a policy with its new entries; nothing is written yet. An existing group contains only new groups.
 * Throws a PolicyEditError.
 */
export const additionOf = (opened: OpenPolicy, addition: AddedMap): PolicyEdit => {
  const { texts } = opened;
  const { policy, mistakes } = withAddition(opened, addition);
  const [mistake] = mistakes;
  if (policy === undefined)
    throw new PolicyEditError(`after that, ${mistake ? mistakeText(mistake) : "it is not a policy"}`);
  const entries = entriesIn(addition, opened.policy);
  const parts = partsByFile(opened, entries);
  const files = [...parts].map(([real, added]): ChangedFile => {
    const { name, text } = texts.get(real) as { name: string; text: string };
    return { name, real, before: text, after: withEntries(text, name, added) };
  });
  checkResult(opened, files, policy);
  return { entries: entries.flatMap(({ shown }) => shown), files };
};

/** The policy with the addition, and its mistakes. */
export const withAddition = (opened: OpenPolicy, addition: AddedMap): ParsedPolicy => {
  const { source } = readSource(opened.file, findIn(opened));
  return parsePolicy(merged(source && plainValue(source), addition));
};

/** For plain values: a missing value, or an empty one in YAML, becomes the added one. */
const merged = (value: unknown, added: Added): unknown => {
  if (Array.isArray(added)) return [...(Array.isArray(value) ? value : []), ...added];
  if (!(added instanceof Map)) return added;
  const held = isObject(value) ? value : {};
  const kept = Object.entries(held).map(([key, one]) => [key, added.has(key) ? merged(one, added.get(key)) : one]);
  const fresh = [...added].filter(([key]) => !Object.hasOwn(held, key));
  return Object.fromEntries([...kept, ...fresh.map(([key, one]) => [key, merged(undefined, one)])]);
};

interface NewEntry {
  section: Section;
  /** of its group; for a group, its own */
  path: string;
  role?: string;
  /** its place in the file, and its value */
  keys: readonly string[];
  value: Added;
  /** `identities.release`; for a group, including its contents */
  shown: readonly string[];
}

const entriesIn = (addition: AddedMap, policy: Policy): NewEntry[] => {
  const sectionOf = (name: Section): [string, Added][] => [...((addition.get(name) as AddedMap | undefined) ?? [])];
  const records = (["identities", "roles"] as const).flatMap((section) =>
    sectionOf(section).map(([key, value]): NewEntry => {
      const path = String((value as AddedMap).get("in") ?? ROOT);
      return { section, path, keys: [section, key], value, shown: [entryText([section, key])] };
    }),
  );
  const rows = sectionOf("access").flatMap(([path, roles]) =>
    [...(roles as AddedMap)].flatMap(([role, identities]): NewEntry[] =>
      (identities as string[]).map((identity) => {
        const shown = [entryText(["access", path, role, identity])];
        return { section: "access", path, role, keys: ["access", path, role], value: [identity], shown };
      }),
    ),
  );
  return [...groupsIn(sectionOf("groups"), policy, ["groups"], ""), ...records, ...rows];
};

const groupsIn = (groups: [string, Added][], policy: Policy, above: readonly string[], parent: string): NewEntry[] =>
  groups.flatMap(([key, value]) => {
    const [path, keys] = [parent + key, [...above, key]];
    const below = groupsOf(value);
    if (policy.groups.has(path)) return groupsIn(below, policy, [...keys, "groups"], `${path}/`);
    const shown = [path, ...pathsBelow(below, path)].map((one) => entryText(["groups", one]));
    return [{ section: "groups", path, keys, value, shown }];
  });

const pathsBelow = (groups: readonly [string, Added][], parent: string): string[] =>
  groups.flatMap(([key, value]) => {
    const path = `${parent}/${key}`;
    return [path, ...pathsBelow(groupsOf(value), path)];
  });

const groupsOf = (group: Added): [string, Added][] => [...(((group as AddedMap).get("groups") as AddedMap) ?? [])];

const partsByFile = (opened: OpenPolicy, entries: readonly NewEntry[]): Map<string, AddedMap> => {
  const homeOf = homesIn(opened);
  const parts = new Map<string, Map<string, Added>>();
  for (const { section, path, role, keys, value } of entries) {
    const real = homeOf(section, path, role);
    place(
      getOrInsert(parts, real, () => new Map()),
      keys,
      value,
    );
  }
  return parts;
};

const place = (part: Map<string, Added>, [key = "", ...below]: readonly string[], value: Added): void => {
  const held = part.get(key);
  if (below.length === 0) part.set(key, Array.isArray(held) ? [...held, ...(value as Added[])] : value);
  else {
    const inner = held instanceof Map ? held : new Map<string, Added>();
    part.set(key, inner);
    place(inner, below, value);
  }
};

// Removes identities, roles and bindings from the files of a policy. The remaining entries keep their meaning: the result is read again
// before anything is written. If an entry cannot be removed separately, this is an error, and the files do not change.

export interface Removal {
  bindings?: readonly Pick<PolicyBinding, "group" | "role" | "identity">[];
  /** keys of identities, which are removed with their bindings */
  identities?: readonly string[];
  /** keys of custom roles, which nothing in the policy may give */
  roles?: readonly string[];
}

/** The edit for this removal; nothing is written yet. Throws a PolicyEditError. */
export const removalOf = (opened: OpenPolicy, removal: Removal): PolicyEdit => {
  const { policy, texts } = opened;
  const gone = pathsOf(policy, removal);
  const found = new Set<string>();
  const files: ChangedFile[] = [];
  for (const [real, { name, text }] of texts) {
    const cut = withoutEntries(text, name, (path) => gone.has(JSON.stringify(path)));
    for (const path of cut.found) found.add(path);
    if (cut.text !== text) files.push({ name, real, before: text, after: cut.text });
  }
  const missing = [...gone].find((path) => !found.has(path));
  if (missing !== undefined)
    throw new PolicyEditError(`${opened.file}: ${shown(missing)} comes from a merge key (<<); write it out`);
  checkResult(opened, files, without(policy, gone));
  return { entries: [...gone].map(shown), files: [...files, ...withoutUids(opened, gone)] };
};

/** The file of uids without the removed records. JSON is YAML. */
const withoutUids = ({ adopted }: OpenPolicy, gone: ReadonlySet<string>): ChangedFile[] => {
  if (adopted === undefined) return [];
  const { name, real, text } = adopted;
  const { text: after } = withoutEntries(text, name, (path) => gone.has(JSON.stringify(path)));
  return after === text ? [] : [{ name, real, before: text, after }];
};

const bindingPath = ({ group, role, identity }: Pick<PolicyBinding, "group" | "role" | "identity">) => [
  "access",
  group,
  role,
  identity,
];

/** The removed entries of the policy, each path as JSON. */
const pathsOf = (policy: Policy, { bindings = [], identities = [], roles = [] }: Removal) => {
  const asked = new Set(bindings.map((one) => JSON.stringify(bindingPath(one))));
  const ofIdentities = new Set(identities);
  const paths: EditPath[] = [
    ...policy.bindings.filter(({ identity }) => ofIdentities.has(identity)).map(bindingPath),
    ...policy.bindings.map(bindingPath).filter((path) => asked.has(JSON.stringify(path))),
    ...identities.filter((key) => policy.identities.has(key)).map((key) => ["identities", key]),
    ...roles.filter((key) => policy.roles.has(key)).map((key) => ["roles", key]),
  ];
  return new Set(paths.map((path) => JSON.stringify(path)));
};

const shown = (path: string) => entryText(JSON.parse(path) as string[]);

const without = (policy: Policy, gone: ReadonlySet<string>): Policy => {
  const stays = (path: EditPath) => !gone.has(JSON.stringify(path));
  return {
    ...policy,
    identities: new Map([...policy.identities].filter(([key]) => stays(["identities", key]))),
    roles: new Map([...policy.roles].filter(([key]) => stays(["roles", key]))),
    bindings: policy.bindings.filter((binding) => stays(bindingPath(binding))),
  };
};
