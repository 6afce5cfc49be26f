// Which identities a workload can assume. A workload is a set of tokens, by their claims; an identity accepts another set, by its
// relationship. The workload can assume the identity if both have a token in common (access/pattern/decide.ts):
//
//   const releases = workloadsOf({ claimMatch: { issuer, subjectPattern: "repo:acme/.*:ref:refs/heads/main" } });
//   const answer = canBeAssumedBy(identity.relationship, releases);
//   if (answer.is !== "no") …    // "undecided" counts as a workload that can
//
// `workloadsOf` takes a relationship of the API, or of a preset: `presets.github.relationship(args)`. Audiences are not compared: a
// workload asks its issuer for the audience that it wants.
import type { Json } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { type Found, findText } from "../pattern/decide.ts";
import { ANYTHING, every, type Language, matching, UNKNOWN } from "../pattern/language.ts";
import { acceptedBy, impliedTokens, type Workload } from "./token.ts";

export type Assumable =
  | { is: "no" }
  /** claims of a token that both have, by name */
  | { is: "yes"; example: Readonly<Record<string, string>> }
  /** more steps would be needed, or a fact is unknown: it counts as yes */
  | { is: "undecided" };

/** Whether one of the workloads can assume an identity of this relationship; null: unknown who can. */
export const canBeAssumedBy = (
  relationship: Json | null,
  workloads: readonly Workload[],
  budget?: Budget,
): Assumable => {
  if (relationship === null) return workloads.length === 0 ? { is: "no" } : { is: "undecided" };
  const accepted = acceptedBy(relationship);
  const answers = workloads.map((one) => inCommon(accepted, one, budget));
  return answers.find(({ is }) => is === "yes") ?? answers.find(({ is }) => is === "undecided") ?? { is: "no" };
};

/** The workloads that a relationship describes. */
export const workloadsOf = (relationship: Json | null): Workload[] => {
  if (relationship === null) return [{ kind: "token", issuer: UNKNOWN, subject: UNKNOWN, claims: new Map() }];
  const accepted = acceptedBy(relationship);
  return accepted.kind === "token" ? impliedTokens(accepted) : [accepted];
};

const inCommon = (one: Workload, other: Workload, budget: Budget | undefined): Assumable => {
  if (one.kind === "token" && other.kind === "token")
    return answerOf(
      [
        ["iss", every(one.issuer, other.issuer)],
        ["sub", every(one.subject, other.subject)],
        // A claim that the identity does not require may be anything, or be missing.
        ...[...one.claims].map(
          ([name, language]) => [name, every(language, other.claims.get(name) ?? ANYTHING)] as const,
        ),
      ],
      budget,
    );
  if (one.kind === "aws" && other.kind === "aws")
    return answerOf(
      [
        ["account", every(one.account, other.account)],
        ["arn", every(one.arn, other.arn)],
        ["userId", every(one.userId, other.userId)],
      ],
      budget,
    );
  // If nothing is known about a workload, its kind is also unknown.
  if ([one, other].some((own) => own.kind === "token" && own.issuer === UNKNOWN)) return { is: "undecided" };
  return one.kind === "other" && other.kind === "other" && one.text === other.text
    ? { is: "yes", example: {} }
    : { is: "no" };
};

/** Checks each claim by itself: a set of tokens has no other links between its claims. */
const answerOf = (
  claims: readonly (readonly [name: string, language: Language])[],
  budget: Budget | undefined,
): Assumable => {
  const found: [string, Found][] = [];
  for (const [name, language] of claims) {
    const one = findText(language, budget);
    if (one.is === "none") return { is: "no" };
    found.push([name, one.is === "found" && name === "sub" ? likelyIn(language, one, budget) : one]);
  }
  if (found.some(([, { is }]) => is === "undecided")) return { is: "undecided" };
  return {
    is: "yes",
    example: Object.fromEntries(found.map(([name, one]) => [name, (one as { text: string }).text])),
  };
};

/** Subjects in the form of a CI, the likeliest first. A shortest text may lack a name: `repo:acme/:pull_request`. */
const LIKELY: readonly Language[] = [
  "(?:repo|project_path):(?:[a-z0-9-]+(?:@[0-9]+)?/)+images(?:@[0-9]+)?:(?:pull_request|ref:refs/heads/main|ref_type:branch:ref:main)",
  "(?:repo|project_path):(?:[a-z0-9-]+(?:@[0-9]+)?/)+images(?:@[0-9]+)?:(?s:.+)",
  "(?s:[^:/]+(?:[:/][^:/]+)*)",
].map(matching);

/** A plausible example, if there is one. */
const likelyIn = (language: Language, otherwise: Found, budget: Budget | undefined) =>
  LIKELY.map((one) => findText(every(language, one), budget)).find(({ is }) => is === "found") ?? otherwise;
