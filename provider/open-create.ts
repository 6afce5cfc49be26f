// A create of which nobody knows the end: what may be its record is told by name and uid, so that nothing stays that nobody
// knows of (spec/faults.md, section 3, L1), also when no program declares the resource any more.
import type { Json } from "../schema/index.ts";
import { findCreated } from "./find.ts";
import type { Entry } from "./journal/entry.ts";
import { kindRecords } from "./kind/index.ts";
import { type Kind, title } from "./kind/kind.ts";
import type { Session } from "./session.ts";

/** Of the other resources of the stack: by the first operation of a process that asks the service for anything. */
export const tellOpenCreates = async (session: Session, key: string): Promise<void> => {
  for (const entry of await session.journal.untold(key)) {
    const advice =
      "The next up that declares it settles it. If nothing declares it any more, delete what was made, then: " +
      `irm journal clean --key "${entry.key}"`;
    session.say([...(await candidateLines(session, entry)), advice].join("\n"));
  }
};

/** Of a resource that has got another record by now. */
export const tellAbandoned = async (session: Session, entry: Entry, taken: string): Promise<void> =>
  session.say([...(await candidateLines(session, entry, taken)), "What it made is nobody's now."].join("\n"));

const candidateLines = async (session: Session, entry: Entry, taken?: string): Promise<string[]> => {
  const { key, parent, at } = entry;
  const kind = Object.values(kindRecords).find(({ field }) => field === entry.kind) as Kind;
  const where = parent === "" ? "at the root" : `in ${parent}`;
  const head = `${key}: a run that did not end may have made a ${kind.word} ${where} for it (${new Date(at).toISOString()})`;
  let found: Json[];
  try {
    found = await findCreated(kind, session, entry, {});
  } catch (error) {
    return [`${head}; it cannot be looked for: ${(error as Error).message}`];
  }
  const lines = found
    .filter(({ uid }) => uid !== taken)
    .map((record) => `  - ${kind.word} ${record.uid} ${title(record)}, made ${record.createTime}`);
  return lines.length === 0 ? [`${head}; there is none now`] : [`${head}; it may be:`, ...lines];
};
