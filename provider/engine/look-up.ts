// What a check looks up where the program has not done so itself (plugin/): the record that `adopt` means, and names of built-in roles.
// It looks only at what is new since the last update, so that most checks send no request.
import { isUidp, type Json } from "../../schema/index.ts";
import { builtInRoleUid, isRoleName, UnknownRole } from "../kind/built-in-role.ts";
import type { CheckFailure } from "../reconcile/index.ts";
import type { Kind } from "../record/kind.ts";
import { containsUnknown, isUnknown, UNKNOWN } from "../record/normal-form.ts";
import { argumentOf, KEY, nameInKey } from "../record/state.ts";
import { pairsIn } from "../set/pair.ts";
import { adoptionChanges, adoptionText, adoptProblem, findAdopted, MATCHES, notOneRecord } from "./adopt.ts";
import type { Adoptions } from "./adoption.ts";
import type { IsSecret, LookedUp, StepParts } from "./steps.ts";

/** The arguments that identify a record, of any kind. */
const IDENTIFYING = ["adopt", "parent", "name", "identity", "role", "email"];

type Parts = Pick<StepParts, "connect" | "hasCredentials">;

export const lookUpRecord = async (
  { connect, hasCredentials, log, again }: StepParts & Pick<Adoptions, "again">,
  kind: Kind,
  olds: Json,
  news: Json,
  isSecret: IsSecret,
): Promise<LookedUp> => {
  const failures = await unknownRoles({ connect, hasCredentials }, kind, olds, news, isSecret);
  const { adopt } = news;
  // A wrong text is refused by the check.
  if (adopt === undefined || adopt === null || isUnknown(adopt) || adoptProblem(adopt) || failures.length > 0)
    return { news, failures };
  if (isAdoptedBefore(olds, adopt)) return { news: { ...news, adopt: olds.adopt }, failures: [] };
  // A uid says by itself which record it is, also where the record is to refer to one that does not exist yet.
  const identifying = adopt === MATCHES ? IDENTIFYING.map((name) => news[name]) : adopt;
  if (containsUnknown(identifying)) return { news: { ...news, adopt: UNKNOWN }, failures: [] };
  const found = await findAdopted(kind, await connect(), news);
  const [record] = found;
  const created = record === undefined ? await again(kind, news, adopt) : undefined;
  if (created) return { news: created, failures: [] };
  if (!record || found.length > 1) {
    const { adopt: _adopt, ...others } = news;
    const reason = notOneRecord(kind, news, found, isSecret(IDENTIFYING));
    if (record === undefined) return { news: others, failures: [], missing: { adopt: adopt as string, reason } };
    return { news: others, failures: [{ property: "adopt", reason }] };
  }
  const name = nameInKey(news[KEY]);
  const isAnySecret = isSecret(Object.keys(news));
  const adopted = adoptionText(kind, name, record, isSecret(IDENTIFYING));
  if (adopted !== undefined) log(adopted);
  const changes = containsUnknown(news)
    ? undefined
    : await adoptionChanges(kind, connect, name, record, news, isAnySecret);
  if (changes !== undefined) log(changes);
  return { news: { ...news, adopt: record.uid }, failures: [] };
};

/**
 * The arguments where nothing can be looked up. Which record is adopted is not known to the check. `shown` is for the engine, which
 * accepts what is not known in a preview alone; an update ends before it uses that.
 */
export const withoutLookUp = (olds: Json, news: Json): LookedUp => {
  if (news.adopt !== MATCHES) return { news, failures: [] };
  if (isAdoptedBefore(olds, MATCHES)) return { news: { ...news, adopt: olds.adopt }, failures: [] };
  return { news: { ...news, adopt: UNKNOWN }, failures: [], shown: { adopt: MATCHES } };
};

/** Adopted by an earlier run. */
const isAdoptedBefore = (olds: Json, adopt: unknown): boolean =>
  isUidp(olds.adopt) && (adopt === MATCHES || adopt === olds.adopt);

const unknownRoles = async (
  parts: Parts,
  kind: Kind,
  olds: Json,
  news: Json,
  isSecret: IsSecret,
): Promise<CheckFailure[]> => {
  const failures: CheckFailure[] = [];
  for (const property of kind.byName.map((field) => argumentOf(kind, field))) {
    const name = news[property];
    if (!isRoleName(name) || name === olds[property]) continue;
    const problem = await roleProblem(parts, name);
    if (problem === undefined) continue;
    failures.push({ property, reason: isSecret([property]) ? "no built-in role has this name" : problem });
  }
  return failures;
};

/** Wrong roles in the pairs of a set. */
export const roleProblems = async (parts: Parts, olds: Json, news: Json): Promise<CheckFailure[]> => {
  const known = new Set(pairsIn(olds).map(({ role }) => role));
  const failures: CheckFailure[] = [];
  for (const [i, pair] of (Array.isArray(news.bindings) ? (news.bindings as unknown[]) : []).entries()) {
    const role = (pair as { role?: unknown } | null)?.role;
    if (!isRoleName(role) || known.has(role)) continue;
    const reason = await roleProblem(parts, role);
    if (reason !== undefined) failures.push({ property: `bindings[${i}].role`, reason });
  }
  return failures;
};

const roleProblem = async ({ connect, hasCredentials }: Parts, name: string): Promise<string | undefined> => {
  // The update refuses it.
  if (!(await hasCredentials())) return undefined;
  try {
    await builtInRoleUid(await connect(), name);
    return undefined;
  } catch (error) {
    if (error instanceof UnknownRole) return error.message;
    throw error;
  }
};
