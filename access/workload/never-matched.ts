// Claims that no token has, or that hardly any has: `irm check` and the preview of a program say so.
import { type Json, patternMatcher } from "../../schema/index.ts";
import { exactOrPattern, hasWildcard } from "../preset/text.ts";
import { CUSTOMERS } from "./customer.ts";
import type { OpenPattern } from "./open-pattern.ts";
import { ISSUERS } from "./shared-issuer.ts";

export interface NeverMatched extends OpenPattern {
  /** no token has it: it is refused. Otherwise an issuer that this version does not know may write it */
  isCertain: boolean;
}

/** `match` is a claimMatch. `isSecret`: the texts tell nothing of it. */
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

const endsPlain = (issuer: string): boolean =>
  isShared(issuer) || ISSUERS.some((one) => one.endsPlain === true && isIssuerOf(one, issuer));

const isShared = (issuer: unknown): boolean =>
  CUSTOMERS.some((one) => one.issuer !== undefined && one.issuer === issuer);

const isIssuerOf = ({ place: [before, after], name = "[^/]+" }: (typeof ISSUERS)[number], issuer: string): boolean =>
  patternMatcher(`${before}(?:${name})${after}`)(issuer);

/** How the subjects of the services begin that this version knows: none has a * in it. */
const KNOWN_SUBJECT = /^(?:repo|repository|repository_owner|project_path|organization|system:serviceaccount|pulumi):/;

const wildcardIn = (subject: string, issuer: unknown, isSecret: boolean): NeverMatched => {
  const isCertain = isShared(issuer) || KNOWN_SUBJECT.test(subject);
  const parts = exactOrPattern(subject);
  const pattern = "pattern" in parts ? parts.pattern : parts.exact;
  const advice = isSecret ? "use subjectPattern instead" : `write subjectPattern: ${JSON.stringify(pattern)}`;
  const outcome = isCertain ? " and it matches no token; " : "; where it is to stand for any characters, ";
  return { path: ["subject"], text: `is compared byte for byte, so * stands for itself${outcome}${advice}`, isCertain };
};
