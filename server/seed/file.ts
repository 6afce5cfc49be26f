// Reads `--seed FILE.yaml`: an organisation and what is in it. Groups are named by their path of names from the organisation,
// `""` being the organisation itself. Every problem is told with its line and column, all at once.
import type { z } from "zod";
import type { Json } from "../../schema/index.ts";
import { type Seed, SeedSchema } from "./record.ts";
import { type Problem, recordProblems } from "./rule.ts";
import { readYaml, shapeError, shapeProblems } from "./yaml-file.ts";

/** A seed file that cannot be used: one line for each problem, `file:line:column: path: text`. */
export class SeedError extends Error {
  override readonly name = "SeedError";
}

export const parseSeed = (text: string, file: string): Seed => {
  const { value, tell } = readYaml(text, file, SeedError);
  // An empty document is null.
  if (value === null) throw new SeedError(tell([{ path: [], text: EMPTY }]));
  const parsed = SeedSchema.safeParse(value, { error: shapeError });
  const problems = parsed.success
    ? recordProblems(parsed.data)
    : [...shapeProblems(parsed.error.issues), ...furtherProblems(value, parsed.error.issues)];
  if (!parsed.success || problems.length > 0) throw new SeedError(tell(problems));
  return parsed.data;
};

const EMPTY = "the file is empty; a seed holds at least an organization: { name: acme.example }";

// Of a file that is not of its shape: what is wrong with the records that are. A reference into a section that lacks one is
// not told as missing.
const furtherProblems = (value: unknown, issues: readonly z.core.$ZodIssue[]): Problem[] => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const isBad = (section: string, i: number) =>
    issues.some(({ path }) => path[0] === section && (path.length === 1 || path[1] === i));
  /** where the records of a section stand in the file */
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
  return recordProblems(data)
    .filter(({ refersTo }) => !refersTo || !issues.some(({ path }) => path[0] === refersTo))
    .map(({ path: [section, i, ...rest], text }) => ({
      path: [section as string, kept.get(section as string)?.[i as number] ?? (i as string), ...rest],
      text,
    }));
};
