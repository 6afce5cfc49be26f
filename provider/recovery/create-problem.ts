// What may be wrong with a create, and what a person reads about it.
import { LostAnswer, RecordError } from "../../client/errors.ts";
import { placeText, subjectText } from "../../client/records.ts";
import { withSection } from "../../client/recovery.ts";
import { type Json, operations } from "../../schema/index.ts";
import type { Entry } from "../log/entry.ts";
import type { Desired } from "../record/desired.ts";
import { isMatch } from "../record/id.ts";
import { type Kind, title } from "../record/kind.ts";
import type { Session } from "../run/session.ts";
import type { Existing } from "./search.ts";

type Asked = readonly { desired: Desired }[];

/** The outcome of a create is unknown, and its entry stays pending. */
export class UnknownOutcome extends Error {
  override readonly name = "UnknownOutcome";
}

/** `more`: why the search failed too, which has the reason `cause`. */
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
  'If that record is meant, take it over with adopt: "match" (or its uid); ' +
  "if this resource had another name before, declare that name in aliases.";

const kindOf = (asked: Asked): Kind => (asked[0] as { desired: Desired }).desired.kind;

/** Why a create must not be sent that would change the record of the same name (docs/contract.md#d19). */
export const upsertProblem = (
  session: Session,
  { kind, key, parent, args }: Desired,
  { records, isComplete }: Existing,
): string | undefined => {
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

export const otherRecordText = (kind: Kind, { key }: Entry, answer: Json, why: string): string =>
  `${key}: the response to ${kind.operations.create} names ${kind.word} ${[answer.uid, title(answer)].filter(Boolean).join(" ")}, which ${why}: ` +
  "it is not adopted, and the search for the created record continues";

/** The record exists, but the response does not name it: as good as no response. */
export const otherRecord = ({ kind, parent, args: { name } }: Desired, { uid }: Json, why: string): RecordError => {
  const operation = kind.operations.create;
  const text = `the response names ${kind.word} ${uid}, which ${why}`;
  const cause = new LostAnswer({ status: 200, sent: true }, "UNKNOWN", text, { operation });
  return new RecordError(subjectText(kind, operation, { name, parent }), cause);
};

/** The same of a batch whose response names more or fewer records. */
export const otherRecords = (asked: Asked): RecordError => {
  const { words, batchCreate: operation } = kindOf(asked);
  const text = `the response does not name the ${words} that were asked for`;
  const cause = new LostAnswer({ status: 200, sent: true }, "UNKNOWN", text, { ...(operation && { operation }) });
  return new RecordError(batchSubject(asked), cause);
};

/** `BatchCreateRoleBindings 3 role bindings in 7209…/a033…`; of one record, what any method says of it. */
export const batchSubject = (asked: Asked): string => {
  const [{ desired }] = asked as [{ desired: Desired }];
  const { kind, parent, fields } = desired;
  if (asked.length === 1) return subjectText(kind, kind.operations.create, { name: fields.name, parent });
  return `${kind.batchCreate} ${asked.length} ${kind.words} ${placeText(parent)}`;
};
