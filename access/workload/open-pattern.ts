// Patterns that let in everyone, or restrict nothing: `irm check` refuses them in a policy, and the preview of a program warns about them.
import { getOrInsert, type Json, patternMatcher } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { findText } from "../pattern/decide.ts";
import { every, isIn, matching } from "../pattern/language.ts";
import { GITHUB_ISSUER } from "../preset/github-actions.ts";
import { exactOrPattern, hasWildcard } from "../preset/preset.ts";
import { CUSTOMERS, ISSUERS } from "./customer.ts";
import { everyoneIn } from "./everyone.ts";
import { tokensOf } from "./token.ts";

interface OpenPattern {
  /** in the relationship: `claimPatterns`, `ref` */
  path: readonly string[];
  /** the mistake, and its correction */
  text: string;
}

// Unrelated claims: a pattern that matches them all restricts nothing.
const ANY_TEXT = ["q7", "zx-81:k/w", "repo:someone/else:ref:refs/heads/x", "107517467455664443765", "A b_c@d.example"];

const matchesAll = (pattern: unknown, texts = ANY_TEXT) => {
  if (typeof pattern !== "string") return false;
  const isMatch = patternMatcher(pattern);
  return texts.every((text) => isMatch(text));
};

const ANY_ISSUER = ["https://one.example", "https://other.invalid/id/7", "https://xn--abc.test/a/b"];

/** `relationship` is a claimMatch or an awsIdentity. */
export const openPatternsIn = (relationship: Json, budget?: Budget): OpenPattern[] => {
  const found: OpenPattern[] = [];
  const report = (text: string, ...path: string[]) => void found.push({ path, text });
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
  // Principals of AWS have no issuer.
  if (issuer === undefined && issuerPattern === undefined) return [];
  const everyone = everyoneIn({ claimMatch: match }, budget);
  if (issuerPattern !== undefined && everyone.is === "found") {
    const text = matchesAll(issuerPattern, ANY_ISSUER)
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

// Claims that no token has, or that hardly any has: `irm check` and the preview of a program report them.

interface NeverMatched extends OpenPattern {
  /** no token has it: it is refused. Otherwise an issuer that this version does not know may write it */
  isCertain: boolean;
}

/** `match` is a claimMatch. `isSecret`: the texts do not reveal it. */
export const neverMatchedIn = ({ issuer, subject }: Json, isSecret = false): NeverMatched[] => [
  ...(typeof issuer === "string" ? slashAfter(issuer, isSecret) : []),
  ...(typeof subject === "string" && hasWildcard(subject) ? [wildcardIn(subject, issuer, isSecret)] : []),
];

const slashAfter = (issuer: string, isSecret: boolean): NeverMatched[] => {
  const plain = issuer.slice(0, -1);
  if (!issuer.endsWith("/") || !endsPlain(plain)) return [];
  const text = "ends with a slash, which this issuer does not have, so it matches no token";
  return [{ path: ["issuer"], text: `${text}; ${isSecret ? "leave it out" : `write ${plain}`}`, isCertain: true }];
};

const endsPlain = (issuer: string) =>
  isShared(issuer) || ISSUERS.some((one) => one.endsPlain === true && isIssuerOf(one, issuer));

const isShared = (issuer: unknown) => CUSTOMERS.some((one) => one.issuer !== undefined && one.issuer === issuer);

const isIssuerOf = ({ place: [before, after], name = "[^/]+" }: (typeof ISSUERS)[number], issuer: string) =>
  patternMatcher(`${before}(?:${name})${after}`)(issuer);

/** The beginnings of subjects of the services that this version knows: none contains a *. */
const KNOWN_SUBJECT = /^(?:repo|repository|repository_owner|project_path|organization|system:serviceaccount|pulumi):/;

const wildcardIn = (subject: string, issuer: unknown, isSecret: boolean): NeverMatched => {
  const isCertain = isShared(issuer) || KNOWN_SUBJECT.test(subject);
  const { exact, pattern = exact } = exactOrPattern(subject);
  const advice = isSecret ? "use subjectPattern instead" : `write subjectPattern: ${JSON.stringify(pattern)}`;
  const outcome = isCertain ? " and it matches no token; " : "; where it is to stand for any characters, ";
  return { path: ["subject"], text: `is compared byte for byte, so * stands for itself${outcome}${advice}`, isCertain };
};

// Subjects of GitHub with and without the numeric ids of owner and repository. A repository sends one form or the other: repositories that
// were created, renamed or transferred after 15 July 2026 send ids (https://docs.github.com/actions/reference/security/oidc).

const WITH_IDS = "repo:[^/:@]+@[0-9]+/[^/:@]+@[0-9]+:(?s:.*)";
const WITHOUT_IDS = "repo:[^/:@]+/[^/:@]+:(?s:.*)";

/** Undefined: it does not belong to a repository of GitHub, accepts both forms, or cannot be decided. */
const formOf = (match: Json, budget: Budget | undefined): { owner: string; hasIds: boolean } | undefined => {
  const { issuer, subject } = tokensOf(match);
  if (isIn(issuer, GITHUB_ISSUER) !== true) return undefined;
  const [ids, none] = [WITH_IDS, WITHOUT_IDS].map((form) => findText(every(subject, matching(form)), budget));
  const [found, other] = ids?.is === "found" ? [ids, none] : [none, ids];
  if (found?.is !== "found" || other?.is !== "none") return undefined;
  const [, owner = ""] = /^repo:([^/:@]+)/.exec(found.text) ?? [];
  return { owner: owner.toLowerCase(), hasIds: found === ids };
};

interface Mixed<K> {
  /** an identity without ids in its subject */
  plain: K;
  /** an identity of the owner with them */
  beside: K;
}

/** Takes identities one by one, and returns those that turn out to lack ids, each once. */
export const mixedIdsFinder = <K>(): ((key: K, match: Json, budget?: Budget) => Mixed<K>[]) => {
  const owners = new Map<string, { plain: Set<K>; beside?: K }>();
  const reported = new Set<K>();
  return (key, match, budget) => {
    const form = formOf(match, budget);
    if (form === undefined) return [];
    const owner = getOrInsert(owners, form.owner, (): { plain: Set<K>; beside?: K } => ({ plain: new Set() }));
    if (form.hasIds) owner.beside ??= key;
    else owner.plain.add(key);
    const { beside } = owner;
    if (beside === undefined) return [];
    const fresh = [...owner.plain].filter((one) => one !== beside && !reported.has(one));
    for (const one of fresh) reported.add(one);
    return fresh.map((plain) => ({ plain, beside }));
  };
};

/** `beside` names the other identity. */
export const mixedIdsText = (beside: string): string =>
  `has a GitHub subject without numeric ids, and ${beside}, of the same owner, has one with them: a repository that was created, renamed ` +
  "or transferred after 15 July 2026 sends them, and then this subject matches no token. If this one does, write " +
  "repo:OWNER@OWNER_ID/REPOSITORY@REPOSITORY_ID:… (ownerId and repositoryId of the preset github)";
