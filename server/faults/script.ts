// Selects the step that an attempt meets. It comes from the first rule for its operation with steps left, or else is random.
// Selection is deterministic: it depends only on the script and the order of attempts.
import { createHash } from "node:crypto";
import { z } from "zod";
import {
  type OperationName,
  operations,
  type Problem,
  shapeError,
  shapeProblems,
  UserError,
} from "../../schema/index.ts";
import { readYaml } from "../base/yaml-file.ts";

interface MetStep {
  step: Step;
  /** counted from 1 in the file */
  rule: number | "random";
  /** counted from 1 in the rule */
  place: number;
}

export const createFaultSteps = ({ rules, random }: Script): ((operation: OperationName) => MetStep | undefined) => {
  const taken = rules.map(() => 0);
  let drawn = 0;

  const nextScripted = (operation: OperationName): MetStep | undefined => {
    const rule = rules.findIndex(
      (entry, i) =>
        (entry.operation === "*" || entry.operation === operation) &&
        (entry.repeat || (taken[i] as number) < entry.steps.length),
    );
    if (rule < 0) return undefined;
    const { steps } = rules[rule] as Script["rules"][number];
    const place = (taken[rule] as number) % steps.length;
    taken[rule] = (taken[rule] as number) + 1;
    return { step: steps[place] as Step, rule: rule + 1, place: place + 1 };
  };

  const drawStep = (): MetStep | undefined => {
    if (!random) return undefined;
    const hash = createHash("sha256").update(`${random.seed}/${++drawn}`).digest();
    if (hash.readUInt32BE(0) / 2 ** 32 >= random.rate) return undefined;
    const place = hash.readUInt32BE(4) % random.steps.length;
    return { step: random.steps[place] as Step, rule: "random", place: place + 1 };
  };

  return (operation) => nextScripted(operation) ?? drawStep();
};

// The format of a file of scripted failures (docs/server.md, "Scripted failures"; modeled on the SequenceService of
// gapic-showcase). Reports every problem at once, with its line and column.

const DURATION = "must be a duration such as 2s or 250ms";
const STATUS = "must be an HTTP status from 400 to 599, or 200";
const OPERATION = 'must be the name of an operation, such as CreateGroup, or "*"';

const duration = z
  .string(DURATION)
  .regex(/^\d{1,6}(ms|s)$/, DURATION)
  .transform((text) => Number.parseInt(text, 10) * (text.endsWith("ms") ? 1 : 1000));

const stepFields = z.strictObject({
  at: z.enum(["before", "after"], "must be before or after").optional(),
  delay: duration.optional(),
  hold: z.literal(true).optional(),
  status: z
    .int(STATUS)
    .refine((status) => status === 200 || (status >= 400 && status <= 599), STATUS)
    .optional(),
  retryAfter: z.int().min(0).max(86_400).optional(),
  httpDate: z.literal(true).optional(),
  body: z.literal("html").optional(),
  reset: z.literal(true).optional(),
  truncate: z.int().min(0).optional(),
});

const step = stepFields.superRefine((value, context) => {
  for (const { path, text } of conflicts(value)) context.addIssue({ code: "custom", path, message: text });
});

const steps = z.array(step).min(1, "must have a step");

const names = ["*", ...(Object.keys(operations) as OperationName[])] as const;

/** What happens to one attempt. Durations are texts: `2s`, `250ms`. */
interface FaultStep {
  /** before the request is carried out, or once it is committed */
  at?: "before" | "after" | undefined;
  delay?: string | undefined;
  /** until the test calls `release` */
  hold?: true | undefined;
  status?: number | undefined;
  /** seconds */
  retryAfter?: number | undefined;
  /** `retryAfter` as a date (RFC 9110, 10.2.3) */
  httpDate?: true | undefined;
  /** a page in place of the API's JSON */
  body?: "html" | undefined;
  reset?: true | undefined;
  /** bytes of the body that are sent */
  truncate?: number | undefined;
}

/** As in the file: durations are texts. */
export interface FaultScript {
  /** the period in which Get and List hide new records */
  readAfterWriteLag?: string | undefined;
  rules?:
    | {
        /** `*`: every operation */
        operation: OperationName | "*";
        /** one for each attempt */
        steps: FaultStep[];
        /** starts again after the last step; default: later attempts meet no failure */
        repeat?: boolean | undefined;
      }[]
    | undefined;
  random?: { rate: number; seed: number; steps: FaultStep[] } | undefined;
}

const FaultScriptSchema = z.strictObject({
  readAfterWriteLag: duration.optional(),
  rules: z
    .array(z.strictObject({ operation: z.enum(names, OPERATION), steps, repeat: z.boolean().optional() }))
    .default([]),
  random: z.strictObject({ rate: z.number().min(0).max(1), seed: z.int(), steps }).optional(),
});

/** Durations in milliseconds. */
export type Script = z.output<typeof FaultScriptSchema>;
export type Step = z.output<typeof step>;

// Fields of a step that exclude each other.
const conflicts = (value: z.output<typeof stepFields>): Problem[] => {
  const ends = (["status", "reset", "truncate"] as const).filter((name) => value[name] !== undefined);
  const found: Problem[] = ends.slice(1).map((name) => ({ path: [name], text: `cannot be combined with ${ends[0]}` }));
  for (const name of ["retryAfter", "httpDate", "body"] as const)
    if (value[name] !== undefined && value.status === undefined) found.push({ path: [name], text: "needs a status" });
  if (value.httpDate && value.retryAfter === undefined) found.push({ path: ["httpDate"], text: "needs retryAfter" });
  if (value.status === 200 && value.body === undefined)
    found.push({ path: ["status"], text: "200 needs body: html; without a failure the step is {}" });
  if (value.truncate !== undefined && value.at === "before")
    found.push({ path: ["at"], text: "must be after: only the response to a completed request can be truncated" });
  if (value.hold && value.delay !== undefined) found.push({ path: ["hold"], text: "cannot be combined with delay" });
  if (value.at !== undefined && ends.length === 0 && value.delay === undefined && !value.hold)
    found.push({ path: ["at"], text: "needs status, reset, truncate, delay or hold" });
  return found;
};

/** A script that the server cannot use: one line for each problem. */
export class FaultsError extends UserError {
  override readonly name = "FaultsError";
}

/** Parses a YAML file (or JSON, which is YAML). */
export const parseFaults = (text: string, file: string): FaultScript => {
  const { value, describe } = readYaml(text, file, FaultsError);
  const { success, error } = FaultScriptSchema.safeParse(value, { error: shapeError });
  if (!success) throw new FaultsError(describe(shapeProblems(error.issues)));
  return value as FaultScript;
};

/** Checks the script of a program. */
export const checkFaults = (script: FaultScript): Script => {
  const { success, data, error } = FaultScriptSchema.safeParse(script satisfies z.input<typeof FaultScriptSchema>, {
    error: shapeError,
  });
  if (success) return data;
  const problems = shapeProblems(error.issues);
  throw new FaultsError(problems.map(({ path, text }) => `${path.map(String).join(".")}: ${text}`).join("\n"));
};
