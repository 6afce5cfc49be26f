// Check of a set: the problems of its arguments, with what only the service knows.
import { isRoot, isUidp, type Json, pairsTwice, roleBindingSet } from "../../schema/index.ts";
import { builtInRoleUid, isRoleName } from "../kind/built-in-role.ts";
import { type CheckFailure, failureFrom, messageProblems } from "../reconcile/check.ts";
import type { LookUpSession } from "../record/kind.ts";
import { isUnknown } from "../record/normal-form.ts";
import { givenArguments } from "../record/state.ts";
import { type DeclaredPair, pairsIn } from "./pair.ts";

export const checkSet = (news: Json): { inputs: Json; failures: CheckFailure[] } => {
  const { names: _names, ...own } = givenArguments(news);
  return { inputs: news, failures: messageProblems(roleBindingSet.arguments, own) };
};

/** The pairs with the uids of their roles. */
export const withRoleUids = async (
  session: LookUpSession,
  pairs: readonly DeclaredPair[],
): Promise<readonly DeclaredPair[]> => {
  const uids = await Promise.all(pairs.map(({ role }) => (isRoleName(role) ? builtInRoleUid(session, role) : role)));
  return pairs.map((pair, i) => ({ ...pair, role: uids[i] as string }));
};

/** A pair that stands there with the name of its built-in role, and with the uid of it. Only the service knows the uid. */
export const sameRoleTwice = async (session: LookUpSession, news: Json): Promise<CheckFailure[]> =>
  pairsTwice(await withRoleUids(session, pairsIn(news)), isUnknown).map(failureFrom);

/** Whether `sameRoleTwice` can find any: most programs write one or the other, and need no request. */
export const mixesNamesAndUids = (news: Json): boolean => {
  const roles = pairsIn(news).map(({ role }) => role);
  return roles.some(isRoleName) && roles.some((role) => isUidp(role) && isRoot(role));
};
