// Read: the record as it is, as outputs and as inputs, so that a manual change shows as a diff.
import { isDeepStrictEqual } from "node:util";
import { isUidp, type Json } from "../../schema/index.ts";
import type { Entry } from "../log/entry.ts";
import { changeOf, desiredFrom, keepVolatile } from "../record/desired.ts";
import { placeOfRecord } from "../record/id.ts";
import { type Kind, withArticle } from "../record/kind.ts";
import { changedSwitches, inputsFrom, isEmpty, outputsFrom } from "../record/state.ts";
import { readUnlessDeleted } from "../recovery/not-found.ts";
import type { Session } from "../run/session.ts";
import { readInBatch } from "./read-batch.ts";

export interface ReadResult {
  /** empty when the record is deleted */
  id: string;
  props: Json;
  inputs?: Json;
  /** whether the stored outputs describe the same arguments */
  isUnchanged?: boolean;
}

export interface Reading {
  /** inputs in the state, if the adapter gets them: they stay unchanged while they describe the record */
  inputs?: Json | undefined;
  /** in a refresh, before anything is declared: a list that began before the read may answer (read-batch.ts) */
  isRefresh?: boolean;
  /** of a set: creates of a killed run, whose records it manages */
  created?: readonly Entry[];
}

/** `stored` are the outputs in the state. */
export const read = async (
  kind: Kind,
  session: Session,
  id: string,
  stored: Json,
  { inputs: given = {}, isRefresh = false }: Reading = {},
): Promise<ReadResult> => {
  if (!isUidp(id)) throw new Error(`"${id}" is not the uid of ${withArticle(kind.word)}`);
  const readSingly = () => readUnlessDeleted(kind, session, id, stored);
  const record = await (isRefresh ? readInBatch(kind, session, id, readSingly) : readSingly());
  if (!record) return { id: "", props: {} };
  const observed = outputsFrom(kind, record, stored);
  const described = inputsFrom(kind, id, observed, stored);
  return {
    id,
    props: keepVolatile(kind, observed, stored),
    inputs: isAsGiven(kind, id, observed, given) ? given : described,
    isUnchanged: isDeepStrictEqual(described, inputsFrom(kind, id, stored, stored)),
  };
};

/** Whether the inputs describe the record: other inputs would make the next update save a resource that does not differ. */
const isAsGiven = (kind: Kind, id: string, observed: Json, given: Json) => {
  if (isEmpty(given)) return false;
  const desired = desiredFrom(kind, given);
  const { paths, replaces } = changeOf(desired, placeOfRecord(kind, id), observed);
  return paths.length === 0 && replaces.length === 0 && changedSwitches(observed, desired.args).length === 0;
};
