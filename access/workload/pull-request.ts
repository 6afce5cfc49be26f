// Whether a job of a pull request, whose author may be anyone, can assume an identity. An undecided answer counts as one that can.

import type { Json } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { hasMoreThan, LISTED_MAX } from "../pattern/decide.ts";
import { every, type Language, matching, NOTHING, not, some, text } from "../pattern/language.ts";
import { BUILDKITE_ISSUER } from "../preset/buildkite.ts";
import { GITHUB_ISSUER } from "../preset/github-actions.ts";
import { GITLAB_ISSUER } from "../preset/gitlab.ts";
import { GOOGLE_ISSUER } from "../preset/google.ts";
import { between, type Place } from "./customer.ts";
import { type TokenWorkload, tokensOf } from "./token.ts";
import { type Assumable, canBeAssumedBy } from "./workload.ts";

// The tokens of jobs of pull requests, as each CI documents them.

/** A name that the author of a pull request chooses. */
interface Chosen {
  /** the claim that contains it */
  claim: string;
  /** its place in subjects */
  place: Place;
}

interface PullRequests {
  /** a pattern of their subjects */
  subject: string;
  claims?: ReadonlyMap<string, Language>;
  /** counts only if the identity leaves the name open; one that lists names relies on their protection */
  chosen?: Chosen;
  /** counts only if the identity requires this claim */
  named?: string;
}

// The tokens of GitHub Actions: https://docs.github.com/actions/reference/security/oidc. The subject names the repository, and then
// an environment, a pull request, or a branch or tag. An organization may have another template, which writes any claims one after
// the other: `repository_owner:acme:job_workflow_ref:acme/ci/.github/workflows/build.yml@refs/heads/main`.

const REPOSITORY = "repo:[^/:]+/[^/:]+";
// A colon in a name is written as %3A.
const ENVIRONMENT = `${REPOSITORY}:environment:`;

const PULL_REF = "refs/pull/[0-9]+/(?:merge|head)";

// Claims that a template may write, and that do not show the event. The workflow that a job calls, job_workflow_ref, has its own branch,
// which is not the branch of the caller.
const NEUTRAL =
  `repo repository repository_id repository_owner repository_owner_id repository_visibility enterprise enterprise_id
  actor actor_id head_ref base_ref job_workflow_ref job_workflow_sha workflow workflow_ref workflow_sha sha run_id run_number
  run_attempt runner_environment check_run_id`.split(/\s+/);

const PART = [
  `(?:${NEUTRAL.join("|")}):[^:]*`,
  `ref:${PULL_REF}`,
  "ref_type:branch",
  "ref_protected:false",
  "event_name:pull_request[a-z_]*",
  "pull_request",
].join("|");

const pullRequestClaims = new Map<string, Language>([
  ["event_name", matching("pull_request(?:_review(?:_comment)?)?")],
  ["ref", matching(PULL_REF)],
  ["ref_type", text("branch")],
  ["ref_protected", text("false")],
  ["workflow_ref", matching(`[^@]*@${PULL_REF}`)],
]);

const withoutEnvironment = new Map<string, Language>([...pullRequestClaims, ["environment", NOTHING]]);

const ANY_PARTS = `(?::(?:${PART}))*`;

/** Jobs of pull requests. */
const GITHUB: readonly PullRequests[] = [
  { subject: `${REPOSITORY}:pull_request`, claims: withoutEnvironment },
  { subject: `(?:${PART})${ANY_PARTS}`, claims: withoutEnvironment },
  // GitHub creates an environment that a job names and that does not exist, without protection.
  {
    subject: `${ENVIRONMENT}[^:]+${ANY_PARTS}`,
    claims: pullRequestClaims,
    chosen: { claim: "environment", place: [ENVIRONMENT, ANY_PARTS] },
  },
  // It runs the workflow of the base, on its branch: only an identity that names the event means it.
  {
    subject: `${REPOSITORY}:.*|(?:repository|repository_owner):.*`,
    claims: new Map([["event_name", text("pull_request_target")]]),
    named: "event_name",
  },
];

// The tokens of Buildkite: https://buildkite.com/docs/pipelines/security/oidc. A build of a pull request has the subject of its
// branch, whose name its author chooses.

const BUILDKITE_BRANCH = "organization:[^:]+:pipeline:[^:]+:ref:refs/heads/";

/** Builds of pull requests. */
const BUILDKITE: readonly PullRequests[] = [
  { subject: `${BUILDKITE_BRANCH}.*`, chosen: { claim: "build_branch", place: [BUILDKITE_BRANCH, "(?::.*)?"] } },
  { subject: "organization:[^:]+:pipeline:[^:]+:ref:refs/pull/.*" },
];

// The tokens of GitLab CI/CD: https://docs.gitlab.com/ci/secrets/id_token_authentication/. The subject names the project, and then the
// branch or tag. A merge request's pipeline has the name of its source branch, which its author chooses. A group may have a
// subject of fewer parts.

const GITLAB_BRANCH = "project_path:[^:]+:ref_type:branch:ref:";

const gitlabClaims = new Map<string, Language>([
  ["pipeline_source", text("merge_request_event")],
  ["ref_type", text("branch")],
  ["ref_path", matching("refs/merge-requests/[0-9]+/(?:head|merge|train)")],
  // True only if the branch is protected, so that its author may push to it anyway.
  ["ref_protected", text("false")],
]);

/** Pipelines of merge requests. */
const GITLAB: readonly PullRequests[] = [
  { subject: `${GITLAB_BRANCH}.*`, claims: gitlabClaims, chosen: { claim: "ref", place: [GITLAB_BRANCH, ""] } },
  { subject: "project_path:[^:]+(?::ref_type:branch)?", claims: gitlabClaims },
  // An identity that names the pipelines of merge requests means them, whatever the branch.
  { subject: "project_path:.*", claims: gitlabClaims, named: "pipeline_source" },
];

// The issuer of a private instance can belong to each of them.
const PULL_REQUESTS = (
  [
    [GITHUB, GITHUB_ISSUER],
    [GITLAB, GITLAB_ISSUER],
    [BUILDKITE, BUILDKITE_ISSUER],
  ] as const
).flatMap(([rows, own]) => {
  const others = [GITHUB_ISSUER, GITLAB_ISSUER, BUILDKITE_ISSUER, GOOGLE_ISSUER].filter((one) => one !== own);
  const issuer = not(some(...others.map(text)));
  return rows.map(({ subject, claims = new Map(), named, chosen }) => {
    const workload: TokenWorkload = { kind: "token", issuer, subject: matching(subject), claims };
    return { workload, named, chosen };
  });
});

export const pullRequestsIn = (relationship: Json | null, budget?: Budget): Assumable => {
  const { claimMatch } = (relationship ?? {}) as Record<string, Json | undefined>;
  if (!claimMatch) return { is: "no" };
  const tokens = tokensOf(claimMatch);
  let answer: Assumable = { is: "no" };
  for (const { workload, named, chosen } of PULL_REQUESTS) {
    if (named !== undefined && !tokens.claims.has(named)) continue;
    const result = canBeAssumedBy(relationship, [workload], budget);
    if (result.is === "no" || (chosen && !isOpen(tokens, chosen, budget))) continue;
    if (result.is === "yes") return result;
    answer = result;
  }
  return answer;
};

/** An identity that accepts more names than someone would list leaves the name open. */
const isOpen = ({ subject, claims }: TokenWorkload, { claim, place }: Chosen, budget?: Budget) => {
  const language = claims.get(claim);
  return [every(matching("[^:]+"), between(place, subject)), ...(language ? [language] : [])].every((names) =>
    hasMoreThan(LISTED_MAX, names, budget),
  );
};
