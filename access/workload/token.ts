// What a relationship accepts, as languages of the claims of a token.
import type { Json } from "../../schema/index.ts";
import { every, type Language, matching, text, UNKNOWN } from "../pattern/language.ts";

/** Tokens of an issuer. */
export interface TokenWorkload {
  kind: "token";
  issuer: Language;
  subject: Language;
  /** further claims: one that is not here may have any value, and a token lacks one of NOTHING */
  claims: ReadonlyMap<string, Language>;
}

/** Principals of AWS. */
export interface AwsWorkload {
  kind: "aws";
  account: Language;
  arn: Language;
  userId: Language;
}

/** The holder of a key, or a service of the platform: no other workload can become it. */
export interface OtherWorkload {
  kind: "other";
  text: string;
}

export type Workload = TokenWorkload | AwsWorkload | OtherWorkload;

/** What a relationship accepts, as it is written. */
export const acceptedWorkloads = (relationship: Json): Workload[] => {
  const { claimMatch, staticKeys, awsIdentity, ...others } = relationship as Record<string, Json | undefined>;
  if (claimMatch) return [tokensOf(claimMatch)];
  if (awsIdentity)
    return [
      {
        kind: "aws",
        account: languageOf(awsIdentity.awsAccount, undefined),
        arn: languageOf(awsIdentity.arn, awsIdentity.arnPattern),
        userId: languageOf(awsIdentity.userId, awsIdentity.userIdPattern),
      },
    ];
  return [{ kind: "other", text: JSON.stringify(staticKeys ? { staticKeys } : others) }];
};

/** The tokens that a claim match accepts. */
export const tokensOf = (match: Json): TokenWorkload => {
  const claims = new Map<string, Language>();
  const add = (name: string, language: Language) => {
    const known = claims.get(name);
    claims.set(name, known ? every(known, language) : language);
  };
  const take = (name: string): Language => {
    const language = claims.get(name) ?? UNKNOWN;
    claims.delete(name);
    return language;
  };
  add("iss", languageOf(match.issuer, match.issuerPattern));
  add("sub", languageOf(match.subject, match.subjectPattern));
  for (const [name, value] of Object.entries((match.claims ?? {}) as Json)) add(name, languageOf(value, undefined));
  for (const [name, pattern] of Object.entries((match.claimPatterns ?? {}) as Json))
    add(name, languageOf(undefined, pattern));
  // `aud` may be a list, which no claim matches, and the workload chooses it.
  claims.delete("aud");
  return { kind: "token", issuer: take("iss"), subject: take("sub"), claims };
};

/** Neither, and anything but a text, is not known: the API refuses it. */
const languageOf = (exact: unknown, pattern: unknown): Language => {
  if (typeof exact === "string" && exact !== "") return text(exact);
  return typeof pattern === "string" && pattern !== "" ? matching(pattern) : UNKNOWN;
};
