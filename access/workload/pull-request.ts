// Whether a job of a pull request, whose author may be anyone, can assume an identity. An undecided answer counts as one that can.

import type { Json } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { countTexts } from "../pattern/decide.ts";
import { every, type Language, matching, middle, NOTHING, not, some, text } from "../pattern/language.ts";
import { BUILDKITE_ISSUER } from "../preset/buildkite.ts";
import { GITHUB_ISSUER } from "../preset/github-actions.ts";
import { GITLAB_ISSUER } from "../preset/gitlab.ts";
import { GOOGLE_ISSUER } from "../preset/google.ts";
import { type TokenWorkload, tokensOf } from "./token.ts";
import { type Assumable, canBeAssumedBy } from "./workload.ts";

// The tokens of jobs of pull requests, as each CI describes its own.

/** A name that the author of a pull request chooses. */
interface Chosen {
  /** the claim that has it */
  claim: string;
  /** the names that subjects have */
  inSubject(subject: Language): Language;
}

interface PullRequests {
  workload: TokenWorkload;
  /** counts only where the identity leaves the name open; one that lists names relies on their protection */
  chosen?: Chosen;
  /** counts only where the identity asks for this claim */
  named?: string;
}

/** Tokens of an issuer whose subjects match a pattern. */
const tokensLike = (
  issuer: Language,
  subject: string,
  claims: ReadonlyMap<string, Language> = new Map(),
): TokenWorkload => ({ kind: "token", issuer, subject: matching(subject), claims });

// The tokens of GitHub Actions: https://docs.github.com/actions/reference/security/oidc. The subject names the repository, and then
// an environment, a pull request, or a branch or tag. An organization may have another template, which writes any claims one after
// the other: `repository_owner:acme:job_workflow_ref:acme/ci/.github/workflows/build.yml@refs/heads/main`.

const REPOSITORY = "repo:[^/:]+/[^/:]+";
// A colon in a name is written as %3A.
const ENVIRONMENT = `${REPOSITORY}:environment:`;

const PULL_REF = "refs/pull/[0-9]+/(?:merge|head)";

// Claims that a template may write, and that say nothing of the event. The workflow that a job calls, job_workflow_ref, has a
// branch of its own, which is not the branch of the caller.
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

const environments: Chosen = {
  claim: "environment",
  inSubject: (subject) =>
    every(matching("[^:]+"), middle(matching(ENVIRONMENT), subject, matching(`(?::(?:${PART}))*`))),
};

/** Jobs of pull requests. */
const githubPullRequests = (issuer: Language): PullRequests[] => {
  const withoutEnvironment = new Map<string, Language>([...pullRequestClaims, ["environment", NOTHING]]);
  return [
    { workload: tokensLike(issuer, `${REPOSITORY}:pull_request`, withoutEnvironment) },
    { workload: tokensLike(issuer, `(?:${PART})(?::(?:${PART}))*`, withoutEnvironment) },
    // GitHub creates an environment that a job names and that does not exist, without protection.
    {
      workload: tokensLike(issuer, `${ENVIRONMENT}[^:]+(?::(?:${PART}))*`, pullRequestClaims),
      chosen: environments,
    },
    // It runs the workflow of the base, on its branch: only an identity that names the event means it.
    {
      workload: tokensLike(
        issuer,
        `${REPOSITORY}:.*|(?:repository|repository_owner):.*`,
        new Map([["event_name", text("pull_request_target")]]),
      ),
      named: "event_name",
    },
  ];
};

// The tokens of Buildkite: https://buildkite.com/docs/pipelines/security/oidc. A build of a pull request has the subject of its
// branch, whose name its author chooses.

const BUILDKITE_BRANCH = "organization:[^:]+:pipeline:[^:]+:ref:refs/heads/";

const buildkiteBranches: Chosen = {
  claim: "build_branch",
  inSubject: (subject) => every(matching("[^:]+"), middle(matching(BUILDKITE_BRANCH), subject, matching("(?::.*)?"))),
};

/** Builds of pull requests. */
const buildkitePullRequests = (issuer: Language): PullRequests[] => [
  { workload: tokensLike(issuer, `${BUILDKITE_BRANCH}.*`), chosen: buildkiteBranches },
  { workload: tokensLike(issuer, "organization:[^:]+:pipeline:[^:]+:ref:refs/pull/.*") },
];

// The tokens of GitLab CI/CD: https://docs.gitlab.com/ci/secrets/id_token_authentication/. The subject names the project, and then the
// branch or tag. A merge request's pipeline has the name of its source branch, which its author chooses. A group may have a
// subject of fewer parts.

const GITLAB_BRANCH = "project_path:[^:]+:ref_type:branch:ref:";

const gitlabClaims = new Map<string, Language>([
  ["pipeline_source", text("merge_request_event")],
  ["ref_type", text("branch")],
  ["ref_path", matching("refs/merge-requests/[0-9]+/(?:head|merge|train)")],
  // True only where the branch is protected, so that its author may push to it anyway.
  ["ref_protected", text("false")],
]);

const gitlabBranches: Chosen = {
  claim: "ref",
  inSubject: (subject) => every(matching("[^:]+"), middle(matching(GITLAB_BRANCH), subject, some(text("")))),
};

/** Pipelines of merge requests. */
const gitlabPullRequests = (issuer: Language): PullRequests[] => [
  { workload: tokensLike(issuer, `${GITLAB_BRANCH}.*`, gitlabClaims), chosen: gitlabBranches },
  { workload: tokensLike(issuer, "project_path:[^:]+(?::ref_type:branch)?", gitlabClaims) },
  // An identity that names the pipelines of merge requests means them, whatever the branch.
  { workload: tokensLike(issuer, "project_path:.*", gitlabClaims), named: "pipeline_source" },
];

/** An identity that accepts more names than this lists none. */
const LISTED_MAX = 32;

const otherThan = (...issuers: readonly string[]): Language => not(some(...issuers.map(text)));

// The issuer of an instance of one's own can be of each of them.
const PULL_REQUESTS: readonly PullRequests[] = [
  ...githubPullRequests(otherThan(GITLAB_ISSUER, BUILDKITE_ISSUER, GOOGLE_ISSUER)),
  ...gitlabPullRequests(otherThan(GITHUB_ISSUER, BUILDKITE_ISSUER, GOOGLE_ISSUER)),
  ...buildkitePullRequests(otherThan(GITHUB_ISSUER, GITLAB_ISSUER, GOOGLE_ISSUER)),
];

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

const isOpen = ({ subject, claims }: TokenWorkload, { claim, inSubject }: Chosen, budget?: Budget): boolean => {
  const language = claims.get(claim);
  return [inSubject(subject), ...(language ? [language] : [])].every((names) => {
    const count = countTexts(names, LISTED_MAX + 1, budget);
    return count === undefined || count > LISTED_MAX;
  });
};
