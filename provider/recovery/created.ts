// The response to a create, before it is believed. A proxy or a cache may answer with another record, and the next destroy would
// delete that: somebody else's. So it is taken only when it lies in the parent, was not there before, belongs to no other
// resource, and has the fields that were asked for.
import { isRoot, type Json } from "../../schema/index.ts";
import type { Entry } from "../journal/entry.ts";
import { type Kind, title } from "../kind/kind.ts";
import { recordId } from "../kind/record.ts";
import { LAG_MS } from "../reconcile/lag.ts";
import type { Session } from "../session/session.ts";
import type { Before } from "./before.ts";
import { noteAnswered } from "./note.ts";
import { readShown } from "./recover.ts";
import { verdictOn } from "./verdict.ts";

/** Why the response is not that of this create, for a person; undefined when it is. */
export const refusalOf = async (
  kind: Kind,
  session: Session,
  entry: Entry,
  answer: Json,
  before: Before,
): Promise<string | undefined> => {
  const uid = answer.uid as string;
  const verdict = verdictOn(kind, entry, answer);
  if (verdict.is === "another") return verdict.why;
  if (before.records.some((one) => one.uid === uid)) return "existed before the create";
  const id = recordId(kind.field, uid);
  const refusal = session.claims.refusal(id, entry.key);
  if (refusal) return refusal;
  if ((await session.journal.idsBeside(entry.key)).has(id)) return "was made for another resource of this stack";
  const isOwn = verdict.is === "its own" && !hasForeignMembers(kind, answer);
  if (isOwn || (await isConfirmed(kind, session, entry, answer, before))) return undefined;
  // Made at the same time, in the same place: whose it is a person has to say, where no other record is found.
  await noteAnswered(session, entry, uid);
  return verdict.is === "open" ? verdict.why : `is no ${kind.word}`;
};

// A record of another kind may have the same fields. So may one of a newer service: the record itself tells.
const hasForeignMembers = (kind: Kind, answer: Json): boolean =>
  Object.keys(answer).some((name) => !Object.hasOwn(kind.schema.shape, name));

const isConfirmed = async (kind: Kind, session: Session, entry: Entry, answer: Json, { isWhole }: Before) => {
  const asked = verdictOn(kind, entry, answer);
  if (asked.is === "open" && (asked.by === "fields" || !isWhole)) return false;
  const uid = answer.uid as string;
  // Where it cannot be read, the search for what was made decides.
  const record = await readShown(kind, session, uid, LAG_MS, { permissionIsNew: isRoot(uid) }).catch(() => undefined);
  if (!record) return false;
  const verdict = verdictOn(kind, entry, record);
  return verdict.is === "its own" || (verdict.is === "open" && verdict.by === "age" && isWhole);
};

/** What came back, for the person who runs Pulumi. */
export const refusedText = (kind: Kind, { key }: Entry, answer: Json, why: string): string =>
  `${key}: the response to ${kind.operations.create} names ${kind.word} ${[answer.uid, title(answer)].filter(Boolean).join(" ")}, which ${why}: ` +
  "it is not taken, and the record that was really made is looked for";
