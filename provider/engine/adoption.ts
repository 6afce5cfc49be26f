// Resolves `adopt` against the history of a resource. It applies to a resource that has no record yet. A resource that has a record keeps
// it, and one whose record was deleted creates another. The engine's state shows that the resource had the record. So does the journal, in
// which a refresh notes it (provider/run/journal.ts): the engine drops such a resource from its state. For any other missing record the uid
// stays an error.
import { existsSync } from "node:fs";
import { uidsIn } from "../../access/policy/uids.ts";
import { listAll, listChildren } from "../../client/records.ts";
import { projectFolder } from "../../pulumi/project.ts";
import { UNKNOWN } from "../../pulumi/value.ts";
import { bulleted, canonicalForm, isObject, isUidp, type Json, valueAt } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { isRoleName } from "../kind/names.ts";
import type { Removed } from "../log/entry.ts";
import type { CheckFailure } from "../reconcile/index.ts";
import { changeOf, desiredFrom, fixedText, withUids } from "../record/desired.ts";
import { identityOf, isMatch, isSameIdentity, placeOfRecord, recordId } from "../record/id.ts";
import { type Kind, pluralOf, title } from "../record/kind.ts";
import { observe } from "../record/normal-form.ts";
import { FORMER, isEmpty, KEY, MATCH, nameInKey, placeInKey, withPlace } from "../record/state.ts";
import type { Session } from "../run/session.ts";
import type { NotFound, StepParts } from "./steps.ts";

export type Adoptions = ReturnType<typeof adoptionsWith>;

/** The arguments with the resolved `adopt`. */
interface Adopted {
  news: Json;
  missing?: NotFound;
  /** the program has not looked up the uid, such as a uid of the file beside it */
  isUnseen?: boolean;
}

export const adoptionsWith = ({ ledger, connect, log, cwd }: StepParts) => {
  const uids = uidsOfProgram(cwd);
  // By key: the `adopt` of a resource in the state. Its next check, without inputs in the state, is for its replacement.
  const inState = new Map<unknown, unknown>();
  const reported = new Set<unknown>();

  const removedOf = async (kind: Kind, key: unknown) =>
    typeof key === "string" ? (await ledger()).journal.removedOf(key, kind.field) : undefined;
  // Another name means another record, which the resource never had.
  const matchesRemoved = async (kind: Kind, { removed, identity }: Removed, news: Json) => {
    const { parent, args } = await withUids(await connect(), desiredFrom(kind, news));
    return isSameIdentity(kind, identity, identityOf(kind, parent, args, removed));
  };
  /** The arguments of a resource that creates its record again: `adopt` names the deleted record, and no record is found. */
  const again = async (kind: Kind, news: Json, adopt: unknown): Promise<Json | undefined> => {
    const line = await removedOf(kind, news[KEY]);
    const isSame = adopt === MATCHES ? line && (await matchesRemoved(kind, line, news)) : adopt === line?.removed;
    if (line === undefined || !isSame) return undefined;
    if (!reported.has(news[KEY])) {
      reported.add(news[KEY]);
      const name = nameInKey(news[KEY]);
      log(`${kind.type} ${name} creates its ${kind.word} again: ${line.removed}, which it had adopted, was deleted`);
    }
    return withFormer(news, line.removed);
  };

  return {
    /** The arguments with the resolved `adopt`. `olds` are the inputs in the state, none for a new resource. */
    adopted: async (kind: Kind, olds: Json, asked: Json): Promise<Adopted> => {
      const { [KEY]: key, [MATCH]: match } = asked;
      const { adopt: given, ...others } = asked;
      const missing = isNotFound(given) ? given : undefined;
      const adopt = missing ? missing.adopt : (given ?? undefined);
      const isNew = isEmpty(olds);
      const file = adopt === undefined && match === undefined ? uids().get(placeInKey(key)) : undefined;
      const uid = adopt ?? match ?? file;
      if (!isNew) {
        const before = olds.adopt ?? olds[FORMER];
        inState.set(key, before);
        if (uid !== undefined && uid === olds[FORMER]) return { news: withFormer(asked, uid as string) };
        if (file !== undefined) return { news: file === before ? { ...asked, adopt: file } : asked };
        if (missing === undefined) return { news: asked };
        if (isAdoptedBefore(olds, adopt)) return { news: { ...asked, adopt: olds.adopt } };
        if (adopt !== MATCHES) return { news: others, missing };
        return { news: isUidp(olds[FORMER]) ? withFormer(asked, olds[FORMER]) : others };
      }
      const news = missing && (await again(kind, asked, adopt));
      if (news) return { news };
      // A program passes the uid that its resource had before the refresh, and a component may pass one, without having seen the record.
      if (isUidp(uid) && uid === (await removedOf(kind, key))?.removed) return unseen(asked, uid);
      if (isUidp(uid)) {
        const isOwn = inState.get(key) === uid;
        if (isOwn || (await ledger()).ownership.isOwnedBy(recordId(kind.field, uid), String(key)))
          return { news: withFormer(asked, uid) };
      }
      if (missing !== undefined) return { news: others, missing };
      return file === undefined ? { news: asked } : unseen(asked, file);
    },
    again,
    /** A refresh has found no record of the resource with these outputs and inputs. */
    noteRemoved: async (kind: Kind, { journal }: Session, id: string, stored: Json, inputs: Json): Promise<void> => {
      const { [KEY]: key, [FORMER]: former = id } = stored;
      if (typeof key !== "string") return;
      const isAdopted = stored.adopted === true || stored[FORMER] !== undefined || inputs.adopt === id;
      if (!isAdopted && uids().get(placeInKey(key)) !== id) return;
      const removed = former as string;
      const { args } = desiredFrom(kind, observe(kind, withPlace(kind, id, stored)));
      const identity = identityOf(kind, placeOfRecord(kind, id), args, removed);
      await journal.noteRemoved({ removed, kind: kind.field, key, identity });
    },
  };
};

/** The value that a program passes in place of the argument if it has found no record. */
const isNotFound = (adopt: unknown): adopt is NotFound =>
  isObject(adopt) && typeof adopt.adopt === "string" && typeof adopt.reason === "string";

/** Names no property for such an object: the engine would print it as the argument's value. */
export const missingFailure = ({ reason }: NotFound, { adopt }: Json): CheckFailure =>
  isNotFound(adopt) ? { property: "", reason: `adopt: ${reason}` } : { property: "adopt", reason };

const unseen = ({ [MATCH]: _match, ...others }: Json, uid: string): Adopted => ({
  news: { ...others, adopt: uid },
  isUnseen: true,
});

/** The resource creates a record: its `adopt` has done its work. */
const withFormer = ({ adopt: _adopt, [MATCH]: _match, ...others }: Json, uid: string): Json => ({
  ...others,
  [FORMER]: uid,
});

/** The uids that the file beside the program assigns to its resources. The file is read once. */
const uidsOfProgram = (cwd: string) => {
  let uids: ReadonlyMap<string, string> | undefined;
  return () => {
    const folder = uids === undefined ? projectFolder(cwd, existsSync) : undefined;
    uids ??= (folder === undefined ? undefined : uidsIn(folder)?.uids.resources) ?? new Map();
    return uids;
  };
};

// Adoption, without Pulumi: finds the record that `adopt` names, and the changes that adopting it makes.

/** "match" is the only record with the same parent and name. */
export const MATCHES = "match";

/** Whether an earlier run has adopted the record that the argument names. */
export const isAdoptedBefore = (olds: Json, adopt: unknown): boolean =>
  isUidp(olds.adopt) && (adopt === MATCHES || adopt === olds.adopt);

/** The problem of the argument; undefined if it can be looked up. */
export const adoptProblem = (adopt: unknown): string | undefined =>
  adopt === MATCHES || isUidp(adopt) ? undefined : 'must be "match", or the uid of the record';

/**
 * The records that `adopt` names: nothing is adopted unless there is exactly one. For "match", `args` identify the record, and all of them
 * are known.
 */
export const findAdopted = async (kind: Kind, session: Session, args: Json): Promise<Json[]> => {
  const { adopt, parent = "" } = args;
  const observed = (one: Json) => observe(kind, one);
  // Each is checked again: a service that ignored a filter must not choose the adopted record.
  if (adopt !== MATCHES) {
    const records = await Array.fromAsync(listAll(session, kind.list, { uidp: { ids: [adopt as string] } }), observed);
    return records.filter(({ uid }) => uid === adopt);
  }
  const identifying = (await withUids(session, desiredFrom(kind, args))).args;
  const children = listChildren(session, kind.list, parent as string, kind.filters(identifying));
  return (await Array.fromAsync(children, observed)).filter((record) => isMatch(kind, record, identifying));
};

/** Why nothing is adopted: `found` is not one record. Secret names are not shown. */
export const notOneRecord = (
  kind: Kind,
  { adopt, parent }: Json,
  found: readonly Json[],
  isSecret: boolean,
): string => {
  const words = pluralOf(kind.word);
  const what = adopt === MATCHES ? `${words} that match in ${parent || "no group"}` : `${words} with the uid ${adopt}`;
  const lines = found.map((record) => [record.uid, isSecret ? "" : record.name].filter(Boolean).join(" "));
  return bulleted(`${found.length || "no"} ${what}; exactly one is needed`, ...lines);
};

/** The line of the log about the record that a resource adopts; undefined for a role binding, which has its own line (review.ts). */
export const adoptionText = (kind: Kind, name: string, record: Json, isSecret: boolean): string | undefined =>
  kind === kindRecords.roleBinding
    ? undefined
    : [`${kind.type} ${name} adopts ${kind.word} ${record.uid}`, isSecret ? "" : title(record)]
        .filter(Boolean)
        .join(" ");

/**
 * For the log: the changes that the adoption makes to the record; undefined if none. Secret values are not shown. The name of a built-in
 * role counts as its uid, which only `connect` can tell.
 */
export const adoptionChanges = async (
  kind: Kind,
  connect: () => Promise<Session>,
  name: string,
  record: Json,
  args: Json,
  isSecret: boolean,
): Promise<string | undefined> => {
  const uid = record.uid as string;
  const asked = desiredFrom(kind, canonicalForm(kind.schema, kind.canonicalize(args), UNKNOWN));
  const isNamed = kind.byName.some((field) => isRoleName(asked.args[field]));
  // The check of the argument reports a name that no role has.
  const desired = isNamed
    ? await connect()
        .then((session) => withUids(session, asked))
        .catch(() => asked)
    : asked;
  const { paths, replaces } = changeOf(desired, placeOfRecord(kind, uid), record);
  const at = (holder: Json, path: string) => JSON.stringify(valueAt(holder, path)) ?? "nothing";
  const lines = paths.map((path) => (isSecret ? path : `${path}: ${at(record, path)} becomes ${at(asked.args, path)}`));
  if (lines.length === 0) return undefined;
  // If the place differs, the adoption itself reports the problem.
  const fixed = replaces.filter((path) => !["parent", "root"].includes(path));
  const refusal = fixed.length === 0 ? [] : [`The update refuses this: ${fixedText(fixed)}.`];
  return [bulleted(`${kind.type} ${name} changes on ${kind.word} ${uid}:`, ...lines), ...refusal].join("\n");
};
