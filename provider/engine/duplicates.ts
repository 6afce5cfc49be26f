// Warns in a preview that a record with the parent and fields of a new resource already exists, unless the stack contains it. It lists each
// parent and kind once, with one attempt for each page. After a failure it stops: a preview works without the service.
import { type Listed, listChildren } from "../../client/records.ts";
import { containsUnknown } from "../../pulumi/value.ts";
import { bulleted, getOrInsert, isUidp, type Json } from "../../schema/index.ts";
import { desiredFrom, fingerprintOf, withUids } from "../record/desired.ts";
import { createTimeOf, recordId } from "../record/id.ts";
import { type Kind, withArticle } from "../record/kind.ts";
import { KEY, nameInKey } from "../record/state.ts";
import { duplicateAdvice, refusesDuplicate, unknownState } from "../recovery/create-problem.ts";
import { stackOperations } from "../recovery/pending-operations.ts";
import { type Session, withOneAttempt } from "../run/session.ts";

// Most records of a group that are compared.
const RECORDS_MAX = 1_000;

export const duplicateWarnings = () => {
  const lists = new Map<string, Promise<Listed[]>>();
  let isOff = false;

  const compare = async (kind: Kind, session: Session, inputs: Json): Promise<string | undefined> => {
    const { [KEY]: key, adopt, names: _names, ...asked } = inputs;
    const { parent = "" } = asked;
    const isPlace = isUidp(parent) || (asked.root === true && kind.root);
    if (typeof key !== "string" || !isPlace || adopt !== undefined || containsUnknown([asked])) return undefined;
    const isRefused = refusesDuplicate(kind, session);
    if (isRefused && asked.allowDuplicate === true) return undefined;
    const once = withOneAttempt(session);
    const { choices, fingerprint } = await withUids(once, desiredFrom(kind, inputs));
    const records = getOrInsert(lists, `${kind.type} ${parent}`, () => listComparable(kind, once, parent as string));
    // A replacement looks like a new resource, and replaces its own record.
    const found = (await records).filter(
      (record) =>
        fingerprintOf(kind, parent as string, record, choices) === fingerprint &&
        !session.ownership.isOwnedBy(recordId(kind.field, record.uid), key),
    );
    if (found.length === 0) return undefined;
    const { inState, problem } = await stackOperations(once, key);
    // In an open stack, the journal shows the records that killed runs created (provider/attribution).
    const are = await Promise.all(
      found.map(async ({ uid }) => {
        const id = recordId(kind.field, uid);
        if (!isRefused || inState.has(id)) return isRefused;
        return session.journal.recordsWrites && session.journal.isOfOther(id, key);
      }),
    );
    const alike = found.filter((_, i) => !are[i]);
    if (alike.length === 0) return undefined;
    const name = `${kind.type} ${nameInKey(key)}`;
    const lines = alike.map((record) => `${kind.word} ${record.uid}, created ${createTimeOf(record)}`);
    const head = `warning: ${name} is new, and ${withArticle(kind.word)} with the same parent and fields already exists:`;
    const outcome = isRefused
      ? ["The update refuses to create another one.", duplicateAdvice(alike[0]?.uid as string)]
      : [
          kind.unique ? "Without adopt the create fails." : "Without adopt the update creates another one.",
          "If this resource had another name before, declare that name in aliases.",
        ];
    return [bulleted(head, ...lines), ...unknownState(problem), outcome.join(" ")].join("\n");
  };

  /** The warning for the inputs of a new resource; undefined if no record matches, or the service does not answer. */
  return async (kind: Kind, session: Session, inputs: Json) => {
    if (isOff) return undefined;
    try {
      return await compare(kind, session, inputs);
    } catch {
      // The update reports the failure.
      isOff = true;
      return undefined;
    }
  };
};

const listComparable = async (kind: Kind, session: Session, parent: string) => {
  const records: Listed[] = [];
  for await (const record of listChildren(session, kind.list, parent)) {
    records.push(record);
    if (records.length === RECORDS_MAX) break;
  }
  return records;
};
