// Creates the missing bindings of a set: 25 in one atomic POST (AIP-233), and one by one after a refusal, so that the error names its
// pair. Each pair has a journal entry of its own, which is on disk before the POST.
import type { CallOptions } from "../../client/client.ts";
import { apiErrorOf, LostAnswer, RecordError, sessionErrorOf } from "../../client/errors.ts";
import { placeText } from "../../client/records.ts";
import type { Json, RequestOf } from "../../schema/index.ts";
import type { Entry } from "../log/entry.ts";
import type { Desired } from "../record/desired.ts";
import { recordId } from "../record/id.ts";
import { createOnce, intentOf } from "../recovery/create-once.ts";
import { CREATION_GRACE_MS } from "../recovery/not-found.ts";
import { noteSuccess } from "../recovery/outcome.ts";
import { judge } from "../recovery/search.ts";
import { sendOnce, UnknownOutcome, unknownOutcome } from "../recovery/send-once.ts";
import { type Session, serviceNow } from "../run/session.ts";
import { type Live, listUntil, liveFrom } from "./live.ts";

/** A pair without a binding. */
export interface Missing {
  desired: Desired;
  /** `"ci" as "viewer"` */
  text: string;
}

export interface Added {
  created: Live[];
  /** why the others could not be created, each with its pair */
  refused: { missing: Missing; error: Error }[];
}

/** Undefined when another process has meanwhile left an entry for one of the pairs. `existing`: the bindings of the group so far. */
export const addBatch = async (
  session: Session,
  group: string,
  missing: readonly Missing[],
  existing: readonly Live[],
): Promise<Added | undefined> => {
  const [only, ...others] = missing;
  if (only && others.length === 0) return addEach(session, [only], existing);
  try {
    const created = await createBatch(session, group, missing, existing);
    return created && { created, refused: [] };
  } catch (error) {
    // All or nothing: no binding of a refused batch exists.
    if (!isRefusal(error)) throw error;
    return addEach(session, missing, existing);
  }
};

/** A refusal that concerns a pair, and not the whole run. */
const isRefusal = (error: unknown): boolean =>
  !(error instanceof UnknownOutcome) && !sessionErrorOf(error) && apiErrorOf(error) !== undefined;

const addEach = async (
  session: Session,
  missing: readonly Missing[],
  existing: readonly Live[],
): Promise<Added | undefined> => {
  const added: Added = { created: [], refused: [] };
  const before = { records: existing.map(({ record }) => record), isComplete: true };
  for (const one of missing) {
    try {
      const record = await createOnce(session, one.desired, before);
      if (!record) return added.created.length > 0 ? added : undefined;
      added.created.push(liveFrom(record));
    } catch (error) {
      if (!isRefusal(error)) throw new Interrupted(error as Error, added.created);
      added.refused.push({ missing: one, error: error as Error });
    }
  }
  return added;
};

/** The run must stop, with some of the bindings created. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly created: readonly Live[];

  constructor(cause: Error, created: readonly Live[]) {
    super(cause.message, { cause });
    this.created = created;
  }
}

const createBatch = async (
  session: Session,
  group: string,
  missing: readonly Missing[],
  existing: readonly Live[],
): Promise<Live[] | undefined> => {
  const { journal, ownership } = session;
  const pairs = missing.map(({ desired }) => desired);
  const entries = await journal.begin(pairs.map(intentOf), () => serviceNow(session));
  if (!entries) return undefined;
  const entryOf = new Map(entries.map((entry) => [entry.key, entry]));
  const before = new Set(existing.map(({ uid }) => uid));
  const found = new Map<string, Live>();
  const left = (): Desired[] => pairs.filter(({ key }) => !found.has(key));
  const note = async (records: readonly (readonly [Desired, Json])[]): Promise<void> => {
    const created = records.map(([{ kind, key }, record]) => {
      const live = liveFrom(record);
      ownership.take(recordId(kind.field, live.uid), key, "created");
      found.set(key, live);
      return { entry: entryOf.get(key) as Entry, uid: live.uid };
    });
    const [first, ...others] = created;
    if (first) await noteSuccess(session, first, ...others);
  };
  const isCreated = ({ kind, key }: Desired, record: Json): boolean =>
    judge(kind, entryOf.get(key) as Entry, record).is === "own" &&
    !before.has(record.uid as string) &&
    ownership.creationRefusal(recordId(kind.field, record.uid as string), key) === undefined;

  const send = async (options: CallOptions): Promise<true> => {
    const asked = left();
    const records = await post(session, group, asked, options);
    const answered = asked.map((desired, i) => [desired, records[i] ?? {}] as const);
    if (records.length !== asked.length || answered.some(([desired, record]) => !isCreated(desired, record)))
      throw otherAnswer(group, asked.length);
    await note(answered);
    return true;
  };
  const search = async (lost: Error): Promise<true | undefined> => {
    const recordsIn = (live: readonly Live[]) =>
      left().flatMap((desired) => {
        const own = live.find(({ record }) => isCreated(desired, record));
        return own ? [[desired, own.record] as const] : [];
      });
    try {
      const live = await listUntil(session, group, CREATION_GRACE_MS, (now) => recordsIn(now).length === left().length);
      await note(recordsIn(live));
    } catch (reason) {
      const { message } = unknownOutcome(whatOf(left().length), lost);
      throw new UnknownOutcome(`${message}\nThe search for them failed as well: ${(reason as Error).message}`);
    }
    return left().length === 0 ? true : undefined;
  };
  try {
    const open = () => left().map(({ key }) => entryOf.get(key) as Entry);
    await sendOnce(session, { parent: group, what: whatOf(pairs.length), entries: open, send, search });
    return [...found.values()];
  } catch (error) {
    throw found.size === 0 ? error : new Interrupted(error as Error, [...found.values()]);
  } finally {
    await journal.end(entries);
  }
};

const whatOf = (count: number): string => (count === 1 ? "the role binding was" : `the ${count} role bindings were`);

const OPERATION = "BatchCreateRoleBindings";

const post = async (
  session: Session,
  parent: string,
  pairs: readonly Desired[],
  options: CallOptions,
): Promise<readonly Json[]> => {
  const requests = pairs.map(({ fields }) => ({ roleBinding: fields }));
  try {
    const { roleBindings } = await session.call(
      OPERATION,
      { parent, requests } as RequestOf<typeof OPERATION>,
      options,
    );
    return roleBindings ?? [];
  } catch (error) {
    const cause = apiErrorOf(error);
    throw cause ? new RecordError(subjectOf(parent, pairs.length), cause) : error;
  }
};

const subjectOf = (parent: string, count: number): string => `${OPERATION} ${count} role bindings ${placeText(parent)}`;

// The bindings exist, but the response does not name them: as good as no response.
const otherAnswer = (parent: string, count: number): RecordError => {
  const text = "the response does not name the role bindings that were asked for";
  const cause = new LostAnswer({ status: 200, sent: true }, "UNKNOWN", text, { operation: OPERATION });
  return new RecordError(subjectOf(parent, count), cause);
};
