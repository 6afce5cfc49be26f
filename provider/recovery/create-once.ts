// Creates one record without an idempotency key (the API does not offer AIP-155). Its entry is on disk before the POST.
import type { CallOptions } from "../../client/client.ts";
import { advised, LostAnswer, RecordError } from "../../client/errors.ts";
import { createRecord, subjectText } from "../../client/records.ts";
import { type Json, operations } from "../../schema/index.ts";
import type { Entry } from "../log/entry.ts";
import type { Desired } from "../record/desired.ts";
import { isMatch, recordId, recordLine } from "../record/id.ts";
import { type Kind, title, withArticle } from "../record/kind.ts";
import type { NewIntent } from "../run/journal.ts";
import { type Session, serviceNow } from "../run/session.ts";
import { CREATION_GRACE_MS } from "./not-found.ts";
import { noteAnswer, noteFailure, noteSuccess } from "./outcome.ts";
import {
  answerProblem,
  type Existing,
  existingAlike,
  findCreated,
  listExisting,
  pickCreated,
  undecidedRecord,
} from "./search.ts";
import { sendOnce, unknownOutcome } from "./send-once.ts";
import { recoverPatiently } from "./wait.ts";

/** The new record; undefined when another process has meanwhile left an entry for this resource. `existing`: what its group held. */
export const createOnce = async (
  session: Session,
  desired: Desired,
  existing?: Existing,
): Promise<Json | undefined> => {
  const { journal, ownership } = session;
  const { kind, key } = desired;
  const [entry] = (await journal.begin([intentOf(desired)], () => serviceNow(session))) ?? [];
  if (!entry) return undefined;
  try {
    const before = existing ?? (await listExisting(session, desired));
    const problem = upsertProblem(session, desired, before);
    if (problem !== undefined) {
      await noteFailure(session, entry);
      throw new Error(problem);
    }
    if (await journal.isNew(key)) warnOfAlike(kind, session, entry, before);
    const record = await post(session, desired, entry, before);
    const uid = record.uid as string;
    // From here on the record exists.
    ownership.take(recordId(kind.field, uid), key, "created");
    await noteSuccess(session, { entry, uid });
    return record;
  } finally {
    await journal.end([entry]);
  }
};

/** What the journal keeps of a create. */
export const intentOf = ({ kind, key, parent, choices, fingerprint }: Desired): NewIntent => ({
  key,
  kind: kind.field,
  parent,
  inputs: fingerprint,
  given: [...choices],
});

/** The response to the POST, or the record that it created. */
const post = async (session: Session, desired: Desired, entry: Entry, before: Existing): Promise<Json> => {
  const { kind, parent, fields } = desired;
  let undecided: Error | undefined;
  const send = async (options: CallOptions) => {
    const answer = await createRecord(session, kind, parent, fields, options);
    const problem = await answerProblem(kind, session, entry, answer, before);
    if (problem === undefined) return answer;
    if (problem.isUndecided) {
      await noteAnswer(session, entry, answer.uid as string);
      undecided = undecidedRecord(kind, session, entry, answer, problem.why);
    }
    session.log(otherRecordText(kind, entry, answer, problem.why));
    throw otherRecord(desired, answer, problem.why);
  };
  const search = async (error: Error) => {
    const found = await searchAfter(error, session, desired, entry, before);
    if (found === undefined && undecided && entry.answered !== undefined) throw undecided;
    return found;
  };
  try {
    return await sendOnce(session, { parent, what: `the ${kind.word} was`, entries: () => [entry], send, search });
  } catch (error) {
    throw advised(error, "ALREADY_EXISTS", ADOPT_ADVICE);
  }
};

const searchAfter = async (
  error: Error,
  session: Session,
  { kind, args }: Desired,
  entry: Entry,
  before: Existing,
): Promise<Json | undefined> => {
  let found: Json[];
  try {
    const except = new Set(before.records.map(({ uid }) => uid));
    const filters = kind.filters(args);
    found = await recoverPatiently(session, entry.key, (own) =>
      findCreated(kind, own, entry, { filters, waitMs: CREATION_GRACE_MS, except }),
    );
  } catch (reason) {
    const { message } = unknownOutcome(`the ${kind.word} was`, error);
    throw new Error(`${message}\nThe search for it failed as well: ${(reason as Error).message}`, { cause: reason });
  }
  return pickCreated(kind, session, found, entry);
};

const ADOPT_ADVICE =
  'If that record is meant, take it over with adopt: "match" (or its uid); ' +
  "if this resource had another name before, declare that name in aliases.";

// Of a kind whose create changes the record of the same name (docs/contract.md#d19): why it must not be sent.
const upsertProblem = (
  session: Session,
  { kind, key, parent, args }: Desired,
  { records, isComplete }: Existing,
): string | undefined => {
  if (!kind.upsert) return undefined;
  // The list of what exists was read before, so it does not show what this run creates.
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

const otherRecordText = (kind: Kind, { key }: Entry, answer: Json, why: string): string =>
  `${key}: the response to ${kind.operations.create} names ${kind.word} ${[answer.uid, title(answer)].filter(Boolean).join(" ")}, which ${why}: ` +
  "it is not adopted, and the search for the created record continues";

// The record exists, but the response does not name it: as good as no response.
const otherRecord = ({ kind, parent, args: { name } }: Desired, { uid }: Json, why: string): RecordError => {
  const operation = kind.operations.create;
  const text = `the response names ${kind.word} ${uid}, which ${why}`;
  const cause = new LostAnswer({ status: 200, sent: true }, "UNKNOWN", text, { operation });
  return new RecordError(subjectText(kind, operation, { name, parent }), cause);
};

// Without a journal (a fresh CI machine) a run cannot know what a killed run was about to create. It may have created this record.
const warnOfAlike = (kind: Kind, session: Session, entry: Entry, before: Existing): void => {
  const alike = existingAlike(kind, session, entry, before);
  if (alike.length === 0) return;
  const head =
    `${entry.key}: creates ${withArticle(kind.word)}, and one with the same parent and fields exists; no intent journal here ` +
    "shows which create produced it:";
  const lines = alike.map((record) => recordLine(kind, record));
  session.log(
    `${[head, ...lines].join("\n  - ")}\n` +
      "If a run was killed while it created this resource, it may have created that record. To check: pulumi stack export | npx irm journal pending -",
  );
};
