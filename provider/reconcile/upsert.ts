// A kind without an update of its own: a create of the same name changes the record that has it (docs/contract.md#d19).
// So a create must not change another owner's record, and an update must not restore a deleted one.
import { apiErrorOf, LostAnswer } from "../../client/errors.ts";
import { createRecord, getRecord } from "../../client/records.ts";
import type { Json } from "../../schema/index.ts";
import { title } from "../kind/kind.ts";
import { isMatch, placeOf } from "../kind/record.ts";
import type { Existing } from "../recovery/search.ts";
import type { Session } from "../session/session.ts";
import type { Desired } from "../state/desired.ts";

/** Why a create would change a record that is there already; undefined when there is none. */
export const upsertProblem = ({ kind, key, args }: Desired, { records, isComplete }: Existing): string | undefined => {
  if (!kind.upsert) return undefined;
  const taken = records.find((record) => isMatch(kind, record, args));
  if (taken)
    return (
      `${key}: ${kind.word} ${taken.uid} ${title(taken)} exists, and a create would change it; nothing was sent.\n` +
      'If that record is meant, take it over with adopt: "match" (or its uid); if this resource had another name before, say ' +
      "so with aliases."
    );
  if (isComplete) return undefined;
  return (
    `${key}: whether ${kind.word} "${args.name}" exists is not known, and a create would change it; nothing was sent. ` +
    `Grant the caller ${kind.list.operation}.`
  );
};

/** The answer of a create that changes the record `id`. A lost answer may be asked for again: the second changes nothing. */
export const moveByCreate = async (session: Session, id: string, { kind, fields }: Desired): Promise<Json> => {
  // A deleted record would be created again under another uid: this request fails with NOT_FOUND instead.
  await getRecord(session, kind, id);
  const send = () => createRecord(session, kind, placeOf(kind, id), fields);
  try {
    return await send();
  } catch (error) {
    const lost = apiErrorOf(error);
    if (!(lost instanceof LostAnswer) || !session.acquireRetry(lost.failure)) throw error;
    return await send();
  }
};
