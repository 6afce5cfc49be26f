// Whether a job of a pull request, whose author may be anyone, can assume an identity. An undecided answer counts as one that can.
import type { Json } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { countTexts } from "../pattern/decide.ts";
import { type Language, not, some, text } from "../pattern/language.ts";
import { BUILDKITE_ISSUER } from "../preset/buildkite.ts";
import { GITHUB_ISSUER } from "../preset/github-actions.ts";
import { GITLAB_ISSUER } from "../preset/gitlab.ts";
import { GOOGLE_ISSUER } from "../preset/google.ts";
import {
  buildkitePullRequests,
  type Chosen,
  githubPullRequests,
  gitlabPullRequests,
  type PullRequests,
} from "./pull-request-tokens.ts";
import { type TokenWorkload, tokensOf } from "./token.ts";
import { type Assumable, canBeAssumedBy } from "./workload.ts";

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
