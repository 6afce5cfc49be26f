// Read: the record as it is, also as inputs, so that a change made by hand shows as a diff. What is gone is told from what
// cannot be read.
import { advised, hasCode } from "../../client/errors.ts";
import { getRecord } from "../../client/records.ts";
import { isUidp, type Json } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
import type { Session } from "../session/session.ts";
import { keepVolatile } from "../state/changes.ts";
import { inputsFrom, outputsFrom } from "../state/state.ts";
import { confirmGone, NOT_DELETED } from "./not-found.ts";
import { whileYoung } from "./young.ts";

export interface ReadResult {
  /** empty: the record is gone */
  id: string;
  props: Json;
  inputs?: Json;
}

/** `stored` are the outputs in the state. */
export const read = async (kind: Kind, session: Session, id: string, stored: Json): Promise<ReadResult> => {
  if (!isUidp(id)) throw new Error(`"${id}" is not the uid of a ${kind.word}`);
  let answer: Json;
  try {
    answer = await whileYoung(session, stored, () => getRecord(session, kind, id));
  } catch (error) {
    if (!hasCode(error, "NOT_FOUND")) throw advised(error, "PERMISSION_DENIED", NOT_DELETED);
    await confirmGone(kind, session, id, "get");
    return { id: "", props: {} };
  }
  const observed = outputsFrom(kind, answer, stored);
  return { id, props: keepVolatile(kind, observed, stored), inputs: inputsFrom(kind, id, observed, stored) };
};
