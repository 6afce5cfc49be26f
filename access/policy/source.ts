// The content of a policy with its places: a tree of maps, lists and scalars in which each value and each key has its place. Aliases share
// the tree of their anchor, so that a few bytes cannot become gigabytes; their nodes are still counted.
import { pathText } from "../../schema/input.ts";

export { pathText };

export interface Place {
  file: string;
  line: number;
  column: number;
}

/** A mistake in a policy, and its correction. */
export interface Mistake {
  /** `identities.release.in`; empty: the whole policy */
  path: string;
  text: string;
  /** absent if the policy is an object of a program */
  place?: Place;
}

export interface Entry {
  key?: Place;
  value: Source;
}

interface Node {
  place?: Place;
  /** number of nodes in it, including itself and the targets of its aliases */
  size: number;
}

export type MapSource = Node & { entries: Map<string, Entry> };
type ListSource = Node & { items: Source[] };
type ScalarSource = Node & {
  scalar: unknown;
  /** as written in the file: 1.10 is the number 1.1 */
  written?: string;
};
export type Source = MapSource | ListSource | ScalarSource;

/** Maximum nodes of a policy, after aliases. */
export const NODES_MAX = 100_000;
/** Maximum nesting: beyond it a walk would exhaust the stack. */
export const DEPTH_MAX = 400;

export const isMap = (source: Source | undefined): source is MapSource => source !== undefined && "entries" in source;
export const isList = (source: Source | undefined): source is ListSource => source !== undefined && "items" in source;

export const mapOf = (entries: Map<string, Entry>, place?: Place): MapSource => ({
  entries,
  place,
  size: [...entries.values()].reduce((sum, { value }) => sum + 1 + value.size, 1),
});

export const listOf = (items: Source[], place?: Place): ListSource => ({
  items,
  place,
  size: items.reduce((sum, { size }) => sum + size, 1),
});

export const scalarOf = (scalar: unknown, place?: Place, written?: string): ScalarSource => ({
  scalar,
  place,
  size: 1,
  written,
});

/** The plain value. */
export const plainValue = (source: Source): unknown => {
  if (isMap(source)) return Object.fromEntries([...source.entries].map(([key, { value }]) => [key, plainValue(value)]));
  return isList(source) ? source.items.map(plainValue) : source.scalar;
};

/**
 * Whether the keys of the map at this path are names that people choose, which may include `__proto__`. Elsewhere it is a mistake:
 * JavaScript, and the SDK of the engine, treat such a key of a record as the prototype.
 */
export const holdsNames = (path: readonly PropertyKey[]): boolean => {
  const [section, , below] = path;
  if (section === "groups") return path.length % 2 === 1 && path.every((step, i) => i % 2 === 1 || step === "groups");
  if (section === "identities" || section === "roles") return path.length === 1;
  if (section === "access") return path.length <= 2;
  return section === "people" && (path.length === 1 || (path.length === 3 && below === "externalGroups"));
};

export const NO_NAME = "__proto__ cannot be a name here";

const entryAt = (source: Source | undefined, step: PropertyKey): Entry | undefined => {
  if (isMap(source)) return source.entries.get(String(step));
  const item = isList(source) ? source.items[Number(step)] : undefined;
  return item && { value: item };
};

/** The scalar at a path as written. */
export const scalarTextAt = (source: Source, path: readonly PropertyKey[]): string => {
  const found = path.reduce<Source | undefined>((held, step) => entryAt(held, step)?.value, source);
  return found && "scalar" in found ? (found.written ?? String(found.scalar)) : "";
};

/** The place of the value at a path; for a map, of its key; for a missing value, of its holder. */
export const findPlace = (source: Source, path: readonly PropertyKey[], atKey = false): Place | undefined => {
  let place = source.place;
  let current: Source | undefined = source;
  for (const [i, step] of path.entries()) {
    const { key, value }: Partial<Entry> = entryAt(current, step) ?? {};
    const prefersKey = isMap(value) || (atKey && i === path.length - 1);
    place = (prefersKey ? key : undefined) ?? value?.place ?? key ?? place;
    current = value;
  }
  return place;
};

// The tree of an object of a program, which has no places.

export const sourceFromObject = (value: unknown): { source?: Source; mistakes: Mistake[] } => {
  const mistakes: Mistake[] = [];
  const known = new Map<object, Source>();
  const open = new Set<object>();

  const read = (held: unknown, path: readonly PropertyKey[]): Source => {
    if (typeof held !== "object" || held === null) return scalarOf(held);
    const before = known.get(held);
    if (before) return before;
    if (open.has(held) || path.length > DEPTH_MAX) {
      const text = open.has(held) ? "contains itself" : `is nested more than ${DEPTH_MAX} levels deep`;
      mistakes.push({ path: pathText(path), text });
      return scalarOf(null);
    }
    open.add(held);
    if (Object.hasOwn(held, "__proto__") && !holdsNames(path)) mistakes.push({ path: pathText(path), text: NO_NAME });
    const source = Array.isArray(held)
      ? listOf(held.map((item, i) => read(item, [...path, i])))
      : mapOf(
          new Map(
            Object.entries(held)
              .filter(([, item]) => item !== undefined)
              .map(([key, item]) => [key, { value: read(item, [...path, key]) }]),
          ),
        );
    open.delete(held);
    known.set(held, source);
    return source;
  };

  const source = read(value, []);
  if (source.size <= NODES_MAX) return { source, mistakes };
  const text = `has more than ${NODES_MAX.toLocaleString("en")} nodes; divide the policy`;
  return { mistakes: [{ path: "", text }] };
};

// Joins the sections of several files. An entry in two files is a mistake at its second place. A row of access is not, and neither is a
// group that only contains other groups.

type Path = readonly string[];

export const joinSources = (sources: readonly MapSource[]): { source: MapSource; mistakes: Mistake[] } => {
  const mistakes: Mistake[] = [];

  const join = (first: Entry, second: Entry, path: Path): Source => {
    const [one, other] = [first.value, second.value];
    if (isJoined(path) || (isGroup(path) && (holdsGroupsOnly(one) || holdsGroupsOnly(other)))) {
      if (isEmpty(one)) return other;
      if (isEmpty(other)) return one;
      if (isMap(one) && isMap(other)) {
        const entries = new Map(one.entries);
        for (const [name, entry] of other.entries) {
          const known = entries.get(name);
          entries.set(name, known ? { ...known, value: join(known, entry, [...path, name]) } : entry);
        }
        return mapOf(entries, one.place);
      }
    }
    if (isRow(path) && isList(one) && isList(other)) return listOf([...one.items, ...other.items], one.place);
    const place = first.key ?? one.place;
    const where = place ? `${place.file}:${place.line}:${place.column}` : "another file";
    mistakes.push({ path: path.join("."), text: `is in ${where} already`, place: second.key });
    return one;
  };

  const [first = mapOf(new Map()), ...others] = sources;
  const source = others.reduce<Source>((joined, value) => join({ value: joined }, { value }, []), first);
  return { source: source as MapSource, mistakes };
};

/** The root and the maps of names, except those inside an entry. */
const isJoined = (path: Path) => path.length === 0 || (holdsNames(path) && (path[0] !== "people" || path.length === 1));

const isGroup = ([section, ...below]: Path) => section === "groups" && below.length % 2 === 1;

const isRow = ([section, ...below]: Path) =>
  (section === "tests" && below.length === 0) || (section === "access" && below.length === 2);

const isEmpty = (source: Source) => "scalar" in source && source.scalar === null;

const holdsGroupsOnly = (group: Source) =>
  isEmpty(group) || (isMap(group) && [...group.entries.keys()].every((name) => name === "groups"));
