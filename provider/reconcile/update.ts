// Update: one PATCH whose mask names the changed paths only, so that what nobody asked for is never touched; its answer is
// compared with what was asked for.
import { updateRecord } from "../../client/records.ts";
import { type Json, maskTouches } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
import { placeOf } from "../kind/record.ts";
import { incomplete } from "../session/errors.ts";
import type { Session } from "../session/session.ts";
import { changedPaths, changeOf, normal, observe, settle } from "../state/changes.ts";
import { desiredFrom, given, hidden, outputsFrom, withoutOwn } from "../state/state.ts";
import { shownOnceFields, withValueAt, writeOnlyFields } from "../state/write-only.ts";
import { moveByCreate } from "./upsert.ts";
import { whileYoung } from "./young.ts";

/** `olds` are outputs, `news` inputs. */
export const update = async (
  kind: Kind,
  session: Session,
  id: string,
  olds: Json,
  news: Json,
): Promise<{ outs: Json }> => {
  const desired = await desiredOn(kind, session, olds, news);
  const { paths } = changeOf(kind, placeOf(kind, id), olds, desired);
  // Only arguments that are ours differ, or an earlier error is being looked at again.
  if (paths.length === 0) return { outs: outputsFrom(kind, withoutOwn(olds), desired) };
  return { outs: await patched(kind, session, id, paths, { ...hidden(news), ...desired }, olds) };
};

// A name is looked up only where the record does not have it already.
const desiredOn = async (kind: Kind, session: Session, olds: Json, news: Json): Promise<Json> => {
  const asked = { ...desiredFrom(kind, news), adopted: olds.adopted };
  const settled = settle(kind, asked, observe(kind, olds));
  return (await kind.resolve?.(session, settled)) ?? settled;
};

/** The outputs after the changed paths of `inputs` were sent. */
export const patched = async (
  kind: Kind,
  session: Session,
  id: string,
  paths: string[],
  inputs: Json,
  olds: Json = {},
): Promise<Json> => {
  const desired = given(inputs);
  const answer = await whileYoung(session, olds, () => send(kind, session, id, paths, desired));
  const shownOnce = Object.fromEntries(shownOnceFields(kind.schema).map((name) => [name, olds[name]]));
  const outs = outputsFrom(kind, answer, { ...shownOnce, ...desired });
  const differing = changedPaths(kind, outs, desired).filter((path) => maskTouches(paths, path));
  if (differing.length > 0) throw incomplete(kind, { ...outs, ...hidden(inputs) }, differing);
  return outs;
};

const send = (kind: Kind, session: Session, id: string, paths: string[], desired: Json): Promise<Json> => {
  if (kind.upsert) return moveByCreate(kind, session, id, desired);
  // A secret that does not change stays here.
  const unsent = writeOnlyFields(kind.schema).filter(({ path }) => !maskTouches(paths, path.join(".")));
  const body = unsent.reduce((result, { path }) => withValueAt(result, path, undefined), normal(kind.schema, desired));
  const touched = Object.entries(body).filter(([name]) => maskTouches(paths, name));
  return updateRecord(session, kind, id, Object.fromEntries(touched), paths, desired.name);
};
