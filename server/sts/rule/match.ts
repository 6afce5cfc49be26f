// Compares a token's claims with the rule of an identity, without side effects (docs/internals/contract.md#claim-matching). Exact texts
// match byte by byte, patterns in full (`schema/pattern.ts`). All parts must match.
import {
  type Budget,
  type ClaimMatch,
  type Identity,
  newBudget,
  PATTERN_ATOM,
  patternMatcher,
} from "../../../schema/index.ts";
import { ownValue } from "../token/compact.ts";
import { type Reason, refusal } from "../token/refusal.ts";
import type { WorkloadToken } from "../token/workload.ts";

export type Matcher = (text: string, budget?: Budget) => boolean;

export interface Rule {
  issuer: Matcher;
  subject: Matcher;
  /** one audience of the token must match */
  audience: Matcher;
  claims: (readonly [name: string, matches: Matcher])[];
}

export const oneOf =
  (texts: readonly string[]): Matcher =>
  (text) =>
    texts.includes(text);

/** The rule of a claim match. Creation checks its oneofs; a record that got past refuses every token. */
export const ruleFromClaimMatch = (match: ClaimMatch, defaultAudience: Matcher): Rule => ({
  issuer: requiredMatcher(match.issuer, match.issuerPattern),
  subject: requiredMatcher(match.subject, match.subjectPattern),
  audience: exactOrPattern(match.audience, match.audiencePattern) ?? defaultAudience,
  claims: [
    ...Object.entries(match.claims ?? {}).map(([name, value]) => [name, oneOf([value])] as const),
    ...Object.entries(match.claimPatterns ?? {}).map(([name, pattern]) => [name, patternMatcher(pattern)] as const),
  ],
});

export const ruleFromStaticKeys = (keys: NonNullable<Identity["staticKeys"]>, defaultAudience: Matcher): Rule => ({
  issuer: requiredMatcher(keys.issuer),
  subject: requiredMatcher(keys.subject),
  audience: keys.audiences?.length ? oneOf(keys.audiences) : defaultAudience,
  claims: [],
});

/** A part of a rule that a token does not meet. */
export interface Mismatch {
  /** for the audit line */
  reason: Extract<Reason, "issuer" | "subject" | "audience" | "claim">;
  /** name of the claim */
  claim: string;
}

/** The first part of the rule that a token does not meet. */
export const mismatch = (rule: Rule, token: WorkloadToken): Mismatch | undefined => {
  const budget = newBudget();
  if (!rule.issuer(token.issuer, budget)) return { reason: "issuer", claim: "iss" };
  if (!rule.subject(token.subject, budget)) return { reason: "subject", claim: "sub" };
  if (!token.audiences.some((audience) => rule.audience(audience, budget))) return { reason: "audience", claim: "aud" };
  const unmet = rule.claims.find(([name, matches]) => {
    const text = claimText(ownValue(token.claims, name));
    return text === undefined || !matches(text, budget);
  });
  return unmet && { reason: "claim", claim: unmet[0] };
};

// Two texts would leave open which one decides, and an empty one is not a rule.
const exactOrPattern = (exact?: string, pattern?: string): Matcher | undefined => {
  if (exact !== undefined && pattern !== undefined) throw refusal("identity_malformed", "both exact and pattern");
  if (exact === "" || pattern === "") throw refusal("identity_malformed", "an empty text to match");
  if (exact !== undefined) return oneOf([exact]);
  return pattern === undefined ? undefined : patternMatcher(pattern);
};

const requiredMatcher = (exact?: string, pattern?: string) => {
  const matcher = exactOrPattern(exact, pattern);
  if (!matcher) throw refusal("identity_malformed", "neither exact nor pattern");
  return matcher;
};

/** Strings and booleans as text. A number has several spellings, and a list or object has no single value. */
const claimText = (value: unknown) => {
  if (typeof value === "boolean") return String(value);
  return typeof value === "string" ? value : undefined;
};

// Warns of issuer patterns: the operator of any host that one matches can sign tokens for the identity. Only a line of the log,
// since the published API accepts such patterns.

// `https://issuer\.example` and then a port, a path or the end.
const FIXED_HOST =
  /^\^?https?:(?:\\?\/){2}(?:(?:[a-z0-9-]|\\-)+(?:\\\.(?:[a-z0-9-]|\\-)+)*|\\\[[0-9a-f:]+\\?\])(?::|\\?\/|\(\??:?\\?\/|\$?$)/;

/** Why an issuer pattern may match unintended hosts; undefined when it spells out every host. */
export const issuerPatternWarning = (pattern: string): string | undefined => {
  const alternatives = alternativesOf(pattern);
  if (alternatives.some((atoms) => atoms.some((atom, i) => atom === "." && !/^[*+?{]/.test(atoms[i + 1] ?? ""))))
    return "a dot without a backslash matches any character";
  if (alternatives.some((atoms) => !FIXED_HOST.test(atoms.join("")))) return "it does not spell out one host";
  return undefined;
};

// Splits the whole pattern, not a group in it.
const alternativesOf = (pattern: string): string[][] => {
  const alternatives: string[][] = [[]];
  let depth = 0;
  for (const [atom] of pattern.matchAll(PATTERN_ATOM)) {
    if (atom === "(") depth += 1;
    if (atom === ")") depth -= 1;
    if (atom === "|" && depth === 0) alternatives.push([]);
    else (alternatives.at(-1) as string[]).push(atom);
  }
  return alternatives;
};
