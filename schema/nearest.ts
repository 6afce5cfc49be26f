// Suggestions for names that do not exist.
import leven from "leven";

const distanceOf = (name: string, other: string): number => leven(name.toLowerCase(), other.toLowerCase());

// Up to a third of the characters may differ; one in a short name.
const farthest = (name: string): number => Math.max(1, Math.floor(name.length / 3));

/** A longer text is no misspelling, and the comparison takes the product of both lengths. */
const NAME_MAX = 1000;

const ranked = (name: string, names: Iterable<string>): { other: string; distance: number }[] =>
  name.length > NAME_MAX
    ? []
    : [...new Set(names)]
        .filter((other) => other.length <= NAME_MAX)
        .map((other) => ({ other, distance: distanceOf(name, other) }))
        .toSorted((a, b) => a.distance - b.distance);

/** The name that `name` is a misspelling of. */
export const nearest = (name: string, names: Iterable<string>): string | undefined => {
  const [best] = ranked(name, names);
  return best && best.distance <= farthest(name) ? best.other : undefined;
};

const LEAST_PART = 3;

/** Possible names, nearest first: misspellings, and names that contain `name`. */
export const nearestNames = (name: string, names: Iterable<string>, most = 3): string[] => {
  const isPart = (other: string) => name.length >= LEAST_PART && other.toLowerCase().includes(name.toLowerCase());
  return ranked(name, names)
    .filter(({ other, distance }) => distance <= farthest(name) || isPart(other))
    .slice(0, most)
    .map(({ other }) => other);
};

/** `; did you mean viewer?` for the end of a message; empty if no name is near. */
export const suggestion = (name: string, names: Iterable<string>, most = 1): string => {
  const near = nearestNames(name, names, most);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
};
