// Compares a token's claims with the rule of an identity, without side effects (docs/contract.md#claim-matching). Exact texts
// match byte by byte, patterns in full (`schema/pattern.ts`). All parts must match.
import { type Budget, type ClaimMatch, type Identity, newBudget, patternMatcher } from "../../../schema/index.ts";
import { type Reason, refusal } from "../token/refusal.ts";
import { ownValue } from "../token/strict-json.ts";
import type { WorkloadToken } from "../token/workload.ts";

export type Matcher = (text: string, budget?: Budget) => boolean;

export interface Rule {
  issuer: Matcher;
  subject: Matcher;
  /** one audience of the token must match */
  audience: Matcher;
  claims: [name: string, matches: Matcher][];
}

export const oneOf =
  (texts: readonly string[]): Matcher =>
  (text) =>
    texts.includes(text);

/** The rule of a claim match. Creation checks its oneofs; a record that got past refuses every token. */
export const ruleFromClaimMatch = (match: ClaimMatch, defaultAudience: Matcher): Rule => ({
  issuer: requireMatcher(exactOrPattern(match.issuer, match.issuerPattern)),
  subject: requireMatcher(exactOrPattern(match.subject, match.subjectPattern)),
  audience: exactOrPattern(match.audience, match.audiencePattern) ?? defaultAudience,
  claims: [
    ...Object.entries(match.claims ?? {}).map(([name, value]): Rule["claims"][number] => [name, oneOf([value])]),
    ...Object.entries(match.claimPatterns ?? {}).map(([name, pattern]): Rule["claims"][number] => [
      name,
      patternMatcher(pattern),
    ]),
  ],
});

export const ruleFromStaticKeys = (keys: NonNullable<Identity["staticKeys"]>, defaultAudience: Matcher): Rule => ({
  issuer: requireMatcher(exactOrPattern(keys.issuer, undefined)),
  subject: requireMatcher(exactOrPattern(keys.subject, undefined)),
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

// Two texts would leave open which one decides, and an empty one is no rule.
const exactOrPattern = (exact: string | undefined, pattern: string | undefined): Matcher | undefined => {
  if (exact !== undefined && pattern !== undefined) throw refusal("identity_malformed", "both exact and pattern");
  if (exact === "" || pattern === "") throw refusal("identity_malformed", "an empty text to match");
  if (exact !== undefined) return oneOf([exact]);
  return pattern === undefined ? undefined : patternMatcher(pattern);
};

const requireMatcher = (matcher: Matcher | undefined): Matcher => {
  if (!matcher) throw refusal("identity_malformed", "neither exact nor pattern");
  return matcher;
};

/** Strings and booleans as text. A number has several spellings, and a list or object has no single value. */
const claimText = (value: unknown): string | undefined => {
  if (typeof value === "boolean") return String(value);
  return typeof value === "string" ? value : undefined;
};
