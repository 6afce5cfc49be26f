// Update: one PATCH whose mask names only the changed paths, so it touches nothing else. Its response is compared with the request.
import { apiErrorOf, LostAnswer } from "../../client/errors.ts";
import { createRecord, getRecord, updateRecord } from "../../client/records.ts";
import { type Json, maskTouches } from "../../schema/index.ts";
import {
  changedPaths,
  changeOf,
  type Desired,
  desiredFrom,
  withArgs,
  withObserved,
  withUids,
} from "../record/desired.ts";
import { placeOfRecord } from "../record/id.ts";
import type { Kind } from "../record/kind.ts";
import { observe, shownOncePaths, withoutPaths, writeOnlyPaths } from "../record/normal-form.ts";
import { membersOf, originIn, outputsFrom, withoutOwn } from "../record/state.ts";
import { retryWhileNew } from "../recovery/not-found.ts";
import type { Session } from "../run/session.ts";
import type { NewWrite } from "../run/stack-journal.ts";
import { differentResponse } from "./incomplete.ts";

/** `olds` are outputs, `news` inputs. */
export const update = async (
  kind: Kind,
  session: Session,
  id: string,
  olds: Json,
  news: Json,
): Promise<{ outs: Json }> => {
  const asked = desiredFrom(kind, news);
  const withOrigin = withArgs(asked, { ...asked.args, ...originIn(olds) });
  // Looks up a name only if the record does not have it already.
  const desired = await withUids(session, withObserved(withOrigin, observe(kind, olds)));
  const { paths } = changeOf(desired, placeOfRecord(kind, id), olds);
  // Only arguments that the API does not know differ, or the engine repeats an update that failed.
  if (paths.length === 0) return { outs: outputsFrom(kind, withoutOwn(olds), desired.args) };
  return { outs: await sendUpdate(session, desired, id, paths, olds) };
};

/** Sends the fields at `paths`, and returns the new outputs. */
export const sendUpdate = async (
  session: Session,
  desired: Desired,
  id: string,
  paths: string[],
  olds: Json = {},
): Promise<Json> => {
  const { kind, args, key, choices } = desired;
  const { journal } = session;
  const write: NewWrite | undefined = journal.recordsWrites
    ? { kind: kind.field, uid: id, key, to: desired.fingerprint, given: [...choices] }
    : undefined;
  if (write) await journal.beginWrite(write, session.serviceNow);
  const answer = await retryWhileNew(session, olds, () => send(session, desired, id, paths));
  if (write) await journal.endWrite(write);
  const outs = outputsFrom(kind, answer, { ...membersOf(olds, shownOncePaths(kind)), ...args });
  const differing = changedPaths(desired, outs).filter((path) => maskTouches(paths, path));
  if (differing.length > 0) throw differentResponse(kind, { ...outs, ...desired.hidden }, differing);
  return outs;
};

const send = (session: Session, desired: Desired, id: string, paths: string[]) => {
  const { kind, fields, args } = desired;
  if (kind.upsert) return updateByCreate(session, id, desired);
  // Does not send a secret that does not change.
  const unsent = writeOnlyPaths(kind).filter((path) => !maskTouches(paths, path));
  const touched = Object.entries(withoutPaths(fields, unsent)).filter(([name]) => maskTouches(paths, name));
  return updateRecord(session, kind, id, Object.fromEntries(touched), paths, args.name);
};

// The kind has no update: a create of the same name changes the record (docs/internals/contract.md#d19). When its response is lost, it is sent
// again: the second one changes nothing.
const updateByCreate = async (session: Session, id: string, { kind, fields }: Desired): Promise<Json> => {
  if (session.stopped?.reason) throw session.stopped.reason;
  // A create would restore a deleted record under another uid: this request fails with NOT_FOUND instead.
  await getRecord(session, kind, id);
  const send = () => createRecord(session, kind, placeOfRecord(kind, id), fields);
  try {
    return await send();
  } catch (error) {
    const lost = apiErrorOf(error);
    if (!(lost instanceof LostAnswer) || !session.acquireRetry(lost.failure)) throw error;
    return await send();
  }
};
