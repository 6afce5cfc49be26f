// Joins the sections of several files. An entry of two files is a mistake at its second place. A row of access is not, and
// neither is a group that only holds other groups.
import { type Entry, isList, isMap, listOf, type MapSource, type Mistake, mapOf, type Source } from "./source.ts";

type Join = (first: Entry, second: Entry, path: readonly string[]) => Source;

export const joinSources = (sources: readonly MapSource[]): { source: MapSource; mistakes: Mistake[] } => {
  const mistakes: Mistake[] = [];

  const twice: Join = (first, second, path) => {
    const place = first.key ?? first.value.place;
    const where = place ? `${place.file}:${place.line}:${place.column}` : "another file";
    mistakes.push({ path: path.join("."), text: `is in ${where} already`, place: second.key });
    return first.value;
  };

  const joinMaps =
    (joinEntry: Join): Join =>
    (first, second, path) => {
      if (isEmpty(first.value)) return second.value;
      if (isEmpty(second.value)) return first.value;
      if (!isMap(first.value) || !isMap(second.value)) return twice(first, second, path);
      const entries = new Map(first.value.entries);
      for (const [name, entry] of second.value.entries) {
        const known = entries.get(name);
        entries.set(name, known ? { ...known, value: joinEntry(known, entry, [...path, name]) } : entry);
      }
      return mapOf(entries, first.value.place);
    };

  const joinGroup: Join = (first, second, path) =>
    holdsGroupsOnly(first.value) || holdsGroupsOnly(second.value)
      ? joinMaps((one, other, below) =>
          below.at(-1) === "groups" ? joinGroups(one, other, below) : twice(one, other, below),
        )(first, second, path)
      : twice(first, second, path);
  const joinGroups: Join = (first, second, path) => joinMaps(joinGroup)(first, second, path);

  const joinLists: Join = (first, second, path) =>
    isList(first.value) && isList(second.value)
      ? listOf([...first.value.items, ...second.value.items], first.value.place)
      : twice(first, second, path);

  const sections = new Map<string, Join>(
    Object.entries({
      groups: joinGroups,
      identities: joinMaps(twice),
      roles: joinMaps(twice),
      access: joinMaps(joinMaps(joinLists)),
      tests: joinLists,
      people: joinMaps(twice),
    }),
  );
  const joinSection: Join = (first, second, path) => (sections.get(path[0] as string) ?? twice)(first, second, path);

  const [first = mapOf(new Map()), ...others] = sources;
  const source = others.reduce<Source>(
    (joined, other) => joinMaps(joinSection)({ value: joined }, { value: other }, []),
    first,
  );
  return { source: source as MapSource, mistakes };
};

const isEmpty = (source: Source): boolean => "scalar" in source && source.scalar === null;

const holdsGroupsOnly = (group: Source): boolean =>
  isEmpty(group) || (isMap(group) && [...group.entries.keys()].every((name) => name === "groups"));
