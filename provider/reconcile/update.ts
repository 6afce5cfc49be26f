// Update: one PATCH whose mask names the changed paths only, so that nothing else is touched; its answer is compared with what was
// asked for.
import { updateRecord } from "../../client/records.ts";
import { type Json, maskTouches } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
import { placeOf } from "../kind/record.ts";
import { incomplete } from "../session/errors.ts";
import type { Session } from "../session/session.ts";
import { changedPaths, changeOf } from "../state/changes.ts";
import { type Desired, desiredFrom, withArgs, withObserved, withUids } from "../state/desired.ts";
import { observe } from "../state/normal-form.ts";
import { withoutPaths } from "../state/path.ts";
import { outputsFrom, withoutOwn } from "../state/state.ts";
import { shownOncePaths, writeOnlyPaths } from "../state/write-only.ts";
import { retryWhileNew } from "./not-found.ts";
import { moveByCreate } from "./upsert.ts";

/** `olds` are outputs, `news` inputs. */
export const update = async (
  kind: Kind,
  session: Session,
  id: string,
  olds: Json,
  news: Json,
): Promise<{ outs: Json }> => {
  const asked = desiredFrom(kind, news);
  const adopting = withArgs(asked, { ...asked.args, adopted: olds.adopted });
  // A name is looked up only where the record does not have it already.
  const desired = await withUids(session, withObserved(adopting, observe(kind, olds)));
  const { paths } = changeOf(desired, placeOf(kind, id), olds);
  // Only arguments of our own differ, or an earlier error is being looked at again.
  if (paths.length === 0) return { outs: outputsFrom(kind, withoutOwn(olds), desired.args) };
  return { outs: await sendUpdate(session, desired, id, paths, olds) };
};

/** The outputs after the fields at `paths` were sent. */
export const sendUpdate = async (
  session: Session,
  desired: Desired,
  id: string,
  paths: string[],
  olds: Json = {},
): Promise<Json> => {
  const { kind, args } = desired;
  const answer = await retryWhileNew(session, olds, () => send(session, desired, id, paths));
  const shownOnce = Object.fromEntries(shownOncePaths(kind).map((name) => [name, olds[name]]));
  const outs = outputsFrom(kind, answer, { ...shownOnce, ...args });
  const differing = changedPaths(desired, outs).filter((path) => maskTouches(paths, path));
  if (differing.length > 0) throw incomplete(kind, { ...outs, ...desired.hidden }, differing);
  return outs;
};

const send = (session: Session, desired: Desired, id: string, paths: string[]): Promise<Json> => {
  const { kind, fields, args } = desired;
  if (kind.upsert) return moveByCreate(session, id, desired);
  // A secret that does not change is not sent.
  const unsent = writeOnlyPaths(kind).filter((path) => !maskTouches(paths, path));
  const touched = Object.entries(withoutPaths(fields, unsent)).filter(([name]) => maskTouches(paths, name));
  return updateRecord(session, kind, id, Object.fromEntries(touched), paths, args.name);
};
