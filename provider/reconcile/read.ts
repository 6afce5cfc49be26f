// Read: the record as it is, as outputs and as inputs, so that a manual change shows as a diff.
import { isUidp, type Json } from "../../schema/index.ts";
import { keepVolatile } from "../record/changes.ts";
import { type Kind, withArticle } from "../record/kind.ts";
import { inputsFrom, outputsFrom } from "../record/state.ts";
import { readUnlessDeleted } from "../recovery/not-found.ts";
import type { Session } from "../run/session.ts";

export interface ReadResult {
  /** empty when the record is deleted */
  id: string;
  props: Json;
  inputs?: Json;
}

/** `stored` are the outputs in the state. */
export const read = async (kind: Kind, session: Session, id: string, stored: Json): Promise<ReadResult> => {
  if (!isUidp(id)) throw new Error(`"${id}" is not the uid of ${withArticle(kind.word)}`);
  const record = await readUnlessDeleted(kind, session, id, stored);
  if (!record) return { id: "", props: {} };
  const observed = outputsFrom(kind, record, stored);
  return { id, props: keepVolatile(kind, observed, stored), inputs: inputsFrom(kind, id, observed, stored) };
};
