// Problems of a create, and their texts for a person.
import { LostAnswer, RecordError, withSection } from "../../client/errors.ts";
import { placeText, subjectText } from "../../client/records.ts";
import { bulleted, type Json, type OperationName, operations } from "../../schema/index.ts";
import type { Entry } from "../log/entry.ts";
import type { Desired } from "../record/desired.ts";
import { isMatch, recordId, recordLine } from "../record/id.ts";
import { type Kind, title, withArticle } from "../record/kind.ts";
import type { Session } from "../run/session.ts";
import { stackOperations } from "./pending-operations.ts";
import { type Existing, existingAlike, judge } from "./search.ts";

type Asked = readonly { desired: Desired }[];

/** The outcome of a create is unknown, and its entry stays pending. */
export class UnknownOutcome extends Error {
  override readonly name = "UnknownOutcome";
}

/** `more`: why the search also failed, with the reason `cause`. */
export const unknownOutcome = (asked: Asked, error: Error, more?: string, cause?: unknown): UnknownOutcome => {
  const { word, words } = kindOf(asked);
  const what = asked.length === 1 ? `the ${word} was` : `the ${asked.length} ${words} were`;
  const text =
    `${error.message}\n` +
    `It is unknown whether ${what} created. The intent journal keeps the create as pending, and the next run searches for the record first.`;
  return new UnknownOutcome(withSection([text, ...(more === undefined ? [] : [more])].join("\n"), "unknown"), {
    cause,
  });
};

export const ADOPT_ADVICE =
  'If that record is meant, adopt it with adopt: "match" (or its uid); ' +
  "if this resource had another name before, declare that name in aliases.";

const kindOf = (asked: Asked) => (asked[0] as { desired: Desired }).desired.kind;

/** Why a create must not be sent: it would change the record of the same name (docs/internals/contract.md#d19). */
export const upsertProblem = (
  session: Session,
  { kind, key, parent, args }: Desired,
  { records, isComplete }: Existing,
): string | undefined => {
  // The list of existing records was read before, so it does not show records that this run creates.
  const owner = session.ownership.claimName([kind.field, parent, args.name].join(" "), key);
  if (owner !== key)
    return (
      `${key}: ${owner} declares ${kind.word} "${args.name}" in ${parent} too, and a second create would change it; nothing was sent. ` +
      "Remove one of the two."
    );
  const taken = records.find((record) => isMatch(kind, record, args));
  if (taken)
    return `${key}: ${kind.word} ${taken.uid} ${title(taken)} exists, and a create would change it; nothing was sent.\n${ADOPT_ADVICE}`;
  if (isComplete) return undefined;
  return (
    `${key}: cannot check whether ${kind.word} "${args.name}" exists, and a create would change it; nothing was sent. ` +
    `Grant the caller ${operations[kind.list.operation].capabilities.join(", ")}.`
  );
};

export const otherRecordText = (kind: Kind, { key }: Entry, answer: Json, why: string): string =>
  `${key}: the response to ${kind.operations.create} names ${kind.word} ${[answer.uid, title(answer)].filter(Boolean).join(" ")}, which ${why}: ` +
  "it is not adopted, and the search for the created record continues";

/** The record exists, but the response does not name it, so it counts as a lost response. */
export const otherRecord = ({ kind, parent, args: { name } }: Desired, { uid }: Json, why: string): RecordError => {
  const operation = kind.operations.create;
  const text = `the response names ${kind.word} ${uid}, which ${why}`;
  return new RecordError(subjectText(kind, operation, { name, parent }), wrongAnswer(text, operation));
};

/** The error for a batch whose response names more or fewer records. */
export const otherRecords = (asked: Asked): RecordError => {
  const { words, batchCreate: operation } = kindOf(asked);
  const text = `the response does not name the ${words} that were asked for`;
  return new RecordError(batchSubject(asked), wrongAnswer(text, operation));
};

const wrongAnswer = (text: string, operation: OperationName | undefined) =>
  new LostAnswer({ status: 200, sent: true }, "UNKNOWN", text, { ...(operation && { operation }) });

/** `BatchCreateRoleBindings 3 role bindings in 7209…/a033…`; for one record, its usual subject. */
export const batchSubject = (asked: Asked): string => {
  const [{ desired }] = asked as [{ desired: Desired }];
  const { kind, parent, fields } = desired;
  if (asked.length === 1) return subjectText(kind, kind.operations.create, { name: fields.name, parent });
  return `${kind.batchCreate} ${asked.length} ${kind.words} ${placeText(parent)}`;
};

// A create that would make a second record, which nothing distinguishes from the first. A killed run of this stack may have created the
// first: the journal and the engine's state would show that. If they do not, the create stops unless the kind has other means to tell its
// records apart.

/**
 * Whether this run refuses a second record with the same parent and fields, unless `allowDuplicate` is set. Without checkpoints the
 * engine's state does not show the creates of a killed run, so even a harmless one is refused.
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
  // Another resource of the stack has this record: the run has not compared that resource yet, is about to delete it, or was killed before.
  const are = await Promise.all(
    found.map(async ({ uid }) => {
      const id = recordId(kind.field, uid);
      return inState.has(id) || session.journal.isOfOther(id, key);
    }),
  );
  const alike = await withoutOpen(
    session,
    kind,
    entry,
    found.filter((_, i) => !are[i]),
  );
  if (alike.length === 0) return undefined;
  const lines = alike.map((record) => recordLine(kind, record));
  const unknown = unknownState(problem);
  if (isRefused) {
    const head = `${key}: ${withArticle(kind.word)} with the same parent and fields exists, and nothing shows that this stack created it; nothing was sent:`;
    const advice = duplicateAdvice(alike[0]?.uid as string);
    return withSection([bulleted(head, ...lines), ...unknown, advice].join("\n"), "equal");
  }
  const head =
    `${key}: creates ${withArticle(kind.word)}, and one with the same parent and fields exists; no intent journal here ` +
    "shows which create produced it:";
  session.log([bulleted(head, ...lines), ...unknown].join("\n"));
  return undefined;
};

/**
 * Leaves out one record for each create of a killed run without checkpoints for another resource: the update deletes it
 * (provider/attribution).
 */
const withoutOpen = async (session: Session, kind: Kind, entry: Entry, records: readonly Json[]) => {
  const open = records.length === 0 ? [] : await session.journal.findOpenAlike(entry);
  return records.filter((record) => {
    const at = open.findIndex((one) => judge(kind, one, record).is === "own");
    if (at >= 0) open.splice(at, 1);
    return at < 0;
  });
};

/** Reported before the run continues as cautiously as one without any evidence. */
export const unknownState = (problem: string | undefined): string[] =>
  problem === undefined
    ? []
    : [`What the engine has stored, which would show the creates of a killed run, could not be read: ${problem}.`];

export const duplicateAdvice = (uid: string): string =>
  `If it belongs to this resource: adopt: "${uid}", with deleteAdopted: true to delete it with the resource. If this resource had another ` +
  "name before, declare that name in aliases. If a second one is meant: allowDuplicate: true.";
