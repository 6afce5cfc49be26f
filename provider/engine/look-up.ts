// Look-ups of a check, if the program has not done them itself (plugin/): the record that `adopt` names, and names of built-in roles. It
// looks up only arguments that are new since the last update, so most checks send no request.

import { type List, listAll, listChildren } from "../../client/records.ts";
import { containsUnknown, isUnknown, UNKNOWN } from "../../pulumi/value.ts";
import {
  bulleted,
  isUidp,
  type Json,
  type LookUpMode,
  lookUpArguments,
  nearestNames,
  printable,
  type Resource,
} from "../../schema/index.ts";
import { builtInRoleUid, isRoleName, UnknownRole } from "../kind/names.ts";
import { pairsIn } from "../kind/pair.ts";
import type { CheckFailure } from "../reconcile/index.ts";
import type { Kind } from "../record/kind.ts";
import { argumentOf, KEY, nameInKey } from "../record/state.ts";
import type { Session } from "../run/session.ts";
import {
  type Adoptions,
  adoptionChanges,
  adoptionText,
  adoptProblem,
  findAdopted,
  isAdoptedBefore,
  MATCHES,
  notOneRecord,
} from "./adoption.ts";
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
  // A uid identifies the record by itself, even if the record is to refer to one that does not exist yet.
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
 * The arguments if nothing can be looked up. The check does not know which record is adopted. `shown` is for the engine, which accepts
 * unknown values only in a preview; an update ends before it uses them.
 */
export const withoutLookUp = (olds: Json, news: Json): LookedUp => {
  if (news.adopt !== MATCHES) return { news, failures: [] };
  if (isAdoptedBefore(olds, MATCHES)) return { news: { ...news, adopt: olds.adopt }, failures: [] };
  return { news: { ...news, adopt: UNKNOWN }, failures: [], shown: { adopt: MATCHES } };
};

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

// Look-ups of one record: exactly one, or an error that lists the records found. Without a parent only root-level records count
// (organizations, built-in roles), so that a record of the same name in a group never hides them.

/** Connects when the arguments are checked. */
type Connect = () => Promise<Session>;

export type Named = { uid: string; name: string };

/** There is not exactly one record: a message for the person who wrote the program. */
export class LookUpError extends Error {
  override readonly name = "LookUpError";
}

/** The look-up itself is wrong. */
export class LookUpArgumentError extends TypeError {
  override readonly name = "LookUpArgumentError";
}

type RequireNamed = (
  resource: Resource,
  args: { name?: unknown; parent?: unknown },
) => asserts args is { name: string; parent?: string };

/** Throws if the arguments of a look-up by name are incomplete. */
export const requireNamed: RequireNamed = ({ word }, args) => {
  const { name, parent } = args;
  if (typeof name !== "string" || name === "")
    throw new LookUpArgumentError(`name of the ${word} to look for is required`);
  if (Object.hasOwn(args, "parent") && typeof parent !== "string")
    throw new LookUpArgumentError(`parent of the ${word} to look for was passed as undefined`);
};

/** The record of a look-up, by the arguments that its kind takes. */
export const getRecord = async <T>(connect: Connect, resource: Resource, args: Json): Promise<T> =>
  (await modes[resource.texts?.lookUp?.by ?? "uid"](connect, resource, args)) as T;

/** The argument with the uid of the parent. */
const placeName = (resource: Resource) => lookUpArguments(resource).at(-1)?.name ?? "parent";

/** Every record of a list. Only the program's filters leave records out. */
export async function* listRecords<T extends { uid: string }>(
  connect: Connect,
  { field, list: { operation, plural } }: Resource,
  args: Json,
): AsyncGenerator<T, void, undefined> {
  const session = await connect();
  // A list of role bindings takes the name of a built-in role.
  const isNamed = field === "roleBinding" && isRoleName(args.role);
  const filters = isNamed ? { ...args, role: await builtInRoleUid(session, args.role as string) } : args;
  yield* listAll<T>(session, { operation, plural }, filters);
}

/** The record of that name in `parent`, or at the root. */
const getNamed = async (connect: Connect, resource: Resource, args: Json): Promise<Named> => {
  requireNamed(resource, args);
  const { word, words, list } = resource;
  const { name, parent } = args;
  const matches: Named[] = [];
  for await (const one of listChildren<Named>(await connect(), list, parent ?? "", { name }))
    if (one.name === name) matches.push(one);
  const [match, ...others] = matches;
  if (match && others.length === 0) return match;
  const where = parent === undefined ? "at the root" : `in ${parent}`;
  const lines = matches.map((one) => `${one.uid} "${printable(one.name)}"`);
  const hint = matches.length === 0 ? await namesInstead(connect, list, parent ?? "", name) : "";
  const found = `${matches.length || "no"} ${matches.length > 1 ? words : word}`;
  throw new LookUpError(bulleted(`${found} named "${name}" ${where}; exactly one is needed${hint}`, ...lines));
};

// Most records that are searched for a similar name.
const LOOKED_AT = 1_000;

const namesInstead = async (connect: Connect, list: List, parent: string, name: string): Promise<string> => {
  const names: string[] = [];
  try {
    for await (const one of listChildren<Named>(await connect(), list, parent)) {
      names.push(one.name);
      if (names.length === LOOKED_AT) break;
    }
  } catch {
    // The name is wrong in any case. A caller who may not list gets no suggestion.
  }
  const near = nearestNames(name, names).map((one) => `"${printable(one)}"`);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
};

/** The record with this uid, or of this name in a `place` that must be given: there are none at the root. */
const getIn = async (connect: Connect, resource: Resource, args: Json) => {
  if (args.uid !== undefined) return getByUid(connect, resource, args.uid);
  const place = placeName(resource);
  const { [place]: parent } = args;
  if (typeof parent !== "string")
    throw new LookUpArgumentError(`${place} of the ${resource.word} to look for is required`);
  return getNamed(connect, resource, { name: args.name, parent });
};

/** The record with this uid. */
const getByUid = async (connect: Connect, { word, list }: Resource, uid: unknown) => {
  if (!isUidp(uid)) throw new LookUpArgumentError(`uid of the ${word} to look for must be a uid`);
  for await (const one of listAll<Named>(await connect(), list, { uidp: { ids: [uid] } }))
    if (one.uid === uid) return one;
  throw new LookUpError(`no ${word} has the uid ${uid}, or none that the caller may read`);
};

type Mode = (connect: Connect, resource: Resource, args: Json) => Promise<unknown>;

const modes: Readonly<Record<LookUpMode, Mode>> = {
  name: getNamed,
  "uid or name": getIn,
  uid: (connect, resource, { uid }) => getByUid(connect, resource, uid),
  parent: (connect, resource, args) => getByUid(connect, resource, args[placeName(resource)]),
};
