// The tokens of Buildkite: https://buildkite.com/docs/pipelines/security/oidc. A build of a pull request has the subject of its
// branch, whose name its author chooses.
import { every, type Language, matching, middle } from "../pattern/language.ts";
import { type Chosen, type PullRequests, tokensLike } from "./pull-request-tokens.ts";

const BRANCH = "organization:[^:]+:pipeline:[^:]+:ref:refs/heads/";

const branches: Chosen = {
  claim: "build_branch",
  inSubject: (subject) => every(matching("[^:]+"), middle(matching(BRANCH), subject, matching("(?::.*)?"))),
};

/** Builds of pull requests. */
export const buildkitePullRequests = (issuer: Language): PullRequests[] => [
  { workload: tokensLike(issuer, `${BRANCH}.*`), chosen: branches },
  { workload: tokensLike(issuer, "organization:[^:]+:pipeline:[^:]+:ref:refs/pull/.*") },
];
