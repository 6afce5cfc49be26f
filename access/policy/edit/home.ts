// In which file of a policy a new entry belongs: beside the entries of its group, so that a policy that is split by group, or by section,
// stays so.
import { ROOT } from "../policy.ts";
import { isMap, type Source } from "../source.ts";
import { sourceFromYaml } from "../yaml-source.ts";
import type { OpenPolicy } from "./open.ts";

/** Sections that entries are added to. */
export const SECTIONS = ["groups", "identities", "roles", "access"] as const;
export type Section = (typeof SECTIONS)[number];

interface File {
  /** path without links */
  real: string;
  /** by section, the paths of the groups that its entries are in, or are */
  paths: ReadonlyMap<Section, readonly string[]>;
  /** the only group below the organization that the file is about; undefined: it is the first file, or about several */
  own: string | undefined;
}

/** Returns the path, without links, of the file for an entry. `path` is the group that it is in; of a group, itself. */
export const homesIn = ({ texts }: OpenPolicy): ((section: Section, path: string, role?: string) => string) => {
  const sources = [...texts].map(([real, { name, text }]) => ({ real, source: sourceFromYaml(text, name).source }));
  const files = sources.map(({ real, source }, i) => fileOf(real, source, i === 0));
  const rows = new Map(sources.map(({ real, source }) => [real, at(source, "access")]));
  return (section, path, role) => {
    const top = path === ROOT ? undefined : path.split("/")[0];
    const places = files.filter(({ own }) => own === undefined || own === top);
    const scoreOf = ({ real, paths, own }: File): number[] => {
      const held = paths.get(section);
      const nearest = Math.max(0, ...(held ?? []).map((one) => commonLevels(one, path)));
      const hasRow = role !== undefined && at(at(rows.get(real), path), role) !== undefined;
      return [nearest, Number(hasRow), Number(own !== undefined), Number(held !== undefined)];
    };
    const [best] = places
      .map((file) => ({ file, score: scoreOf(file) }))
      // The first of several that are as good.
      .sort(
        (a, b) => b.score.map((part, i) => part - (a.score[i] as number)).find((difference) => difference !== 0) ?? 0,
      );
    return (best as { file: File }).file.real;
  };
};

const fileOf = (real: string, source: Source | undefined, isFirst: boolean): File => {
  const paths = new Map<Section, string[]>();
  for (const section of SECTIONS) {
    const held = at(source, section);
    if (isMap(held)) paths.set(section, section === "groups" ? groupPaths(held) : pathsIn(held, section));
  }
  const tops = new Set([...paths.values()].flat().map((path) => (path === ROOT ? ROOT : path.split("/")[0])));
  const [own] = tops;
  return { real, paths, own: isFirst || tops.size !== 1 || own === ROOT ? undefined : own };
};

const at = (source: Source | undefined, key: string): Source | undefined =>
  isMap(source) ? source.entries.get(key)?.value : undefined;

const groupPaths = (groups: Source | undefined, parent = ""): string[] =>
  isMap(groups)
    ? [...groups.entries].flatMap(([key, { value }]) => [
        parent + key,
        ...groupPaths(at(value, "groups"), `${parent}${key}/`),
      ])
    : [];

const pathsIn = (held: Source, section: Section): string[] => {
  if (!isMap(held)) return [];
  if (section === "access") return [...held.entries.keys()];
  return [...held.entries.values()].map(({ value }) => {
    const place = at(value, "in");
    return place && "scalar" in place && typeof place.scalar === "string" ? place.scalar : ROOT;
  });
};

/** How many groups from the organization down two paths share; the organization itself counts as one. */
const commonLevels = (one: string, other: string): number => {
  if (one === ROOT || other === ROOT) return one === other ? 1 : 0;
  const [a, b] = [one.split("/"), other.split("/")];
  const different = a.findIndex((name, i) => name !== b[i]);
  return different < 0 ? a.length : different;
};
