// The tokens of Buildkite: https://buildkite.com/docs/pipelines/security/oidc. A build of a pull request has the subject of its
// branch, whose name its author chooses.
import { every, type Language, matching, middle } from "../pattern/language.ts";
import type { Chosen, PullRequests } from "./pull-request-tokens.ts";

const BRANCH = "organization:[^:]+:pipeline:[^:]+:ref:refs/heads/";

const branches: Chosen = {
  claim: "build_branch",
  inSubject: (subject) => every(matching("[^:]+"), middle(matching(BRANCH), subject, matching("(?::.*)?"))),
};

/** Builds of pull requests. */
export const buildkitePullRequests = (issuer: Language): PullRequests[] => [
  { workload: { kind: "token", issuer, subject: matching(`${BRANCH}.*`), claims: new Map() }, chosen: branches },
  {
    workload: {
      kind: "token",
      issuer,
      subject: matching("organization:[^:]+:pipeline:[^:]+:ref:refs/pull/.*"),
      claims: new Map(),
    },
  },
];
