// A runner without a journal (a fresh CI machine) cannot know what a run before it was about to make when it was killed. So
// what looks exactly like the record that is about to be made is told, by name and uid; it may be that run's.
import type { Json } from "../schema/index.ts";
import { fingerprint, givenChoices } from "./fingerprint.ts";
import { type Kind, title } from "./kind/kind.ts";
import type { Session } from "./session.ts";
import { walkChildren } from "./walk.ts";

/** Says which records have the same parent and the same inputs. One list for each parent and kind, before the first create. */
export const tellTwins = async (kind: Kind, session: Session, key: string, desired: Json): Promise<void> => {
  const parent = (desired.parent as string | undefined) ?? "";
  const choices = givenChoices(kind, desired);
  const wanted = fingerprint(kind, parent, desired, choices);
  const twins = (await recordsIn(kind, session, parent)).filter(
    (record) =>
      fingerprint(kind, parent, record, choices) === wanted && !session.claims.refusal(record.uid as string, key),
  );
  if (twins.length === 0) return;
  const head =
    `${key}: makes a ${kind.word}; there is one already with the same parent and the same fields, and no intent journal here ` +
    "that knows whose it is:";
  const lines = twins.map((record) => `${kind.word} ${record.uid} ${title(record)}, made ${record.createTime}`);
  session.say(
    `${[head, ...lines].join("\n  - ")}\n` +
      "If a run was killed while it made this resource, that record is its: pulumi stack export | irm journal pending tells.",
  );
};

const recordsIn = (kind: Kind, session: Session, parent: string): Promise<Json[]> => {
  const { twins, newRoots } = session;
  // Nothing is in a group that this run has made.
  if (parent !== "" && (newRoots.has(parent) || session.claims.isTaken(parent))) return Promise.resolve([]);
  const place = `${kind.type} ${parent}`;
  const found = twins.get(place) ?? listed(kind, session, parent);
  twins.set(place, found);
  return found;
};

const listed = async (kind: Kind, session: Session, parent: string): Promise<Json[]> => {
  const records: Json[] = [];
  try {
    for await (const record of walkChildren(session, kind.list, parent)) records.push(record);
  } catch {
    // A courtesy: who may create and not list is not kept from it.
  }
  return records;
};
