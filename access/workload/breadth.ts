// How many workloads a relationship lets in: one repository and branch, or more.
import type { Json } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { hasMoreThan, isWithin } from "../pattern/decide.ts";
import { every, type Language, matching, not, some } from "../pattern/language.ts";
import { between } from "./customer.ts";
import { type AwsWorkload, acceptedBy, type TokenWorkload } from "./token.ts";

// The part that names one repository and branch. A commit or a step may follow. https://docs.github.com/actions/reference/security/oidc
// https://docs.gitlab.com/ci/secrets/id_token_authentication/ https://buildkite.com/docs/pipelines/security/oidc
const CONTEXT = "(?:ref:refs/(?:heads|tags)/[^:]+|environment:[^:]+|pull_request)";
const ONE = [
  `repo:[^/:]+/[^/:]+:${CONTEXT}`,
  "project_path:[^:]+:ref_type:(?:branch|tag):ref:[^:]+",
  "organization:[^:]+:pipeline:[^:]+:ref:[^:]+",
].join("|");
const REST = "(?::(?s:.*))?";

const REPOSITORY = ["repository", "repository_id", "project_path", "project_id", "pipeline_slug", "pipeline_id"];
// Not job_workflow_ref: the workflow that a job calls has its own branch.
const BRANCH = ["ref", "environment", "build_branch", "build_tag"];

/** Why more than one repository or branch can assume it; undefined: at most one. An undecided question counts as more. */
export const breadthOf = (relationship: Json | null, budget?: Budget): string | undefined => {
  if (relationship === null) return undefined;
  const accepted = acceptedBy(relationship);
  if (accepted.kind === "aws") return breadthOfAws(accepted, budget);
  if (accepted.kind === "other") return undefined;
  const { claimMatch } = relationship as { claimMatch: Json };
  if (!isOne(accepted.issuer, budget))
    return `the issuer may be any that matches ${JSON.stringify(claimMatch.issuerPattern)}`;
  if (isOneBranch(accepted, budget)) return undefined;
  return `the subject may be any that matches ${JSON.stringify(claimMatch.subjectPattern)}`;
};

const isOne = (language: Language, budget: Budget | undefined) => !hasMoreThan(1, language, budget);

const isOneBranch = ({ subject, claims }: TokenWorkload, budget: Budget | undefined) => {
  const isPinned = (names: readonly string[]) =>
    names.some((name) => {
      const language = claims.get(name);
      return language !== undefined && isOne(language, budget);
    });
  if (isPinned(REPOSITORY) && isPinned(BRANCH)) return true;
  return isOne(partsOf(subject, ONE, REST), budget) || isOneRepository(subject, budget);
};

const ID = "(?:@[0-9]+)?";
const REPOSITORY_NAME = `repo:[^/:@]+${ID}/[^/:@]+${ID}:`;
const ANY = "(?s:.*)";

/** Each part of a subject of GitHub, and its place. */
const PARTS: readonly [part: string, before: string, after: string][] = [
  ["[^/:@]+", "repo:", `${ID}/${ANY}`],
  ["[0-9]+", "repo:[^/:@]+@", `/${ANY}`],
  ["[^/:@]+", "repo:[^/:]+/", `${ID}:${ANY}`],
  ["[0-9]+", "repo:[^/:]+/[^/:@]+@", `:${ANY}`],
  [CONTEXT, REPOSITORY_NAME, REST],
];

/** One repository and branch has two subjects: with its numeric ids, and without. */
const isOneRepository = (subject: Language, budget: Budget | undefined) =>
  isWithin(subject, matching(`${REPOSITORY_NAME}${CONTEXT}${REST}`), budget) &&
  PARTS.every(([part, before, after]) => isOne(every(matching(part), between([before, after], subject)), budget));

/** The parts that come first in a text, and the texts without one. */
const partsOf = (language: Language, part: string, rest: string) =>
  some(every(matching(part), between(["", rest], language)), every(language, not(matching(`(?:${part})${rest}`))));

// The session of a role has its own name: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
const ROLE = "arn:aws[a-z-]*:sts::[0-9]{12}:assumed-role/[^/]+";
const ROLE_ID = "A[RI][A-Z0-9]+";

const breadthOfAws = ({ arn, userId }: AwsWorkload, budget: Budget | undefined) => {
  const parts = [partsOf(arn, ROLE, "/(?s:.*)"), partsOf(userId, ROLE_ID, ":(?s:.*)")];
  return parts.some((one) => isOne(one, budget)) ? undefined : "neither its ARN nor its user id names one role or user";
};

// Whether a relationship lets in each workload that another one lets in.

/** False if it cannot be decided, and between workloads without a token. Audiences are compared as written. */
export const covers = (now: Json | null, old: Json | null, budget?: Budget): boolean => {
  if (now === null || old === null) return false;
  const [is, was] = [acceptedBy(now), acceptedBy(old)];
  if (is.kind !== "token" || was.kind !== "token") return false;
  return (
    audienceOf(now) === audienceOf(old) &&
    isWithin(was.issuer, is.issuer, budget) &&
    isWithin(was.subject, is.subject, budget) &&
    [...is.claims].every(([name, language]) => {
      // A token may lack a claim that the old relationship does not name.
      const own = was.claims.get(name);
      return own !== undefined && isWithin(own, language, budget);
    })
  );
};

const audienceOf = ({ claimMatch }: Json) => {
  const { audience, audiencePattern } = (claimMatch ?? {}) as Json;
  return JSON.stringify([audience ?? null, audiencePattern ?? null]);
};
