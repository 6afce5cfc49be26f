// Reports creates whose outcome is unknown, with the records that each may have produced (docs/faults.md#l1), also when the
// program declares the resource no more.
import type { Json } from "../../schema/index.ts";
import type { Entry } from "../journal/entry.ts";
import { JournalError } from "../journal/file.ts";
import { kindRecords } from "../kind/index.ts";
import { title } from "../kind/kind.ts";
import { createTimeOf } from "../kind/record.ts";
import type { Session } from "../session/session.ts";
import { mayShowFor } from "./recover.ts";
import { findCreated } from "./search.ts";

/** Of the stack of this resource: by the first read or delete of a process. An up settles those that it declares. */
export const tellOpenCreates = async (session: Session, key: string): Promise<void> => {
  for (const entry of await untold(session, key)) {
    const { text } = await candidates(session, entry, 0);
    const advice =
      "The next up that declares it settles it. If nothing declares it any more, delete what no resource has, then: " +
      `irm journal clean --key "${entry.key}"`;
    session.say(`${text}\n${advice}`);
  }
};

/** Of a resource that takes another record: looks until what was made can be hidden no more. */
export const tellAbandoned = async (session: Session, entry: Entry, taken: string): Promise<void> => {
  const { text, count } = await candidates(session, entry, await mayShowFor(session, entry), taken);
  session.say(count === 0 ? text : `${text}\nIt is nobody's now.`);
};

// A read or a delete does without the journal.
const untold = async (session: Session, key: string): Promise<Entry[]> => {
  try {
    return await session.journal.untold(key);
  } catch (error) {
    if (error instanceof JournalError) return [];
    throw error;
  }
};

const candidates = async (session: Session, entry: Entry, waitMs: number, taken?: string) => {
  const { key, parent, at } = entry;
  const kind = Object.values(kindRecords).find(({ field }) => field === entry.kind);
  const where = parent === "" ? "at the root" : `in ${parent}`;
  const word = kind?.word ?? entry.kind;
  const head = `${key}: a create that did not end (${new Date(at).toISOString()}) may have made a ${word} ${where}`;
  // Of a later version.
  if (!kind) return { text: head, count: 1 };
  let found: Json[];
  try {
    found = await findCreated(kind, session, entry, { waitMs, before: new Set(taken === undefined ? [] : [taken]) });
  } catch (error) {
    return { text: `${head}; it cannot be looked for: ${(error as Error).message}`, count: 1 };
  }
  if (found.length === 0) return { text: `${head}; there is none now`, count: 0 };
  const lines = found.map((record) => `${kind.word} ${record.uid} ${title(record)}, made ${createTimeOf(record)}`);
  return { text: [`${head}; it may be:`, ...lines].join("\n  - "), count: found.length };
};
