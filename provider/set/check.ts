// Check of a set: all problems at once, each with its path. It needs no network, and it skips what a preview does not know yet.
import { isUidp, type Json, suggestion } from "../../schema/index.ts";
import { isRoleName } from "../kind/built-in-role.ts";
import type { CheckFailure } from "../reconcile/check.ts";
import { isUnknown } from "../state/path.ts";
import { given } from "../state/state.ts";

const ARGUMENTS = ["parent", "bindings", "exclusive", "maxRemovals"];
const PAIR = ["identity", "role"];
const UID = "must be a uid: 40 hexadecimal digits, then /16 for each level below";

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
