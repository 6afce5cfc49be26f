// Adds groups, identities, roles and bindings to the files of a policy. What was there says the same as before: the result is read again
// before anything is written.
import { isObject } from "../../../schema/index.ts";
import { mistakeText, type ParsedPolicy, parsePolicy } from "../parse.ts";
import { type Policy, ROOT } from "../policy.ts";
import { readSource } from "../read-file.ts";
import { plainValue } from "../source.ts";
import { type Added, type AddedMap, PolicyEditError, withEntries } from "./document.ts";
import { homesIn, type Section } from "./home.ts";
import { checkResult, entryText, findIn, type OpenPolicy, type PolicyEdit } from "./open.ts";
import type { ChangedFile } from "./write.ts";

/** Sections of a policy with what is new in them. A group that the policy has holds new groups alone. */
export type Addition = AddedMap;

/** The edit that adds this; nothing is written yet. Throws a PolicyEditError. */
export const additionOf = (opened: OpenPolicy, addition: Addition): PolicyEdit => {
  const { texts } = opened;
  const { policy, mistakes } = withAddition(opened, addition);
  const [mistake] = mistakes;
  if (policy === undefined)
    throw new PolicyEditError(`after that, ${mistake ? mistakeText(mistake) : "it is no policy"}`);
  const entries = entriesIn(addition, opened.policy);
  const parts = partsByFile(opened, entries);
  const files = [...parts].map(([real, added]): ChangedFile => {
    const { name, text } = texts.get(real) as { name: string; text: string };
    return { name, real, before: text, after: withEntries(text, name, added) };
  });
  checkResult(opened, files, policy);
  return { entries: entries.flatMap(({ shown }) => shown), files };
};

/** What the policy says with the addition, and its mistakes then. */
export const withAddition = (opened: OpenPolicy, addition: Addition): ParsedPolicy => {
  const { source } = readSource(opened.file, findIn(opened));
  return parsePolicy(merged(source && plainValue(source), addition));
};

/** Plain values: one that is not there yet, or is empty in YAML, is the added one. */
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
  /** of its group; of a group, its own */
  path: string;
  role?: string;
  /** where it is in the file, and what is there */
  keys: readonly string[];
  value: Added;
  /** `identities.release`; of a group, also those that come with it */
  shown: readonly string[];
}

const entriesIn = (addition: Addition, policy: Policy): NewEntry[] => {
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
    const part = parts.get(real) ?? new Map<string, Added>();
    parts.set(real, part);
    place(part, keys, value);
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
