// What a review says of the run on a copy that its rows come from.
import { z } from "zod";
import { ChangeAfter, ChangeRow } from "../change/change.ts";

const Missing = z.object({
  capabilities: z.array(z.string()),
  group: z.string().describe("uid of the group where they are missing"),
  groupName: z.string(),
});

export const Step = z.object({
  urn: z.string().describe("of the resource; of a change that is replayed, the number and method of its write"),
  op: z.string().describe("of the engine: create, update, delete, …"),
  ok: z.boolean(),
  error: z.string().optional().describe("what the API or the engine says of its failure"),
  missing: Missing.optional().describe("what the identity would need for it"),
});
export type Step = z.infer<typeof Step>;

export const RunActor = z.object({
  uid: z.string().nullable().describe("null: it is not known"),
  name: z.string().nullable().describe("null: the caller cannot list it"),
  rights: z.enum(["operator", "own"]).describe("operator: it may do everything; own: what its roles grant"),
});
export type RunActor = z.infer<typeof RunActor>;

export const Other = z.object({ urn: z.string(), op: z.string() });
export type Other = z.infer<typeof Other>;

export const Differs = z.object({
  row: ChangeRow.optional(),
  identity: ChangeAfter.shape.identity
    .optional()
    .describe("in place of a row: whatever it holds, and who can act as it"),
  message: z.string(),
});
export type Differs = z.infer<typeof Differs>;

export const RunReport = z.object({
  as: RunActor.nullable().describe("the identity that the run acted as; null: there was no run"),
  steps: z.array(Step).describe("of resources of this package; without those that change nothing"),
  errors: z.array(z.string()).describe("what failed beside the steps"),
  others: z.array(Other).describe("changes of other providers, which never run"),
  writes: z.number().describe("how many requests of the run change something"),
  digest: z
    .string()
    .describe("of the change: sha256: and 64 hexadecimal digits; empty: it is not known who applies it"),
  differs: z
    .array(Differs)
    .describe("rows that are not those of the file, or on which the copy and this review do not agree"),
  notCopied: z.array(z.string()).describe("what the copy lacks, of what may decide access"),
  notPart: z
    .array(z.string())
    .optional()
    .describe("of a review of a policy: paths of further files that the change edits, which it does not read"),
});
export type RunReport = z.infer<typeof RunReport>;

/** Of a review without a run. */
export const NO_RUN: RunReport = {
  ...{ as: null, steps: [], errors: [], others: [], writes: 0, digest: "", differs: [], notCopied: [] },
};

/** Whether the update goes through, and the change is what it was. */
export const goesThrough = ({ steps, errors, differs }: Pick<RunReport, "steps" | "errors" | "differs">): boolean =>
  steps.every(({ ok }) => ok) && errors.length + differs.length === 0;
