// Reads `--seed FILE.yaml`: an organization and its contents. Groups are named by their path of names from the organization;
// `""` is the organization itself. A copy lists `records` by uid instead. Reports every problem at once, with its line and column.
import type { z } from "zod";
import { isObject, type Json, type RoleBundles, shapeError, shapeProblems } from "../../schema/index.ts";
import { readYaml } from "../base/yaml-file.ts";
import { copyProblems, seedProblems } from "./check.ts";
import { type CopySeed, CopySeedSchema } from "./copy.ts";
import type { Problem } from "./problem.ts";
import { keepPlaces, type Seed, SeedError, SeedSchema } from "./record.ts";

export const parseSeed = (text: string, file: string, roles?: RoleBundles): Seed | CopySeed => {
  const yaml = readYaml(text, file, SeedError);
  const { value, describe } = yaml;
  // An empty document is null.
  if (value === null) throw new SeedError(describe([{ path: [], text: EMPTY }]));
  if (isObject(value) && "records" in value) {
    const { data, error } = CopySeedSchema.safeParse(value, { error: shapeError });
    const problems = data ? copyProblems(data) : shapeProblems(error.issues);
    if (!data || problems.length > 0) throw new SeedError(describe(problems));
    return keepPlaces(data, yaml);
  }
  const { data, error } = SeedSchema.safeParse(value, { error: shapeError });
  const problems = data
    ? seedProblems(data, roles)
    : [...shapeProblems(error.issues), ...furtherProblems(value, error.issues, roles)];
  if (!data || problems.length > 0) throw new SeedError(describe(problems));
  return keepPlaces(data, yaml);
};

const EMPTY = "the file is empty; a seed holds at least an organization: { name: acme.example }";

// Finds the problems of the well-formed records in a malformed file. A section with a malformed record may contain the target of
// a reference, so such a reference is not reported as missing.
const furtherProblems = (
  value: unknown,
  issues: readonly z.core.$ZodIssue[],
  roles: RoleBundles | undefined,
): Problem[] => {
  if (!isObject(value)) return [];
  const isBad = (section: string, i: number) =>
    issues.some(({ path }) => path[0] === section && (path.length === 1 || path[1] === i));
  /** the path of a section's records in the file */
  const kept = new Map<PropertyKey, number[]>();
  const whole: Json = { organization: { name: "of another shape" } };
  for (const [section, held] of Object.entries(value)) {
    if (Array.isArray(held)) {
      const places = [...held.keys()].filter((i) => !isBad(section, i));
      kept.set(section, places);
      whole[section] = places.map((i) => held[i]);
    } else if (!issues.some(({ path }) => path[0] === section)) whole[section] = held;
  }
  const { data } = SeedSchema.strip().safeParse(whole);
  if (!data) return [];
  return seedProblems(data, roles)
    .filter(({ refersTo }) => !refersTo || !issues.some(({ path }) => path[0] === refersTo))
    .map(({ path: [section, i, ...rest], text }) => ({
      path: [section as string, kept.get(section as string)?.[i as number] ?? (i as string), ...rest],
      text,
    }));
};
