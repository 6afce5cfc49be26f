// Update: one PATCH whose mask names the changed paths only, so that what nobody asked for is never touched; its answer is
// compared with what was asked for.
import { updateRecord } from "../../client/records.ts";
import { type Json, maskTouches, parentOf } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
import { incomplete } from "../session/errors.ts";
import type { Session } from "../session/session.ts";
import { changedPaths, changeOf, normal } from "../state/changes.ts";
import { desiredFrom, given, hidden, outputsFrom, withoutOwn } from "../state/state.ts";
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
  const { paths } = changeOf(kind, parentOf(id), olds, desired);
  // Only arguments that are ours differ, or an earlier error is being looked at again.
  if (paths.length === 0) return { outs: outputsFrom(kind, withoutOwn(olds), desired) };
  return { outs: await patched(kind, session, id, paths, { ...hidden(news), ...desired }, olds) };
};

// A name is looked up only where the record does not have it already.
const desiredOn = async (kind: Kind, session: Session, olds: Json, news: Json): Promise<Json> => {
  const asked = { ...desiredFrom(kind, news), adopted: olds.adopted };
  const settled = kind.settle?.(asked, kind.observed?.(olds) ?? olds) ?? asked;
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
  const touched = Object.entries(normal(kind.schema, desired)).filter(([name]) => maskTouches(paths, name));
  const fields = Object.fromEntries(touched);
  const send = () => updateRecord(session, kind, id, fields, paths, desired.name);
  const answer = await whileYoung(session, olds, send);
  const outs = outputsFrom(kind, answer, desired);
  const differing = changedPaths(kind, outs, desired).filter((path) => maskTouches(paths, path));
  if (differing.length > 0) throw incomplete(kind, { ...outs, ...hidden(inputs) }, differing);
  return outs;
};
