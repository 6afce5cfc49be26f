// Adoption, on the side of the engine: the record that the program has looked up, read once more before it is taken.
import { hasCode } from "../../client/errors.ts";
import { getRecord } from "../../client/records.ts";
import { isUidp, type Json } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
import { placeOf, recordId } from "../kind/record.ts";
import type { Session } from "../session/session.ts";

export const adoptedRecord = async (kind: Kind, session: Session, desired: Json, key: string): Promise<Json> => {
  const { adopt: uid, parent = "" } = desired;
  if (!isUidp(uid)) throw new Error(`${key}: adopt: "${uid}" was not looked up by the program`);
  const head = `${key}: adopt: ${kind.word} ${uid}`;
  const refusal = session.claims.adoptionRefusal(recordId(kind.field, uid), key);
  if (refusal) throw new Error(`${head} ${refusal}`);
  const place = placeOf(kind, uid);
  if (place !== parent) throw new Error(`${head} is in ${place || "no group"}, not in ${parent || "none"}`);
  try {
    return await getRecord(session, kind, uid);
  } catch (error) {
    if (hasCode(error, "NOT_FOUND")) throw new Error(`${head} does not exist; leave adopt out to make a new one`);
    throw error;
  }
};
