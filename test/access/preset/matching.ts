// Whether a workload's claims may assume what a preset describes: the matcher of the token exchange decides.
import type { ClaimMatchRelationship } from "../../../access/preset/index.ts";
import { ClaimMatch } from "../../../schema/index.ts";
import { inputViolations } from "../../../schema/input.ts";
import { mismatch, ruleFromClaimMatch } from "../../../server/sts/rule/match.ts";

export type Claims = Readonly<Record<string, unknown>>;

export const isMatch = ({ claimMatch }: ClaimMatchRelationship, claims: Claims): boolean => {
  const violations = inputViolations(ClaimMatch, claimMatch);
  if (violations.length > 0) throw new TypeError(`the API refuses the preset: ${JSON.stringify(violations)}`);
  const rule = ruleFromClaimMatch(claimMatch, () => true);
  const token = {
    issuer: String(claims.iss),
    subject: String(claims.sub),
    audiences: [claims.aud ?? "https://api.example"].flat().map(String),
    claims: { ...claims },
  };
  return mismatch(rule, token as Parameters<typeof mismatch>[1]) === undefined;
};

/** The names of the claims that match. */
export const matchesOf = (relationship: ClaimMatchRelationship, samples: Readonly<Record<string, Claims>>): string[] =>
  Object.entries(samples)
    .filter(([, claims]) => isMatch(relationship, claims))
    .map(([name]) => name);
