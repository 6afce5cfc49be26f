// Check of a set: all problems at once, each with its path. It needs no network, unless the program
// mixes names and uids of built-in roles, and it skips what a preview does not know yet.
import { isRoot, isUidp, type Json, suggestion } from "../../schema/index.ts";
import { builtInRoleUid, isRoleName } from "../kind/built-in-role.ts";
import type { CheckFailure } from "../reconcile/check.ts";
import type { LookUpSession } from "../record/kind.ts";
import { isUnknown } from "../record/path.ts";
import { given } from "../record/state.ts";
import { pairsIn } from "./pair.ts";

const ARGUMENTS = ["parent", "bindings", "exclusive", "maxRemovals"];
const PAIR = ["identity", "role"];
const UID = "must be a uid: 40 hexadecimal digits, then / and 16 more for each level below";

export const checkSet = (news: Json): { inputs: Json; failures: CheckFailure[] } => {
  const { names: _names, ...own } = given(news);
  const { parent, bindings, exclusive, maxRemovals } = own;
  return {
    inputs: news,
    failures: [
      ...unknownMembers("", own, ARGUMENTS),
      ...uidProblem("parent", parent),
      ...(bindings === undefined ? [failure("bindings", "bindings is required")] : pairProblems(bindings)),
      ...problem("exclusive", exclusive, (value) => typeof value === "boolean", "must be true or false"),
      ...problem(
        "maxRemovals",
        maxRemovals,
        (value) => Number.isInteger(value) && (value as number) >= 0,
        "must be a whole number of role bindings",
      ),
    ],
  };
};

const failure = (property: string, reason: string): CheckFailure => ({ property, reason });

const problem = (
  property: string,
  value: unknown,
  isValid: (value: unknown) => boolean,
  reason: string,
): CheckFailure[] => (value === undefined || isUnknown(value) || isValid(value) ? [] : [failure(property, reason)]);

const uidProblem = (property: string, value: unknown): CheckFailure[] =>
  value === undefined
    ? [failure(property, `${property.replace(/^.*\./, "")} is required`)]
    : problem(property, value, isUidp, UID);

const unknownMembers = (path: string, value: Json, known: readonly string[]): CheckFailure[] =>
  Object.keys(value)
    .filter((name) => !known.includes(name) && value[name] !== undefined)
    .map((name) => failure(path + name, `unknown argument${suggestion(name, known)}`));

const pairProblems = (bindings: unknown): CheckFailure[] => {
  if (isUnknown(bindings)) return [];
  if (!Array.isArray(bindings)) return [failure("bindings", "must be a list of pairs: { identity, role }")];
  const first = new Map<string, number>();
  return bindings.flatMap((pair: unknown, i): CheckFailure[] => {
    const path = `bindings[${i}]`;
    if (isUnknown(pair)) return [];
    if (typeof pair !== "object" || pair === null) return [failure(path, "must be a pair: { identity, role }")];
    const { identity, role } = pair as Json;
    const wrong = [
      ...unknownMembers(`${path}.`, pair as Json, PAIR),
      ...uidProblem(`${path}.identity`, identity),
      ...(isRoleName(role)
        ? []
        : uidProblem(`${path}.role`, role).map((one) =>
            role === undefined ? one : { ...one, reason: `${one.reason}, or the name of a built-in role` },
          )),
    ];
    if (wrong.length > 0 || isUnknown(identity) || isUnknown(role)) return wrong;
    const mark = `${identity} ${role}`;
    const before = first.get(mark);
    if (before !== undefined) return [failure(path, `the same identity and role as bindings[${before}]`)];
    first.set(mark, i);
    return [];
  });
};

/** A pair that stands there with the name of its built-in role, and with the uid of it. Only the service knows the uid. */
export const sameRoleTwice = async (session: LookUpSession, news: Json): Promise<CheckFailure[]> => {
  const first = new Map<string, number>();
  const failures: CheckFailure[] = [];
  for (const [i, { identity, role }] of pairsIn(news).entries()) {
    if (isUnknown(identity) || !(isRoleName(role) || (isUidp(role) && isRoot(role)))) continue;
    const uid = isRoleName(role) ? await builtInRoleUid(session, role) : role;
    const before = first.get(`${identity} ${uid}`);
    if (before === undefined) first.set(`${identity} ${uid}`, i);
    else failures.push(failure(`bindings[${i}]`, `the same identity and role as bindings[${before}]`));
  }
  return failures;
};

/** Whether `sameRoleTwice` can find any: most programs write one or the other, and need no request. */
export const mixesNamesAndUids = (news: Json): boolean => {
  const roles = pairsIn(news).map(({ role }) => role);
  return roles.some(isRoleName) && roles.some((role) => isUidp(role) && isRoot(role));
};
