// The tokens of GitLab CI/CD: https://docs.gitlab.com/ci/secrets/id_token_authentication/. The subject names the project, and then the
// branch or tag. A merge request's pipeline has the name of its source branch, which its author chooses. A group may have a
// subject of fewer parts.
import { every, type Language, matching, middle, some, text } from "../pattern/language.ts";
import { type Chosen, type PullRequests, tokensLike } from "./pull-request-tokens.ts";

const BRANCH = "project_path:[^:]+:ref_type:branch:ref:";

const claims = new Map<string, Language>([
  ["pipeline_source", text("merge_request_event")],
  ["ref_type", text("branch")],
  ["ref_path", matching("refs/merge-requests/[0-9]+/(?:head|merge|train)")],
  // True only where the branch is protected, so that its author may push to it anyway.
  ["ref_protected", text("false")],
]);

const branches: Chosen = {
  claim: "ref",
  inSubject: (subject) => every(matching("[^:]+"), middle(matching(BRANCH), subject, some(text("")))),
};

/** Pipelines of merge requests. */
export const gitlabPullRequests = (issuer: Language): PullRequests[] => [
  { workload: tokensLike(issuer, `${BRANCH}.*`, claims), chosen: branches },
  { workload: tokensLike(issuer, "project_path:[^:]+(?::ref_type:branch)?", claims) },
  // An identity that names the pipelines of merge requests means them, whatever the branch.
  { workload: tokensLike(issuer, "project_path:.*", claims), named: "pipeline_source" },
];
