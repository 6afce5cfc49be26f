// Compares a workload's token with the identity that it wants, field by field: the exchange refuses a stranger without a reason. Written
// independently of the server's own comparison (docs/internals/contract.md#claim-matching), and tested against it.
import { isObject, type Json, newBudget, patternMatcher, STATIC_KEYS_LIFE_MS } from "../../schema/index.ts";
import { quote, relativeTimeText } from "../text.ts";

export interface ClaimCheck {
  /** name of the claim, or of the field of the identity if no claim decides: `sub`, `expirationTime` */
  claim: string;
  isMet: boolean;
  /** the value in the token, and the value that the identity requires */
  message: string;
  fix?: string;
}

export interface Comparison {
  claims: Json;
  /** the `aud` values that the exchange accepts for an identity that names no audience */
  audiences: readonly string[];
  /** the time by the service's clock */
  nowMs: number;
}

/** The exchange's tolerance for times, and the longest life of a token that it accepts. */
const LEEWAY_SECONDS = 60;
const LIFE_MAX_SECONDS = 24 * 60 * 60;

export const compareClaims = (identity: Json, { claims, audiences, nowMs }: Comparison): ClaimCheck[] => {
  const { claimMatch, staticKeys, awsIdentity, servicePrincipal } = identity;
  const times = compareTimes(claims, nowMs);
  if (isObject(claimMatch)) return [...compareMatch(claimMatch, claims, audiences), ...times];
  if (isObject(staticKeys)) return [...compareKeys(identity, staticKeys, { claims, audiences, nowMs }), ...times];
  const other = awsIdentity ? "awsIdentity" : servicePrincipal ? "servicePrincipal" : undefined;
  return [
    {
      claim: other ?? "claimMatch",
      isMet: false,
      message: other
        ? `the identity has ${other}, and no token of a workload can be exchanged for it`
        : "the identity says of no token that it may assume it",
      fix: "name another identity in IRM_IDENTITY, or create one with a claimMatch for this workload",
    },
  ];
};

/** The requirement of a field of the identity on a claim. */
interface Wanted {
  claim: string;
  /** its place in the identity: `claimMatch.subject` */
  field: string;
  texts?: readonly string[];
  pattern?: string;
}

const compareMatch = (match: Json, claims: Json, audiences: readonly string[]): ClaimCheck[] => {
  const exactOrPattern = (claim: string, name: string): Wanted =>
    typeof match[`${name}Pattern`] === "string" && match[`${name}Pattern`] !== ""
      ? { claim, field: `claimMatch.${name}Pattern`, pattern: match[`${name}Pattern`] as string }
      : { claim, field: `claimMatch.${name}`, texts: textsOf(match[name]) };
  const audience = exactOrPattern("aud", "audience");
  return [
    exactOrPattern("iss", "issuer"),
    exactOrPattern("sub", "subject"),
    audience.texts?.length === 0 ? defaultAudience(audiences) : audience,
    ...Object.entries((match.claims ?? {}) as Json).map(
      ([claim, text]): Wanted => ({ claim, field: `claimMatch.claims.${claim}`, texts: [String(text)] }),
    ),
    ...Object.entries((match.claimPatterns ?? {}) as Json).map(
      ([claim, text]): Wanted => ({ claim, field: `claimMatch.claimPatterns.${claim}`, pattern: String(text) }),
    ),
  ].map((wanted) => compare(wanted, claims));
};

const compareKeys = (identity: Json, keys: Json, { claims, audiences, nowMs }: Comparison): ClaimCheck[] => {
  const own = ((keys.audiences ?? []) as unknown[]).flatMap(textsOf);
  const end =
    typeof keys.expirationTime === "string"
      ? Date.parse(keys.expirationTime)
      : Date.parse(String(identity.createTime)) + STATIC_KEYS_LIFE_MS;
  const until = Number.isFinite(end) ? relativeTimeText(end, nowMs) : "a time that cannot be read";
  const isMet = nowMs < end;
  return [
    ...[
      { claim: "iss", field: "staticKeys.issuer", texts: textsOf(keys.issuer) },
      { claim: "sub", field: "staticKeys.subject", texts: textsOf(keys.subject) },
      own.length > 0 ? { claim: "aud", field: "staticKeys.audiences", texts: own } : defaultAudience(audiences),
    ].map((wanted) => compare(wanted, claims)),
    {
      claim: "expirationTime",
      isMet,
      message: `the identity's own keys are good until ${until}`,
      fix: isMet ? undefined : "create the identity again with new keys: keys do not change",
    },
  ];
};

const textsOf = (value: unknown) => (typeof value === "string" && value !== "" ? [value] : []);

const defaultAudience = (texts: readonly string[]): Wanted => ({ claim: "aud", field: "the default audience", texts });

const compare = ({ claim, field, texts, pattern }: Wanted, claims: Json): ClaimCheck => {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  // One of several audiences suffices. Every other claim has one value.
  const values = claim === "aud" && Array.isArray(value) ? value : [value];
  const has = values.map((one) => textIn(claim, one));
  const matches = pattern === undefined ? undefined : patternMatcher(pattern);
  const budget = newBudget();
  const isMet = has.some((text) => text !== undefined && (matches?.(text, budget) ?? texts?.includes(text) ?? false));
  const wants = pattern === undefined ? (texts ?? []).map(quote).join(" or ") : `a match of ${quote(pattern)}`;
  if (isMet) return { claim, isMet, message: `${values.map(valueText).join(", ")}, as ${field} wants` };
  return {
    claim,
    isMet,
    message: `the token has ${values.map((one, i) => describe(one, has[i])).join(", ")}; the identity wants ${wants || "nothing that a token can have"} (${field})${difference(has, texts)}`,
    fix:
      claim === "aud"
        ? "have the workload's issuer write an audience that the identity wants, or change claimMatch.audience"
        : `use a token whose ${claim} is as the identity wants it, or change ${field} of the identity`,
  };
};

/** Strings and booleans in the form that the exchange compares; undefined: no rule matches it. */
const textIn = (claim: string, value: unknown) => {
  if (typeof value === "boolean" && claim !== "iss" && claim !== "sub" && claim !== "aud") return String(value);
  if (typeof value !== "string") return undefined;
  // Google's tokens have two names for their issuer (docs/internals/contract.md#claim-matching).
  return claim === "iss" && value === "accounts.google.com" ? "https://accounts.google.com" : value;
};

const VALUE_MAX = 300;

const valueText = (value: unknown) => {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const cut = text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text;
  return typeof value === "string" ? quote(cut) : cut;
};

const describe = (value: unknown, text: string | undefined) => {
  if (value === undefined) return "no such claim";
  return text === undefined ? `${valueText(value)}, which is not a text` : valueText(value);
};

/** Names the difference of texts that look equal to a reader. */
const difference = (has: readonly (string | undefined)[], wants: readonly string[] = []) => {
  const pairs = has.flatMap((one) => (one === undefined ? [] : wants.map((other) => [one, other] as const)));
  const differOnlyBy = (normal: (text: string) => string) =>
    pairs.some(([one, other]) => normal(one) === normal(other));
  if (differOnlyBy((text) => text.toLowerCase())) return "; they differ in upper and lower case only";
  if (differOnlyBy((text) => text.replace(/\/$/, ""))) return "; they differ in the slash at the end only";
  if (differOnlyBy((text) => text.replace(/^repo:([^/:@]+)@\d+\/([^/:@]+)@\d+:/, "repo:$1/$2:")))
    return "; they differ in the numeric ids of the owner and the repository only";
  return differOnlyBy((text) => text.trim()) ? "; they differ in white space at an end only" : "";
};

/** Claims that are times: seconds since 1970 (RFC 7519, 4.1; OpenID Connect Core 1.0, 2). */
const TIMES = ["exp", "nbf", "iat", "auth_time", "updated_at"];

/** The value of a claim that may be a time. */
export const claimText = (name: string, value: unknown, nowMs: number): string =>
  TIMES.includes(name) && typeof value === "number" ? relativeTimeText(value * 1000, nowMs) : valueText(value);

/** The times of a token, as the exchange judges them. */
export const compareTimes = (claims: Json, nowMs: number): ClaimCheck[] => {
  const [exp, nbf, iat] = ["exp", "nbf", "iat"].map((name) => claims[name]);
  const now = nowMs / 1000;
  const shownClaim = (name: string) => claimText(name, claims[name], nowMs);
  const isLate = (time: unknown) => typeof time === "number" && time > now + LEEWAY_SECONDS;
  const life = Number(exp) - (typeof iat === "number" ? iat : now);
  return [
    typeof exp !== "number"
      ? timeCheck("exp", false, "the token has no end, and the exchange wants one")
      : exp <= now - LEEWAY_SECONDS
        ? timeCheck("exp", false, `the token ended at ${shownClaim("exp")}`)
        : life > LIFE_MAX_SECONDS
          ? timeCheck("exp", false, `the token is good for ${Math.round(life / 3600)} hours, and the exchange takes 24`)
          : timeCheck("exp", true, `good until ${shownClaim("exp")}`),
    ...(isLate(nbf) ? [timeCheck("nbf", false, `the token begins at ${shownClaim("nbf")}`)] : []),
    ...(isLate(iat) ? [timeCheck("iat", false, `the token was issued at ${shownClaim("iat")}, in the future`)] : []),
  ];
};

const timeCheck = (claim: string, isMet: boolean, message: string) => ({
  claim,
  isMet,
  message,
  fix: isMet ? undefined : "get a new token for the workload; the issuer's clock may be wrong",
});
