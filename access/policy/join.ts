// Joins the sections of several files. An entry in two files is a mistake at its second place. A row of access is not, and neither is a
// group that only contains other groups.
import {
  type Entry,
  holdsNames,
  isList,
  isMap,
  listOf,
  type MapSource,
  type Mistake,
  mapOf,
  type Source,
} from "./source.ts";

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
