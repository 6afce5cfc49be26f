// The tokens that a relationship accepts, as languages of their claims.
import type { Json } from "../../schema/index.ts";
import { isEmpty } from "../pattern/decide.ts";
import {
  every,
  isIn,
  type Language,
  matching,
  middle,
  NOTHING,
  not,
  some,
  text,
  UNKNOWN,
} from "../pattern/language.ts";
import { GITHUB_ISSUER } from "../preset/github-actions.ts";

/** Tokens of an issuer. */
export interface TokenWorkload {
  kind: "token";
  issuer: Language;
  subject: Language;
  /** further claims: an absent one may have any value, and a token lacks one with NOTHING */
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
interface OtherWorkload {
  kind: "other";
  text: string;
}

export type Workload = TokenWorkload | AwsWorkload | OtherWorkload;

/** The workloads that a relationship accepts, as written. */
export const acceptedBy = (relationship: Json): Workload => {
  const { claimMatch, staticKeys, awsIdentity, ...others } = relationship as Record<string, Json | undefined>;
  if (claimMatch) return tokensOf(claimMatch);
  if (!awsIdentity) return { kind: "other", text: JSON.stringify(staticKeys ? { staticKeys } : others) };
  const { awsAccount, arn, arnPattern, userId, userIdPattern } = awsIdentity;
  return {
    kind: "aws",
    account: languageOf(awsAccount, undefined),
    arn: languageOf(arn, arnPattern),
    userId: languageOf(userId, userIdPattern),
  };
};

/** The tokens that a claim match accepts. */
export const tokensOf = (match: Json): TokenWorkload => {
  const claims = new Map<string, Language>();
  const add = (name: string, language: Language) => addClaim(claims, name, language);
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

const addClaim = (claims: Map<string, Language>, name: string, language: Language) => {
  const known = claims.get(name);
  claims.set(name, known ? every(known, language) : language);
};

/** Without either, or with anything but a text, the language is unknown: the API refuses it. */
const languageOf = (exact: unknown, pattern: unknown): Language => {
  if (typeof exact === "string" && exact !== "") return text(exact);
  return typeof pattern === "string" && pattern !== "" ? matching(pattern) : UNKNOWN;
};

// The other claims that the subject of a token implies. A workload that is described only by its subject, as presets do, still has them: a
// job of a pull request has no branch.

interface Form {
  subject: Language;
  claims: (subject: Language) => [string, Language][];
}

const rest = () => matching("(?::(?s:.*))?");

/**
 * The part after the repository in the subject, and the claims of such a job: GitHub's own template. Computed on demand: a provider that
 * reviews nothing compiles no pattern.
 */
const formsOfJobs = (): readonly Form[] => [
  {
    subject: matching("repo:[^:]+:(?:pull_request|ref:refs/pull/[^:]+)"),
    claims: () => [
      ["event_name", matching("pull_request(?:_review(?:_comment)?|_target)?")],
      ["ref_protected", text("false")],
      ["environment", NOTHING],
    ],
  },
  {
    subject: matching("repo:[^:]+:environment:[^:]+"),
    // The spelling of a colon differs between the subject and the claim.
    claims: (subject) => [
      [
        "environment",
        some(
          every(matching("[^:%]+"), middle(matching("repo:[^:]+:environment:"), subject, rest())),
          matching(".*[:%].*"),
        ),
      ],
    ],
  },
  {
    subject: matching("repo:[^:]+:ref:refs/(?:heads|tags)/[^:]+"),
    claims: (subject) => [
      ["event_name", not(matching("pull_request(?:_review(?:_comment)?)?"))],
      ["ref", every(matching("refs/(?:heads|tags)/[^:]+"), middle(matching("repo:[^:]+:ref:"), subject, rest()))],
      ["environment", NOTHING],
    ],
  },
];

/** The tokens, with the claims that their subjects imply. */
export const impliedTokens = (tokens: TokenWorkload): TokenWorkload[] => {
  if (isIn(tokens.issuer, GITHUB_ISSUER) !== true) return [tokens];
  const { subject } = tokens;
  const forms = formsOfJobs();
  const parts = forms.map((form) => {
    const subjectHere = every(subject, form.subject);
    return { subject: subjectHere, claims: [...repositoryIn(subjectHere), ...form.claims(subjectHere)] };
  });
  const others = { subject: every(subject, ...forms.map((form) => not(form.subject))), claims: [] };
  return [...parts, others]
    .filter((part) => !isEmpty(part.subject))
    .map((part) => {
      const claims = new Map(tokens.claims);
      for (const [name, language] of part.claims) addClaim(claims, name, language);
      return { ...tokens, subject: part.subject, claims };
    });
};

// A subject may contain the ids of owner and repository after their names, for both or for none: the claims contain only the names.
const repositoryIn = (subject: Language): [string, Language][] => {
  const [owner, rest] = [matching("[^/:@]+"), matching("(?:@[0-9]+)?/(?s:.*)")];
  const hasIds = !isEmpty(every(subject, matching("repo:[^/:]+@[0-9]+/[^/:]+@[0-9]+:(?s:.*)")));
  const names = every(matching("[^/:@]+/[^/:@]+"), middle(text("repo:"), subject, matching("(?s):.*")));
  return [
    ["repository", hasIds ? matching("[^/:@]+/[^/:@]+") : names],
    ["repository_owner", every(owner, middle(text("repo:"), subject, rest))],
  ];
};
