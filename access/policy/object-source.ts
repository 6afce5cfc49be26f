// The same tree from an object of a program, which has no places.
import {
  DEPTH_MAX,
  holdsNames,
  listOf,
  type Mistake,
  mapOf,
  NO_NAME,
  NODES_MAX,
  pathText,
  type Source,
  scalarOf,
} from "./source.ts";

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
