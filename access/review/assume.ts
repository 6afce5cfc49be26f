// Who can assume an identity: its relationship in words, with examples for each pattern.
import { createHash } from "node:crypto";
import { type Json, printable } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { joinWithAnd, quote } from "../text.ts";
import { examplesOf } from "./example.ts";
import type { Assumption, PatternExamples } from "./report.ts";

/** Null: nothing is known of it. */
export const assumptionOf = (relationship: Json | null, budget?: Budget): Assumption | null => {
  if (relationship === null) return null;
  const { claimMatch, staticKeys, awsIdentity, servicePrincipal } = relationship as Record<string, Json | undefined>;
  if (claimMatch) return fromClaims(claimMatch, budget);
  if (staticKeys) return { text: keysText(staticKeys), patterns: [] };
  if (awsIdentity) return fromAws(awsIdentity);
  if (servicePrincipal)
    return { text: `the platform's own service ${printable(String(servicePrincipal))}`, patterns: [] };
  return { text: `a caller that satisfies ${printable(JSON.stringify(relationship))}`, patterns: [] };
};

const WORDS: Readonly<Record<string, string>> = { issuer: "issuer", subject: "subject", audience: "audience" };

const fromClaims = (match: Json, budget: Budget | undefined): Assumption => {
  const patterns: PatternExamples[] = [];
  const parts = Object.keys(WORDS).flatMap((name) => {
    if (match[name]) return [`${WORDS[name]} ${quote(match[name])}`];
    const pattern = match[`${name}Pattern`];
    if (!pattern) return [];
    patterns.push(examplesOf(name, String(pattern), budget));
    return [`${WORDS[name]} matching ${quote(pattern)}`];
  });
  for (const [claim, value] of Object.entries((match.claims ?? {}) as Json))
    parts.push(`${claimName(claim)} ${quote(value)}`);
  for (const [claim, pattern] of Object.entries((match.claimPatterns ?? {}) as Json)) {
    patterns.push(examplesOf(claim, String(pattern)));
    parts.push(`${claimName(claim)} matching ${quote(pattern)}`);
  }
  return { text: `a workload whose token has ${joinWithAnd(parts)}`, patterns };
};

/** Quoted where it could be read as more than a name, or as a part that is no claim. */
const claimName = (claim: string): string =>
  PLAIN_NAME.test(claim) && !Object.hasOwn(WORDS, claim) ? claim : quote(claim);

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_.:/-]*$/;

const keysText = ({ issuer, subject, expirationTime, issuerKeys }: Json): string => {
  const print = issuerKeys ? ` (SHA-256 ${fingerprint(String(issuerKeys))}…)` : "";
  const until = expirationTime ? `, until ${printable(String(expirationTime))}` : "";
  return `a workload that signs with one of the identity's own keys${print}, as issuer ${quote(issuer)} and subject ${quote(subject)}${until}`;
};

/** Distinguishes keys of one issuer and subject. */
export const fingerprint = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

const fromAws = (aws: Json): Assumption => {
  const patterns: PatternExamples[] = [];
  const parts = ["arn", "userId"].flatMap((name) => {
    const word = name === "arn" ? "ARN" : "user id";
    if (aws[name]) return [`${word} ${quote(aws[name])}`];
    const pattern = aws[`${name}Pattern`];
    if (!pattern) return [];
    patterns.push(examplesOf(name, String(pattern)));
    return [`${word} matching ${quote(pattern)}`];
  });
  return {
    text: `an AWS principal of account ${printable(String(aws.awsAccount))} with ${joinWithAnd(parts)}`,
    patterns,
  };
};
