// Adoption, without Pulumi: which record `adopt` means, and what adopting it changes.
import { listAll, listChildren } from "../../client/paginate.ts";
import { isUidp, type Json, valueAt } from "../../schema/index.ts";
import { isRoleName } from "../kind/built-in-role.ts";
import { kindRecords } from "../kind/index.ts";
import { changeOf, fixedText } from "../record/changes.ts";
import { desiredFrom, withUids } from "../record/desired.ts";
import { isMatch, placeOf } from "../record/id.ts";
import { type Kind, pluralOf, title } from "../record/kind.ts";
import { observe } from "../record/normal-form.ts";
import { canonicalize, inOneSpelling } from "../record/state.ts";
import type { Session } from "../run/session.ts";

/** "match" is the only record with the same parent and name. */
export const MATCHES = "match";

/** The problem of the argument; undefined where it may be looked up. */
export const adoptProblem = (adopt: unknown): string | undefined =>
  adopt === MATCHES || isUidp(adopt) ? undefined : 'must be "match", or the uid of the record';

/** The records that `adopt` means: exactly one, or nothing is adopted. For "match", `args` identify the record; all of these are known. */
export const findAdopted = async (kind: Kind, session: Session, args: Json): Promise<Json[]> => {
  const { adopt, parent = "" } = args;
  const observed = (one: Json): Json => observe(kind, one);
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
  return [`${found.length || "no"} ${what}; exactly one is needed`, ...lines].join("\n  - ");
};

/** The line of the log about the record that a resource adopts; undefined of a role binding, whose line names what it connects (review.ts). */
export const adoptionText = (kind: Kind, name: string, record: Json, isSecret: boolean): string | undefined =>
  kind === kindRecords.roleBinding
    ? undefined
    : [`${kind.type} ${name} takes over ${kind.word} ${record.uid}`, isSecret ? "" : title(record)]
        .filter(Boolean)
        .join(" ");

/**
 * For the log: what the adoption changes on the record; undefined where nothing. Secret values are not shown. The name of a built-in
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
  const asked = desiredFrom(kind, inOneSpelling(kind, canonicalize(kind, args)));
  const isNamed = kind.byName.some((field) => isRoleName(asked.args[field]));
  // A name that no role has is reported where the argument is checked.
  const desired = isNamed
    ? await connect()
        .then((session) => withUids(session, asked))
        .catch(() => asked)
    : asked;
  const { paths, replaces } = changeOf(desired, placeOf(kind, uid), record);
  const at = (holder: Json, path: string) => JSON.stringify(valueAt(holder, path)) ?? "nothing";
  const lines = paths.map((path) => (isSecret ? path : `${path}: ${at(record, path)} becomes ${at(asked.args, path)}`));
  if (lines.length === 0) return undefined;
  // Of another place, the adoption itself says what is wrong.
  const fixed = replaces.filter((path) => !["parent", "root"].includes(path));
  const refusal = fixed.length === 0 ? [] : [`The update refuses this: ${fixedText(fixed)}.`];
  return [[`${kind.type} ${name} changes on ${kind.word} ${uid}:`, ...lines].join("\n  - "), ...refusal].join("\n");
};
