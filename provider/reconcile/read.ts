// Read: the record as it is, as outputs and as inputs, so that a manual change shows as a diff.
import { isUidp, type Json } from "../../schema/index.ts";
import { keepVolatile } from "../record/changes.ts";
import { type Kind, withArticle } from "../record/kind.ts";
import { inputsFrom, outputsFrom } from "../record/state.ts";
import { readUnlessDeleted } from "../recovery/not-found.ts";
import type { Session } from "../run/session.ts";
import { readInBatch } from "./read-batch.ts";

export interface ReadResult {
  /** empty when the record is deleted */
  id: string;
  props: Json;
  inputs?: Json;
}

/** `stored` are the outputs in the state. `isRefresh`: a list may answer that began before the read (read-batch.ts). */
export const read = async (
  kind: Kind,
  session: Session,
  id: string,
  stored: Json,
  isRefresh = false,
): Promise<ReadResult> => {
  if (!isUidp(id)) throw new Error(`"${id}" is not the uid of ${withArticle(kind.word)}`);
  const readSingly = () => readUnlessDeleted(kind, session, id, stored);
  const record = await (isRefresh ? readInBatch(kind, session, id, readSingly) : readSingly());
  if (!record) return { id: "", props: {} };
  const observed = outputsFrom(kind, record, stored);
  return { id, props: keepVolatile(kind, observed, stored), inputs: inputsFrom(kind, id, observed, stored) };
};
