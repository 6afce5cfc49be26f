// Patterns that let in everyone, or restrict nothing: `irm check` refuses them in a policy, and the preview of a program warns about them.
import { getOrInsert, type Json, patternMatcher } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { type Found, findText, firstFound, hasMoreThan, isEmpty, LISTED_MAX, NONE } from "../pattern/decide.ts";
import { ANYTHING, every, isIn, type Language, matching, NOTHING, not, small, text } from "../pattern/language.ts";
import { GITHUB_ISSUER } from "../preset/github-actions.ts";
import { exactOrPattern, hasWildcard } from "../preset/preset.ts";
import { between, CUSTOMERS, type Customers, ISSUERS, namesIn } from "./customer.ts";
import { type TokenWorkload, tokensOf } from "./token.ts";

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
  isShared(issuer) ||
  ISSUERS.some(
    ({ endsPlain: ends, place: [before, after], name = "[^/]+" }) =>
      ends === true && patternMatcher(`${before}(?:${name})${after}`)(issuer),
  );

const isShared = (issuer: unknown) => CUSTOMERS.some((one) => one.issuer !== undefined && one.issuer === issuer);

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

// Whether an identity is open to every customer of a shared service: its patterns leave the customer open.

/** Whose workloads it lets in, in words: `every owner of GitHub, such as "evil"`. An undecided question counts as everyone's. */
export const everyoneIn = (relationship: Json | null, budget?: Budget): Found => {
  const { claimMatch } = (relationship ?? {}) as Record<string, Json | undefined>;
  if (!claimMatch) return NONE;
  return firstFound(openings(tokensOf(claimMatch), budget), ({ words, names }) => {
    const example = exampleOf(names, budget);
    if (example === undefined) return { is: "undecided" };
    return { is: "found", text: `${words}, such as ${JSON.stringify(example)}` };
  });
};

function* openings(tokens: TokenWorkload, budget: Budget | undefined): Generator<{ words: string; names: Language }> {
  const isOneIssuer = tokens.issuer.kind === "text";
  for (const { words, place, name = "[^/]+" } of isOneIssuer ? [] : ISSUERS) {
    const names = every(matching(name), between(place, tokens.issuer));
    if (isOpen(names, budget)) yield { words, names };
  }
  for (const customers of CUSTOMERS) {
    const { issuer, service, word, top } = customers;
    if (issuer === undefined || isEmpty(every(tokens.issuer, text(issuer)), budget)) continue;
    if (isPinned(tokens, customers, budget)) continue;
    const names = top ? every(matching(top.name), between(top.place, tokens.subject)) : namesIn(tokens, customers);
    if (isOpen(names, budget)) yield { words: `every ${word} of ${service}`, names };
    const anonymous = every(
      tokens.subject,
      customers.anonymous === undefined ? NOTHING : matching(customers.anonymous),
    );
    if (!isEmpty(anonymous, budget))
      yield { words: `every ${word} of ${service}, whose subjects can be the same`, names: anonymous };
  }
}

/** undefined: undecided. */
const exampleOf = (names: Language, budget: Budget | undefined) => {
  const first = findText(names, budget);
  if (first.is !== "found") return undefined;
  // The shortest name often belongs to the intended customer.
  const others = [text("someone-else"), every(matching("[a-z0-9-]+"), not(text(first.text))), not(text(first.text))];
  const found = others.map((one) => findText(every(names, one), budget)).find((one) => one.is === "found");
  return found?.is === "found" ? found.text : first.text;
};

/** Case does not distinguish names. */
const isOpen = (names: Language, budget: Budget | undefined) =>
  hasMoreThan(LISTED_MAX, names, budget) && hasMoreThan(LISTED_MAX, small(names), budget);

/** A claim leaves few customers, whatever the subject is. */
const isPinned = ({ claims }: TokenWorkload, customers: Customers, budget: Budget | undefined) => {
  const { name, marks, pins } = customers;
  const named = Object.entries(customers.claims).map(([claim, place]) => ({ claim, place, part: matching(name) }));
  const other = [...Object.entries(marks), ...pins.map((claim) => [claim, ["", ""]] as const)];
  return [...named, ...other.map(([claim, place]) => ({ claim, place, part: ANYTHING }))].some(
    ({ claim, place, part }) => {
      const language = claims.get(claim);
      return language !== undefined && !isOpen(every(part, between(place, language)), budget);
    },
  );
};
