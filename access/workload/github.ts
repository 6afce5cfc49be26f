// The tokens of GitHub Actions: https://docs.github.com/actions/reference/security/oidc. The subject names the repository, and then
// an environment, a pull request, or a branch or tag. An organization may have another template, which writes any claims one after
// the other: `repository_owner:acme:job_workflow_ref:acme/ci/.github/workflows/build.yml@refs/heads/main`.
import { every, type Language, matching, middle, NOTHING, text } from "../pattern/language.ts";
import { type Chosen, type PullRequests, tokensLike } from "./pull-request-tokens.ts";

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
export const githubPullRequests = (issuer: Language): PullRequests[] => {
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
