// Subjects of GitHub with and without the numeric ids of owner and repository. A repository sends one form or the other: repositories that
// were created, renamed or transferred after 15 July 2026 send ids (https://docs.github.com/actions/reference/security/oidc).
import { getOrInsert, type Json } from "../../schema/index.ts";
import type { Budget } from "../pattern/budget.ts";
import { findText } from "../pattern/decide.ts";
import { every, isIn, matching } from "../pattern/language.ts";
import { GITHUB_ISSUER } from "../preset/github-actions.ts";
import { tokensOf } from "./token.ts";

const WITH_IDS = "repo:[^/:@]+@[0-9]+/[^/:@]+@[0-9]+:(?s:.*)";
const WITHOUT_IDS = "repo:[^/:@]+/[^/:@]+:(?s:.*)";

/** Undefined: it does not belong to a repository of GitHub, accepts both forms, or cannot be decided. */
const formOf = (match: Json, budget: Budget | undefined): { owner: string; hasIds: boolean } | undefined => {
  const { issuer, subject } = tokensOf(match);
  if (isIn(issuer, GITHUB_ISSUER) !== true) return undefined;
  const [ids, none] = [WITH_IDS, WITHOUT_IDS].map((form) => findText(every(subject, matching(form)), budget));
  const [found, other] = ids?.is === "found" ? [ids, none] : [none, ids];
  if (found?.is !== "found" || other?.is !== "none") return undefined;
  const [, owner = ""] = /^repo:([^/:@]+)/.exec(found.text) ?? [];
  return { owner: owner.toLowerCase(), hasIds: found === ids };
};

interface Mixed<K> {
  /** an identity without ids in its subject */
  plain: K;
  /** an identity of the owner with them */
  beside: K;
}

/** Takes identities one by one, and returns those that turn out to lack ids, each once. */
export const mixedIdsFinder = <K>(): ((key: K, match: Json, budget?: Budget) => Mixed<K>[]) => {
  const owners = new Map<string, { plain: Set<K>; beside?: K }>();
  const reported = new Set<K>();
  return (key, match, budget) => {
    const form = formOf(match, budget);
    if (form === undefined) return [];
    const owner = getOrInsert(owners, form.owner, (): { plain: Set<K>; beside?: K } => ({ plain: new Set() }));
    if (form.hasIds) owner.beside ??= key;
    else owner.plain.add(key);
    const { beside } = owner;
    if (beside === undefined) return [];
    const fresh = [...owner.plain].filter((one) => one !== beside && !reported.has(one));
    for (const one of fresh) reported.add(one);
    return fresh.map((plain) => ({ plain, beside }));
  };
};

/** `beside` names the other identity. */
export const mixedIdsText = (beside: string): string =>
  `has a GitHub subject without numeric ids, and ${beside}, of the same owner, has one with them: a repository that was created, renamed ` +
  "or transferred after 15 July 2026 sends them, and then this subject matches no token. If this one does, write " +
  "repo:OWNER@OWNER_ID/REPOSITORY@REPOSITORY_ID:… (ownerId and repositoryId of the preset github)";
