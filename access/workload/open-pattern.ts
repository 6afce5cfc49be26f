// Patterns that let in everyone, or say nothing: `irm check` refuses them in a policy, and the preview of a program warns of them.
import { type Json, patternMatcher } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { everyoneIn } from "./everyone.ts";

export interface OpenPattern {
  /** in the relationship: `claimPatterns`, `ref` */
  path: readonly string[];
  /** what is wrong, and what to write instead */
  text: string;
}

// Claims that have nothing to do with each other: a pattern that takes them all says nothing.
const ANY_TEXT = ["q7", "zx-81:k/w", "repo:someone/else:ref:refs/heads/x", "107517467455664443765", "A b_c@d.example"];

const matchesAll = (pattern: unknown): boolean => {
  if (typeof pattern !== "string") return false;
  const isMatch = patternMatcher(pattern);
  return ANY_TEXT.every((text) => isMatch(text));
};

const ANY_ISSUER = ["https://one.example", "https://other.invalid/id/7", "https://xn--abc.test/a/b"];

const isAnyIssuer = (pattern: unknown): boolean =>
  typeof pattern === "string" && ANY_ISSUER.every((issuer) => patternMatcher(pattern)(issuer));

/** `relationship` is a claimMatch or an awsIdentity. */
export const openPatternsIn = (relationship: Json, budget?: Budget): OpenPattern[] => {
  const found: OpenPattern[] = [];
  const report = (text: string, ...path: string[]): void => void found.push({ path, text });
  const { audiencePattern, arn, arnPattern, userId, userIdPattern, claimPatterns = {} } = relationship;
  if (matchesAll(audiencePattern)) report("matches everything; give the audience, or leave it out", "audiencePattern");
  const aws = "matches everything; name the role or user, as the preset aws does";
  if (userId === undefined && matchesAll(arnPattern)) report(aws, "arnPattern");
  if (arn === undefined && matchesAll(userIdPattern)) report(aws, "userIdPattern");
  for (const [claim, pattern] of Object.entries(claimPatterns as Json))
    if (matchesAll(pattern))
      report("matches everything; give the values that you mean, or leave it out", "claimPatterns", claim);
  return [...found, ...openToAll(relationship, budget)];
};

const UNDECIDED =
  "may match the workloads of every customer: it takes too many steps to decide, alone or with the other patterns; write them simpler, or name the organization in a claim";

const openToAll = (match: Json, budget: Budget | undefined): OpenPattern[] => {
  const { issuer, issuerPattern, subjectPattern, claims, claimPatterns } = match;
  // Principals of AWS have none.
  if (issuer === undefined && issuerPattern === undefined) return [];
  const everyone = everyoneIn({ claimMatch: match }, budget);
  if (issuerPattern !== undefined && everyone.is === "found") {
    const text = isAnyIssuer(issuerPattern)
      ? "matches every issuer, so anyone can sign in"
      : `matches the issuers of ${everyone.text}`;
    return [{ path: ["issuerPattern"], text: `${text}; give issuer, the one that you mean` }];
  }
  const hasClaims = Object.keys({ ...(claims as Json | undefined), ...(claimPatterns as Json | undefined) }).length > 0;
  if (!hasClaims && matchesAll(subjectPattern))
    return [{ path: ["subjectPattern"], text: "matches every subject of the issuer; name the workload" }];
  if (everyone.is === "none") return [];
  const path = subjectPattern === undefined ? ["subject"] : ["subjectPattern"];
  if (everyone.is === "undecided")
    return [{ path: issuerPattern === undefined ? path : ["issuerPattern"], text: UNDECIDED }];
  return [{ path, text: `matches the workloads of every customer of ${issuer}; name the organization` }];
};
