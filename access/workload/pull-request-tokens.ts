// The tokens of jobs of pull requests, as each CI describes its own.
import { type Language, matching } from "../pattern/language.ts";
import type { TokenWorkload } from "./token.ts";

/** A name that the author of a pull request chooses. */
export interface Chosen {
  /** the claim that has it */
  claim: string;
  /** the names that subjects have */
  inSubject(subject: Language): Language;
}

export interface PullRequests {
  workload: TokenWorkload;
  /** counts only where the identity leaves the name open; one that lists names relies on their protection */
  chosen?: Chosen;
  /** counts only where the identity asks for this claim */
  named?: string;
}

/** Tokens of an issuer whose subjects match a pattern. */
export const tokensLike = (
  issuer: Language,
  subject: string,
  claims: ReadonlyMap<string, Language> = new Map(),
): TokenWorkload => ({ kind: "token", issuer, subject: matching(subject), claims });
