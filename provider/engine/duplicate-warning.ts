// Warns in a preview that a record with the same parent and fields as a new resource already exists. It lists each parent and kind
// once, with one attempt for each page. After a failure it stops: a preview works without the service.
import { listChildren } from "../../client/paginate.ts";
import { isUidp, type Json } from "../../schema/index.ts";
import { desiredFrom, fingerprintOf, withUids } from "../record/desired.ts";
import { createTimeOf, recordId } from "../record/id.ts";
import { type Kind, withArticle } from "../record/kind.ts";
import { containsUnknown } from "../record/normal-form.ts";
import { KEY } from "../record/state.ts";
import { type Session, withOneAttempt } from "../run/session.ts";

type Listed = Json & { uid: string };

// Most records of a group that are compared.
const RECORDS_MAX = 1_000;

interface DuplicateWarnings {
  /** The warning for the inputs of a new resource; undefined where no record matches, or the service does not answer. */
  warningOf(kind: Kind, session: Session, inputs: Json): Promise<string | undefined>;
}

export const duplicateWarnings = (): DuplicateWarnings => {
  const lists = new Map<string, Promise<Listed[]>>();
  let isOff = false;

  const listRecords = (kind: Kind, session: Session, parent: string): Promise<Listed[]> => {
    const place = `${kind.type} ${parent}`;
    const list = lists.get(place) ?? listComparable(kind, session, parent);
    lists.set(place, list);
    return list;
  };

  const compare = async (kind: Kind, session: Session, inputs: Json): Promise<string | undefined> => {
    const { [KEY]: key, parent, adopt, names: _names, ...asked } = inputs;
    // The root holds the organizations of others.
    if (typeof key !== "string" || !isUidp(parent) || adopt !== undefined || containsUnknown([parent, asked]))
      return undefined;
    const once = withOneAttempt(session);
    const { choices, fingerprint } = await withUids(once, desiredFrom(kind, inputs));
    // A replacement arrives like a new resource, and replaces its own record.
    const alike = (await listRecords(kind, once, parent)).filter(
      (record) =>
        fingerprintOf(kind, parent, record, choices) === fingerprint &&
        !session.ownership.isOwnedBy(recordId(kind.field, record.uid), key),
    );
    if (alike.length === 0) return undefined;
    const name = `${kind.type} ${key.replace(/^.*::/s, "")}`;
    const lines = alike.map((record) => `${kind.word} ${record.uid}, created ${createTimeOf(record)}`);
    const text = [
      `warning: ${name} is new, and ${withArticle(kind.word)} with the same parent and fields already exists:`,
      ...lines,
    ].join("\n  - ");
    const outcome = kind.unique ? "Without adopt the create fails" : "Without adopt the update creates another one";
    return `${text}\n${outcome}. If this resource had another name before, declare that name in aliases.`;
  };

  return {
    async warningOf(kind, session, inputs) {
      if (isOff) return undefined;
      try {
        return await compare(kind, session, inputs);
      } catch {
        // The update reports the failure.
        isOff = true;
        return undefined;
      }
    },
  };
};

const listComparable = async (kind: Kind, session: Session, parent: string): Promise<Listed[]> => {
  const records: Listed[] = [];
  for await (const record of listChildren(session, kind.list, parent)) {
    records.push(record);
    if (records.length === RECORDS_MAX) break;
  }
  return records;
};
