// What a rehearsal found: the document that `irm rehearse --format json` prints, and that every other format shows.
import { z } from "zod";
import { Row } from "../review/row.ts";

const Missing = z.object({
  capabilities: z.array(z.string()),
  group: z.string().describe("uid of the group where they are missing"),
  groupName: z.string(),
});

export const Step = z.object({
  urn: z.string(),
  op: z.string().describe("of the engine: create, update, delete, …"),
  ok: z.boolean(),
  error: z.string().optional().describe("what the API or the engine says of its failure"),
  missing: Missing.optional().describe("what the identity would need for it"),
});
export type Step = z.infer<typeof Step>;

/** A capability that an identity gains or loses at a group and everywhere below it. */
export const IdentityRow = Row.extend({
  uid: z.string().nullable().describe("of the identity; null: does not exist yet"),
  name: z.string().describe("of the identity"),
});
export type IdentityRow = z.infer<typeof IdentityRow>;

export const Difference = z.object({
  change: z.enum(["gain", "loss"]),
  in: z.enum(["review", "twin"]).describe("the only one of the two that has the row"),
  row: IdentityRow,
});
export type Difference = z.infer<typeof Difference>;

export const NotRehearsed = z.object({ urn: z.string(), op: z.string(), why: z.string() });
export type NotRehearsed = z.infer<typeof NotRehearsed>;

export const Rehearsal = z.object({
  as: z
    .object({
      uid: z.string().nullable().describe("null: it is not known"),
      name: z.string().nullable().describe("null: the caller cannot list it"),
      rights: z.enum(["operator", "own"]).describe("operator: it may do everything; own: what its roles grant"),
    })
    .describe("the identity that the run acted as"),
  steps: z.array(Step).describe("of resources of this package; without those that change nothing"),
  errors: z.array(z.string()).describe("what failed beside the steps"),
  notRehearsed: z.array(NotRehearsed).describe("changes whose end is not known: they count as failures"),
  others: z
    .array(z.object({ urn: z.string(), op: z.string() }))
    .describe("changes of other providers, which never run"),
  gains: z.array(IdentityRow),
  losses: z.array(IdentityRow),
  differences: z.array(Difference).describe("rows of access in which review and twin differ"),
  undecided: z
    .array(Difference)
    .describe("rows that only one of the two has, since steps did not run or the review does not know them"),
  agrees: z.boolean().describe("false: review and twin differ, which is an error of this package"),
  secondPreviewEmpty: z.boolean(),
  secondPreview: z.array(z.object({ urn: z.string(), op: z.string() })).describe("what a second preview would change"),
  requests: z.number().describe("requests of the run to the API"),
  seconds: z.number().nullable().describe("the time that they take at --rate-limit; null: no limit is given"),
  notCopied: z.array(z.string()).describe("what the twin lacks"),
});
export type Rehearsal = z.infer<typeof Rehearsal>;

/** Whether the run would go through, and leave nothing to do. */
export const goesThrough = ({ steps, errors, notRehearsed, secondPreviewEmpty }: Rehearsal): boolean =>
  steps.every(({ ok }) => ok) && errors.length === 0 && notRehearsed.length === 0 && secondPreviewEmpty;
