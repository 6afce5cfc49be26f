// A stack that a run without checkpoints left open: which runs, what they created and changed that the engine's state lacks, and what of that
// the program does not declare.
import { isAlive, pidsHere, startOf } from "../../pulumi/process.ts";
import { type EngineState, EngineStateError, type StateResource } from "../../pulumi/state.ts";
import { SECRET, valuesIn } from "../../pulumi/value.ts";
import type { Json } from "../../schema/index.ts";
import { kindOfField } from "../kind/index.ts";
import type { Entry, Run, Write } from "../log/entry.ts";
import { fingerprintOf } from "../record/desired.ts";
import { placeOfRecord, recordId } from "../record/id.ts";
import type { Kind } from "../record/kind.ts";
import { withPlace } from "../record/state.ts";
import { noteFailure } from "../recovery/create.ts";
import { CREATION_GRACE_MS } from "../recovery/not-found.ts";
import { recordsIn } from "../recovery/pending-operations.ts";
import { withRecoveryWait } from "../recovery/wait.ts";
import { SEND_TIME_MS, stackOf, unlessJournalFails } from "../run/journal.ts";
import { DATE_MS, type Ledger, type Session } from "../run/session.ts";
import type { OpenRuns } from "../run/write-ahead.ts";
import { type About, awaitLeftovers, findLeftovers, type Leftover } from "./leftover.ts";
import { type LiveRecords, liveRecords } from "./live.ts";

export interface OpenStack {
  /** organization/project/stack */
  name: string;
  runs: readonly { run: Run; verdict: Verdict; isUnderWay: boolean }[];
  /** what the runs created and the state lacks */
  leftovers: readonly Leftover[];
  /** what they changed and deleted, by the id of the record */
  touched: ReadonlyMap<string, Write>;
  /** why the engine's state is not known */
  problem?: string;
  live: LiveRecords;
  /** of `leftovers` */
  about: About;
  /** The engine's state alone knows of the runs (lost-machine.ts), so the journal notes nothing of them. */
  isOfState?: true;
}

export interface Look {
  /** any resource of the stack */
  key: string;
  /** A preview waits for nothing; undefined: it is not known whether this is one. */
  isPreview?: boolean | undefined;
}

const POLL_MS = 250;

/** What the update or a destroy deletes: of runs that the engine certainly lost, what is certainly theirs. */
export const lostIn = ({ runs }: OpenStack, leftovers: readonly Leftover[]): Leftover[] => {
  const lost = new Set(
    runs.flatMap(({ run, verdict, isUnderWay }) => (verdict === "lost" && !isUnderWay ? [run.began] : [])),
  );
  return leftovers.filter(
    ({ entry, record, doubt }) => record !== undefined && doubt === undefined && lost.has(entry.run as string),
  );
};

/** Undefined where no run has left the stack open. Settles in the journal what the engine's state shows. */
export const findOpenStack = async (
  session: Session,
  { key, isPreview = false }: Look,
): Promise<OpenStack | undefined> => {
  const first = await session.journal.findOpenRuns(key);
  if (!first) return undefined;
  const mustWait = !isPreview && !session.isOnTwin;
  const open = mustWait ? await waitForRuns(session, key, first) : first;
  if (!open) return undefined;
  const name = stackOf(key);
  const { state, problem } = await readState(session, name);
  const findings = findingsOf(open, state);
  await noteFindings(session, key, findings, state !== undefined);
  const changed = new Map(open.writes.map((write) => [recordId(write.kind, write.wrote), write]));
  const about: About = { changed, isStored: findings.isStored };
  const sent = findings.leftovers.map((entry) => ({ entry }));
  const { leftovers, gone } = await findLeftovers(session, sent, about);
  await noteFailure(session, ...gone);
  const touched = new Map(findings.touched.map((write) => [recordId(write.kind, write.wrote), write]));
  const isOpen = ({ began }: Run) =>
    leftovers.some(({ entry }) => entry.run === began) || findings.touched.some(({ run }) => run === began);
  const verdicts = [...findings.verdicts];
  for (const [run, verdict] of verdicts)
    if (verdict !== "saved" && !isOpen(run) && !isUnderWay(run)) await note(session.journal.noteRun(run, "ended", key));
  if (leftovers.length + touched.size === 0) return undefined;
  if (mustWait) await waitForWrites(session, findings.touched);
  // From here on each run says what it does with these records.
  session.journal.recordsWrites = true;
  return {
    name,
    runs: verdicts
      .filter(([run, verdict]) => verdict !== "saved" && isOpen(run))
      .map(([run, verdict]) => ({ run, verdict, isUnderWay: isUnderWay(run) })),
    leftovers,
    touched,
    ...(problem !== undefined && { problem }),
    live: liveRecords(session, state),
    about,
  };
};

const readState = async (ledger: Ledger, name: string): Promise<{ state?: EngineState; problem?: string }> => {
  try {
    return { state: await ledger.engineState(name) };
  } catch (error) {
    if (!(error instanceof EngineStateError)) throw error;
    return { problem: error.message };
  }
};

/** Its process is alive on this machine, and the engine has not ended it. */
const isUnderWay = ({ pid, pids, start, ending }: Run): boolean =>
  ending === undefined && pids !== undefined && pids === pidsHere() && isAlive(pid) && startOf(pid) === start;

/** A plugin finishes what is under way when its engine has been killed. */
const waitForRuns = async (session: Session, key: string, first: OpenRuns): Promise<OpenRuns | undefined> => {
  const { clock, journal, requestTimeoutMs } = session;
  const until = clock.now() + requestTimeoutMs + CREATION_GRACE_MS;
  let open: OpenRuns | undefined = first;
  // One wait, so that it is reported.
  await withRecoveryWait(session, key, async (patient) => {
    while (open?.runs.some(isUnderWay) && clock.now() < until) {
      await patient.clock.sleep(POLL_MS);
      open = await journal.findOpenRuns(key);
    }
  });
  return open;
};

/** Until no request of such a run can arrive any more. */
const waitForWrites = async (session: Session, writes: readonly Write[]): Promise<void> => {
  const waiting = writes.filter(({ isDone }) => !isDone);
  const [first] = waiting;
  if (!first) return;
  const now = await session.serviceNow();
  const last = Math.max(...waiting.map(({ at }) => at));
  const leftMs = last + session.requestTimeoutMs + SEND_TIME_MS + DATE_MS - now;
  if (leftMs > 0) await withRecoveryWait(session, first.key, (patient) => patient.clock.sleep(leftMs));
};

const noteFindings = async (
  { journal }: Ledger,
  key: string,
  { verdicts, stored, shown }: Findings,
  isKnown: boolean,
): Promise<void> => {
  if (!isKnown) return;
  for (const [run, verdict] of verdicts)
    if (verdict !== "saved" && run.judged === undefined && !isUnderWay(run))
      await note(journal.noteRun(run, verdict, key));
  for (const { kind, uid } of stored) if (uid !== undefined) await journal.acknowledge(kind, [uid], key);
  const settled = shown.map(({ kind, wrote }) => ({ kind, uid: wrote }));
  await note(journal.settle(settled, key));
  for (const [run, verdict] of verdicts) if (verdict === "saved") await note(journal.noteRun(run, "ended", key));
};

/** A preview may be unable to write: the update notes it again. */
export const note = (writing: Promise<void>): Promise<void> => unlessJournalFails(undefined, () => writing);

// At the end of a program it is known what it declares: what else an open run created is deleted by the update, as the engine deletes what a
// program no longer declares.

/** What the program has, once the engine has told it. */
export interface Declared {
  /** ids of its records (`recordId`), also of those in its sets */
  records: ReadonlySet<string>;
  /** `Group::team`: its resources of which the engine has not told a record */
  places: ReadonlySet<string>;
}

export interface Undeclared {
  /** deleted by the update */
  own: Leftover[];
  /** what is not certain: a person decides */
  doubtful: Leftover[];
}

/** Undefined where the stack is not open. `key` is of any resource of it. An update waits for what may still appear. */
export const findUndeclared = async (
  session: Session,
  { key, isPreview }: { key: string; isPreview: boolean },
  declared: Declared,
): Promise<Undeclared | undefined> => {
  // The provider of this run is one that is under way, and has waited for the others.
  const stack = await findOpenStack(session, { key, isPreview: true });
  if (!stack) return undefined;
  const isUndeclared = ({ entry, kind, record }: Leftover): boolean => {
    const uid = record?.uid ?? entry.uid;
    const isHeld = uid !== undefined && kind !== undefined && declared.records.has(recordId(kind.field, uid));
    return !isHeld && !mayTakeOver(declared, entry.key);
  };
  const first = stack.leftovers.filter(isUndeclared);
  const undeclared = isPreview ? first : (await awaitLeftovers(session, first, stack.about)).filter(isUndeclared);
  const own = lostIn(stack, undeclared);
  return { own, doubtful: undeclared.filter((one) => !own.includes(one)) };
};

/** A resource without a record may take this one over later: the run leaves it out, or fails. A pair of a set has the key of the set first. */
const mayTakeOver = ({ places }: Declared, key: string): boolean => {
  const place = key.split("/").slice(3).join("/");
  return places.has(place) || places.has(place.replace(PAIR, ""));
};

const PAIR = /(?: [0-9a-f]{40}(?:\/[0-9a-f]{16})*){3}$/;

// What the engine's state says of the open runs of a stack: whether it was saved after them, and what of their work it lacks. The state is
// saved whole: a record that such a run created is in it only if the run ended, or a later one has taken the record over.

/**
 * `saved`: the state has what the run did. `lost`: certainly not, so what it created belongs to no resource. `unclear`: the state was
 * written since, and lacks some of it: perhaps a person has removed that from the state.
 */
export type Verdict = "saved" | "lost" | "unclear";

export type Findings = ReturnType<typeof findingsOf>;

/** `state` is undefined where it cannot be read: then nothing is saved, and nothing lost. */
export const findingsOf = (open: OpenRuns, state: EngineState | undefined) => {
  const records = recordsIn(state?.resources.filter(({ external }) => !external) ?? []);
  const isInState = ({ kind, uid }: Entry) => uid !== undefined && records.has(recordId(kind, uid));
  const savedAt = state ? Date.parse(state.savedAt) : Number.NEGATIVE_INFINITY;
  const isShown = (write: Write) => showsWrite(records.get(recordId(write.kind, write.wrote)), write, savedAt);
  const verdictOf = (run: Run): Verdict => {
    if (run.judged) return run.judged;
    if (!state) return "unclear";
    const created = open.entries.filter((entry) => entry.run === run.began && entry.uid !== undefined);
    const isSaved = created.some(isInState);
    if (run.ending === undefined) return !isSaved ? "lost" : created.every(isInState) ? "saved" : "unclear";
    if (isSaved) return "saved";
    const writes = open.writes.filter((write) => write.run === run.began);
    return savedAt >= run.ending && created.length === 0 && writes.every(isShown) ? "saved" : "unclear";
  };
  const verdicts = new Map(open.runs.map((run) => [run, verdictOf(run)]));
  const byId = new Map([...verdicts].map(([{ began }, verdict]) => [began, verdict]));
  const isSettled = (write: Write): boolean => {
    const verdict = write.run === undefined ? undefined : byId.get(write.run);
    // What is not in the state is in no plan.
    if (verdict === "saved" || (state && !records.has(recordId(write.kind, write.wrote)))) return true;
    return verdict === "lost" ? false : isShown(write);
  };
  return {
    verdicts,
    /** creates of runs that are not saved, whose records the state lacks */
    leftovers: open.entries.filter((entry) => byId.get(entry.run as string) !== "saved" && !isInState(entry)),
    /** creates whose records the state has */
    stored: open.entries.filter(isInState),
    /** updates and deletes that the state does not show */
    touched: open.writes.filter((write) => !isSettled(write)),
    /** those that it shows */
    shown: open.writes.filter(isSettled),
    /** whether a resource of the state has the record of this id (`recordId`) */
    isStored: (id: string): boolean => records.has(id),
  };
};

/** Whether the state, saved at this time, has what the write did. */
const showsWrite = (
  resource: StateResource | undefined,
  { wrote, to, given = [], kind: field, clock }: Write,
  savedAt: number,
) => {
  if (to === undefined || !resource) return resource === undefined;
  const kind = kindOfField(field);
  // A later version wrote it.
  if (!kind) return false;
  // What is encrypted, or returned by no response, is compared by time alone.
  return savedAt >= clock && (containsSecret(resource.outputs) || printOf(kind, wrote, resource.outputs, given) === to);
};

const printOf = (kind: Kind, uid: string, outputs: Json, given: readonly string[]): string =>
  fingerprintOf(kind, placeOfRecord(kind, uid), withPlace(kind, uid, outputs), given);

const containsSecret = (outputs: Json): boolean => JSON.stringify(valuesIn(outputs)).includes(JSON.stringify(SECRET));
