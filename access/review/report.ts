// The document that `irm review --format json` prints, and that every other format shows: its shape, from which
// schema/generated/review.schema.json is generated.
//
//   identities     each identity that changes: its gains and losses, and who can assume it before and after
//   people         likewise for access without an identity: people, invites, holders of static keys
//   findings       findings of the rules (access/review/rules.ts), including the allowed ones
//   opens, closes  paths to more access that the change brings, and that it ends (docs/access.md#paths)
//   deletedGroups  deleted groups, with the contents of each
//   adopted        existing records that the program adopts
//   forceDestroy   resources that may delete records that no resource manages
//   undeclared     existing bindings that nothing declares
//   expiringKeys   static keys that end within 30 days
//   pullTokens     pull tokens that lose a role in the change
//   unknown        facts that the run could not know, and limits of this review
//   tests          tests of access, each passed or failed
//   rules          the file of rules that counts, and the commit that it comes from
//   notVisible     records that the API does not list: they yield neither gains nor losses
//   steps, …       how the update went on a copy of the organization
//
// `Review` adds the two graphs, for a format that shows who has access where.
import { z } from "zod";
import { CAPABILITY_CLASSES } from "../../schema/index.ts";
import { ChangeAfter, ChangeRow } from "../change/change.ts";
import type { AccessGraph } from "../graph/graph.ts";
import type { PeopleGraph } from "../graph/people.ts";
import { PullToken } from "../query/pull-tokens.ts";
import { RoleChange } from "../roles/change.ts";
import { flag, string, strings, text, textOrNull, texts } from "../shape.ts";

// The report of the run on a copy that the rows of a review come from.

const Missing = z.object({
  capabilities: strings,
  group: text("uid of the group where they are missing"),
  groupName: string,
});

export const Step = z.object({
  urn: text("of the resource; of a change that is replayed, the number and method of its write"),
  op: text("of the engine: create, update, delete, …"),
  ok: z.boolean(),
  error: text("what the API or the engine says of its failure").optional(),
  missing: Missing.optional().describe("what the identity would need for it"),
});
export type Step = z.infer<typeof Step>;

export const RunActor = z.object({
  uid: textOrNull("null: it is not known"),
  name: textOrNull("null: the caller cannot list it"),
  rights: z.enum(["operator", "own"]).describe("operator: it may do everything; own: what its roles grant"),
});
export type RunActor = z.infer<typeof RunActor>;

export const Other = z.object({ urn: string, op: string });
export type Other = z.infer<typeof Other>;

export const Differs = z.object({
  row: ChangeRow.optional(),
  identity: ChangeAfter.shape.identity
    .optional()
    .describe("in place of a row: whatever it holds, and who can act as it"),
  message: string,
});
export type Differs = z.infer<typeof Differs>;

export const RunReport = z.object({
  as: RunActor.nullable().describe("the identity that the run acted as; null: there was no run"),
  steps: z.array(Step).describe("of resources of this package; without those that change nothing"),
  errors: texts("what failed beside the steps"),
  others: z.array(Other).describe("changes of other providers, which never run"),
  writes: z.number().describe("how many requests of the run change something"),
  digest: text("of the change: sha256: and 64 hexadecimal digits; empty: it is not known who applies it"),
  differs: z
    .array(Differs)
    .describe("rows that are not those of the file, or on which the copy and this review do not agree"),
  notCopied: texts("what the copy lacks, of what may decide access"),
  notPart: texts(
    "of a review of a policy: paths of further files that the change edits, which it does not read",
  ).optional(),
});
export type RunReport = z.infer<typeof RunReport>;

/** For a review without a run. */
export const NO_RUN: RunReport = {
  as: null,
  steps: [],
  errors: [],
  others: [],
  writes: 0,
  digest: "",
  differs: [],
  notCopied: [],
};

/** Whether the update succeeds, and the change is as recorded. */
export const goesThrough = ({ steps, errors, differs }: Pick<RunReport, "steps" | "errors" | "differs">): boolean =>
  steps.every(({ ok }) => ok) && errors.length + differs.length === 0;

const uid = textOrNull("null: does not exist yet");
const groupName = text(
  "path from the organization, / for itself; of an organization that does not exist yet, its name",
);

/** A capability that is gained or lost at a group and everywhere below it. */
export const Row = z.object({
  group: uid.describe("uid of the topmost group where it is gained or lost; null: the group does not exist yet"),
  groupName,
  capability: text("such as groups.list"),
  role: text("name of the role that grants it; of several, the first by alphabet"),
});
export type Row = z.infer<typeof Row>;

/** A pattern, with claims of tokens that it matches, and near ones that it does not. */
export const PatternExamples = z.object({
  claim: string,
  pattern: string,
  matches: strings,
  differs: texts("near to the others, and not matched"),
});
export type PatternExamples = z.infer<typeof PatternExamples>;

export const Assumption = z.object({
  text: text("who can assume the identity, in words"),
  patterns: z.array(PatternExamples),
});
export type Assumption = z.infer<typeof Assumption>;

const serviceOfMany = text("address of the service that has it; absent: the change is about one service").optional();

const relationship = z
  .record(string, z.unknown())
  .nullable()
  .describe(
    "who can assume it, as the API's JSON has it, such as { claimMatch }; null: it cannot be assumed, or that is not known",
  );

const effect = z
  .enum(CAPABILITY_CLASSES)
  .optional()
  .describe(
    "where others than before may act by it: the class of the worst that it holds then, also where that is not known",
  );

export const IdentityReview = z.object({
  uid,
  name: string,
  nameBefore: text("where the identity is renamed").optional(),
  groupName,
  change: z.enum(["created", "deleted", "replaced", "updated", "none"]).describe("of the identity's own record"),
  gains: z.array(Row),
  losses: z.array(Row),
  assumableBefore: relationship,
  assumableAfter: relationship,
  before: Assumption.nullable().describe("assumableBefore in words"),
  after: Assumption.nullable().describe("assumableAfter in words"),
  effect,
  assumable: z
    .object({ before: relationship, after: relationship })
    .optional()
    .describe("assumableBefore and assumableAfter; in JSON only"),
  changed: z.boolean().optional().describe("of an identity that stays: who can assume it changes; in JSON only"),
  service: serviceOfMany,
});
export type IdentityReview = z.infer<typeof IdentityReview>;

export const PeopleReview = z.object({
  subject: text(
    "people of PROVIDER, external group ID of PROVIDER, invite KEY_ID (of a new one, the name of its resource), or static keys of IDENTITY",
  ),
  uid: uid.describe("uid of the record that gives the access: identity provider, mapping, invite, identity"),
  groupName,
  gains: z.array(Row),
  losses: z.array(Row),
  before: textOrNull("who they are, in words"),
  after: string.nullable(),
  effect,
  service: serviceOfMany,
});
export type PeopleReview = z.infer<typeof PeopleReview>;

export const RULES = [
  "gains-owner",
  "transient-access",
  "opens-path",
  "assumed-by-others",
  "matches-everyone",
  "matches-many",
  "new-issuer",
  "pull-request-writes",
  "root-binding",
  "last-owner-goes",
  "identity-replaced",
  "regrants-removed",
  "rules-changed",
  "required-owners",
  "may-own",
  "test-fails",
  "other-branch",
] as const;
export type RuleName = (typeof RULES)[number];

export const FindingList = z.object({ lead: string, items: strings });
export type FindingList = z.infer<typeof FindingList>;

export const Finding = z.object({
  rule: z.enum(RULES),
  subject: text("uid, or the name of what does not exist yet"),
  name: text("name of the subject"),
  message: string,
  list: FindingList.optional().describe("message as a sentence and a list, where it has several parts"),
  allowed: flag("excused by --allow"),
  denied: flag("of a rule that is denied or required: the exit code is 3"),
  unknown: flag("not found, but possible: an entry of unknown may hide it"),
  service: serviceOfMany,
});
export type Finding = z.infer<typeof Finding>;

/** Requests by which an identity could reach access that it does not hold. */
export const PathReview = z.object({
  from: z.object({ identity: uid, name: string }),
  gains: z.array(z.object({ capability: string, group: uid, groupName })),
  assumes: z
    .enum(["strict", "cautious"])
    .describe("strict: by the rules of the reference server; cautious: only under its assumptions"),
  steps: z.array(
    z.object({
      as: text("uid of an identity, or workload"),
      name: text("of that identity"),
      method: string,
      path: text(`the uid of the record that step N creates is \${N.uid}`),
      body: z.record(string, z.unknown()).nullable(),
      why: string,
      about: text("the record that the request is about, in words"),
    }),
  ),
  assumptions: strings,
});
export type PathReview = z.infer<typeof PathReview>;

const Named = z.object({ kind: text("such as role binding"), uid, name: string });

const DeletedGroup = z.object({
  group: string,
  groupName,
  contents: z.array(Named).describe("what is in it or below, and disappears with it"),
});

const Adopted = Named.extend({
  resource: string,
  deletedLater: z.boolean(),
});

const Forced = Named.extend({
  resource: string,
  deletes: z.boolean().describe("true: this change deletes it; false: a later one may"),
  contents: z.array(Named).describe("what no resource manages, and a deletion takes along"),
});

const Undeclared = z.object({
  binding: string,
  group: string,
  groupName,
  identity: string,
  identityName: string,
  role: string,
});

const ExpiringKey = z.object({ uid, name: string, groupName, expirationTime: string });

export const Unknown = z.object({
  subject: text("name of the resource, or empty: about the whole review"),
  property: string.optional(),
  message: string,
});
export type Unknown = z.infer<typeof Unknown>;

export const NotVisible = z.object({ kind: string, group: string, groupName, message: string });
export type NotVisible = z.infer<typeof NotVisible>;

/** The reviewed stack, service and time. */
export const Origin = z.object({
  stack: text("project/stack of the program, where there is one").optional(),
  service: text("address of the API"),
  commit: text("of git, in the folder of the program or the policy; where there is one").optional(),
  isModified: z.boolean().optional().describe("true: files differ from the commit"),
  time: text("RFC 3339, by the clock of the service"),
});
export type Origin = z.infer<typeof Origin>;

export const RulesSource = z.object({
  file: text("path of the file of rules"),
  isThere: z.boolean().describe("false: there is no such file, so only flags of the command count"),
  base: text("branch, tag or commit that it is read from; absent: the work tree").optional(),
  commit: text("commit of the base").optional(),
});
export type RulesSource = z.infer<typeof RulesSource>;

export const TestResult = z.object({
  name: string,
  passed: z.boolean(),
  reason: text("why it failed").optional(),
  list: FindingList.optional().describe("reason as a sentence and a list, where it has several parts"),
  failedBefore: flag("it failed before this change too, for each of these reasons"),
});
export type TestResult = z.infer<typeof TestResult>;

export const Report = RunReport.extend({
  organizations: texts("names of those whose access changes; all that are visible where it could be any").optional(),
  origin: Origin.optional(),
  identities: z.array(IdentityReview),
  people: z.array(PeopleReview),
  findings: z.array(Finding),
  opens: z.array(PathReview).describe("the worst first; of those, the shortest"),
  closes: z.array(PathReview),
  deletedGroups: z.array(DeletedGroup),
  adopted: z.array(Adopted),
  forceDestroy: z.array(Forced),
  undeclared: z.array(Undeclared),
  expiringKeys: z.array(ExpiringKey),
  pullTokens: z.array(PullToken).describe("those that lose a role, a row for each role binding that ends"),
  roles: z
    .array(RoleChange)
    .optional()
    .describe("built-in roles that differ from roles.lock.yaml of the base; absent: there are none"),
  unknown: z.array(Unknown),
  notVisible: z.array(NotVisible),
  rules: RulesSource.optional().describe("absent: no file of rules is asked for"),
  tests: z
    .array(TestResult)
    .optional()
    .describe("tests of access, on the state after the change; absent: there are none"),
});
export type Report = z.infer<typeof Report>;

export interface Review {
  report: Report;
  before: AccessGraph;
  after: AccessGraph;
  /** who has access without an identity */
  people: { before: PeopleGraph; after: PeopleGraph };
  /** allowances whose subject matches no name */
  unknownSubjects: readonly string[];
}

/** JSON Schema of the report, for its readers. */
export const reportSchema = (): object => ({
  ...z.toJSONSchema(Report, { target: "draft-7", io: "input" }),
  title: "What `npx pulumi-irm review --format json` prints",
});
