// A create that would make a second record that nothing distinguishes from the first. A killed run of this stack may have created that
// one: the journal and the engine's state would show it, and a create that they do not explain stops where the kind has no more to tell
// its records apart.
import { withSection } from "../../client/recovery.ts";
import type { Json } from "../../schema/index.ts";
import type { Entry } from "../log/entry.ts";
import type { Desired } from "../record/desired.ts";
import { recordId, recordLine } from "../record/id.ts";
import { type Kind, withArticle } from "../record/kind.ts";
import type { Session } from "../run/session.ts";
import { stackOperations } from "./operations.ts";
import { type Existing, existingAlike, judge } from "./search.ts";

/**
 * Whether this run refuses a second record with the same parent and fields, unless `allowDuplicate` is set. Without checkpoints the engine's
 * state does not show what a killed run was creating, so a harmless one is refused too.
 */
export const refusesDuplicate = ({ texts, isHarmlessTwice }: Kind, { journal }: Pick<Session, "journal">): boolean =>
  texts.allowDuplicate !== undefined && (!isHarmlessTwice || journal.recordsWrites);

/** Why the create must not be sent. Reports records of other kinds that are like the new one. */
export const duplicateProblem = async (
  session: Session,
  { kind, key, args }: Desired,
  entry: Entry,
  before: Existing,
): Promise<string | undefined> => {
  const isRefused = refusesDuplicate(kind, session);
  if (isRefused ? args.allowDuplicate === true : !(await session.journal.isNew(key))) return undefined;
  const found = existingAlike(kind, session, entry, before);
  if (found.length === 0) return undefined;
  const { inState, problem } = await stackOperations(session, key);
  // One that another resource of the stack has: this run has not compared that one yet, is about to delete it, or was killed before.
  const isOfStack = async ({ uid }: Json): Promise<boolean> => {
    const id = recordId(kind.field, uid as string);
    return inState.has(id) || session.journal.isOfOther(id, key);
  };
  const are = await Promise.all(found.map(isOfStack));
  const alike = await withoutOpen(
    session,
    kind,
    entry,
    found.filter((_, i) => !are[i]),
  );
  if (alike.length === 0) return undefined;
  const lines = alike.map((record) => recordLine(kind, record));
  const unknown = problem === undefined ? [] : [unknownStateText(problem)];
  if (isRefused) {
    const head = `${key}: ${withArticle(kind.word)} with the same parent and fields exists, and nothing shows that this stack created it; nothing was sent:`;
    const advice = duplicateAdvice(alike[0]?.uid as string);
    return withSection([[head, ...lines].join("\n  - "), ...unknown, advice].join("\n"), "equal");
  }
  const head =
    `${key}: creates ${withArticle(kind.word)}, and one with the same parent and fields exists; no intent journal here ` +
    "shows which create produced it:";
  session.log([[head, ...lines].join("\n  - "), ...unknown].join("\n"));
  return undefined;
};

/** Without what a killed run without checkpoints created for other resources, one for each create: that is deleted (provider/open). */
const withoutOpen = async (session: Session, kind: Kind, entry: Entry, records: readonly Json[]): Promise<Json[]> => {
  const open = records.length === 0 ? [] : await session.journal.findOpenAlike(entry);
  return records.filter((record) => {
    const at = open.findIndex((one) => judge(kind, one, record).is === "own");
    if (at >= 0) open.splice(at, 1);
    return at < 0;
  });
};

/** Falls to the caution of a run that knows nothing. */
export const unknownStateText = (problem: string): string =>
  `What the engine has stored, which would show the creates of a killed run, could not be read: ${problem}.`;

export const duplicateAdvice = (uid: string): string =>
  `If it belongs to this resource: adopt: "${uid}", with deleteAdopted: true to delete it with the resource. If this resource had another ` +
  "name before, declare that name in aliases. If a second one is meant: allowDuplicate: true.";
