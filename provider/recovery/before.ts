// What was in a group before this process made anything there: none of it is what a create of ours made. One list for each
// parent and kind, when the first record is about to be made there.

import { listChildren } from "../../client/paginate.ts";
import type { Json } from "../../schema/index.ts";
import type { Entry } from "../journal/entry.ts";
import { type Kind, title } from "../kind/kind.ts";
import { createTimeOf, recordId } from "../kind/record.ts";
import type { Session } from "../session/session.ts";
import { fingerprint } from "../state/fingerprint.ts";

type Listed = Json & { uid: string };

export interface Before {
  records: Listed[];
  /** false when they could not be listed, or not all of them */
  isWhole: boolean;
}

/** The records that were there; of a kind whose create changes what has its name, those of that name. */
export const recordsBefore = (kind: Kind, session: Session, parent: string, desired: Json): Promise<Before> => {
  // Nothing is in a group that this run has made.
  if (session.made.has(parent)) return Promise.resolve({ records: [], isWhole: true });
  const filters = kind.upsert ? kind.filters(desired) : {};
  const place = [kind.type, parent, ...Object.values(filters)].join(" ");
  const found = session.listedBefore.get(place) ?? listed(kind, session, parent, filters);
  session.listedBefore.set(place, found);
  return found;
};

const listed = async (kind: Kind, session: Session, parent: string, filters: Json): Promise<Before> => {
  const records: Listed[] = [];
  try {
    for await (const record of listChildren(session, kind.list, parent, filters)) records.push(record);
  } catch {
    // Who may create and not list is not kept from it.
    return { records, isWhole: false };
  }
  return { records, isWhole: true };
};

/**
 * Says which of them have the same inputs. A runner without a journal (a fresh CI machine) cannot know what a run before it was
 * about to make when it was killed: such a record may be that run's.
 */
export const tellTwins = (kind: Kind, session: Session, entry: Entry, before: Before): void => {
  const { key, parent, inputs, given } = entry;
  const twins = before.records.filter(
    (record) =>
      fingerprint(kind, parent, record, given) === inputs &&
      !session.claims.refusal(recordId(kind.field, record.uid), key),
  );
  if (twins.length === 0) return;
  const head =
    `${key}: makes a ${kind.word}; there is one already with the same parent and the same fields, and no intent journal here ` +
    "that knows whose it is:";
  const lines = twins.map((record) => `${kind.word} ${record.uid} ${title(record)}, made ${createTimeOf(record)}`);
  session.say(
    `${[head, ...lines].join("\n  - ")}\n` +
      "If a run was killed while it made this resource, that record is its: pulumi stack export | irm journal pending tells.",
  );
};
