// How many workloads a relationship lets in: one repository and branch, or more.
import type { Json } from "../../schema/index.ts";
import { literalOf, patternTree, prefixOf } from "./pattern-tree.ts";

/** The text that a claim must have, what all its texts begin with, and whether there may be several. */
interface Accepted {
  text?: string;
  prefix: string;
}

const ANYTHING: Accepted = { prefix: "" };

const fromPattern = (pattern: string): Accepted => {
  const tree = patternTree(pattern);
  if (!tree) return ANYTHING;
  const text = literalOf(tree);
  return { ...(text !== undefined && { text }), prefix: prefixOf(tree) };
};

const acceptedIn = (exact: unknown, pattern: unknown): Accepted => {
  if (typeof exact === "string" && exact !== "") return { text: exact, prefix: exact };
  return typeof pattern === "string" && pattern !== "" ? fromPattern(pattern) : ANYTHING;
};

// Subjects that name one repository and branch, and go on: a commit, a step.
// https://docs.github.com/actions/reference/security/oidc
// https://docs.gitlab.com/ci/secrets/id_token_authentication/
// https://buildkite.com/docs/pipelines/security/oidc
const SINGLE = [
  /^repo:[^/:]+\/[^/:]+:(?:ref:refs\/(?:heads|tags)\/[^:]+|environment:[^:]+|pull_request):/,
  /^project_path:[^:]+:ref_type:(?:branch|tag):ref:[^:]+:/,
  /^organization:[^:]+:pipeline:[^:]+:ref:[^:]+:/,
];

const REPOSITORY = ["repository", "repository_id", "project_path", "project_id", "pipeline_slug", "pipeline_id"];
// Not job_workflow_ref: the workflow that a job calls has a branch of its own.
const BRANCH = ["ref", "environment", "build_branch", "build_tag"];

/** Why more than one repository or branch can assume it; undefined: one at most. */
export const breadthOf = (relationship: Json | null): string | undefined => {
  const { claimMatch, awsIdentity } = (relationship ?? {}) as Record<string, Json | undefined>;
  if (awsIdentity) return breadthOfAws(awsIdentity);
  if (!claimMatch) return undefined;
  const issuer = acceptedIn(claimMatch.issuer, claimMatch.issuerPattern);
  if (issuer.text === undefined)
    return `the issuer may be any that matches ${JSON.stringify(claimMatch.issuerPattern)}`;
  const subject = acceptedIn(claimMatch.subject, claimMatch.subjectPattern);
  if (subject.text !== undefined || SINGLE.some((one) => one.test(subject.prefix))) return undefined;
  const isPinned = (names: readonly string[]): boolean =>
    names.some((name) => claimOf(claimMatch, name).text !== undefined);
  if (isPinned(REPOSITORY) && isPinned(BRANCH)) return undefined;
  return `the subject may be any that matches ${JSON.stringify(claimMatch.subjectPattern)}`;
};

const claimOf = ({ claims, claimPatterns }: Json, name: string): Accepted =>
  acceptedIn((claims as Json | undefined)?.[name], (claimPatterns as Json | undefined)?.[name]);

// The session of a role has a name of its own: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
const AWS_ROLE = /^arn:aws[\w-]*:sts::\d{12}:assumed-role\/[^/]+\/|^A[RI]\w+:/;

const breadthOfAws = (aws: Json): string | undefined => {
  const parts = [acceptedIn(aws.arn, aws.arnPattern), acceptedIn(aws.userId, aws.userIdPattern)];
  if (parts.some(({ text, prefix }) => text !== undefined || AWS_ROLE.test(prefix))) return undefined;
  return "neither its ARN nor its user id names one role or user";
};
