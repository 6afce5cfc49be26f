// A stack that runs without checkpoints left open: these runs, their changes that the engine's state lacks, and their records that the
// program does not declare.
import { isAlive, pidsHere, startOf } from "../../pulumi/process.ts";
import { type EngineState, EngineStateError, type StateResource } from "../../pulumi/state.ts";
import { SECRET, valuesIn } from "../../pulumi/value.ts";
import { kindOfField } from "../kind/index.ts";
import type { Entry, Run, Write } from "../log/entry.ts";
import { fingerprintOf } from "../record/desired.ts";
import { placeOfRecord, recordId } from "../record/id.ts";
import { placeInKey, withPlace } from "../record/state.ts";
import { noteFailure } from "../recovery/create.ts";
import { CREATION_GRACE_MS } from "../recovery/not-found.ts";
import { recordsIn } from "../recovery/pending-operations.ts";
import { withRecoveryWait } from "../recovery/wait.ts";
import { SEND_TIME_MS, stackOf, unlessJournalFails } from "../run/journal.ts";
import { DATE_MS, type Ledger, type Session } from "../run/session.ts";
import type { OpenRuns } from "../run/stack-journal.ts";
import { type About, awaitLeftovers, findLeftovers, type Leftover } from "./leftover.ts";
import { type LiveRecords, liveRecords } from "./live.ts";

export interface OpenStack {
  /** organization/project/stack */
  name: string;
  runs: readonly { run: Run; verdict: Verdict; isUnderWay: boolean }[];
  /** records that the runs created and the state lacks */
  leftovers: readonly Leftover[];
  /** their updates and deletes, by the id of the record */
  touched: ReadonlyMap<string, Write>;
  /** why the engine's state is unknown */
  problem?: string;
  live: LiveRecords;
  /** of `leftovers` */
  about: About;
  /** Only the engine's state shows the runs (lost-machine.ts), so the journal records nothing about them. */
  isOfState?: true;
}

export interface Look {
  /** any resource of the stack */
  key: string;
  /** A preview waits for nothing; undefined: unknown whether this is a preview. */
  isPreview?: boolean | undefined;
}

const POLL_MS = 250;

/** The leftovers that the update or a destroy deletes: they certainly belong to runs that the engine certainly lost. */
export const lostIn = ({ runs }: OpenStack, leftovers: readonly Leftover[]): Leftover[] => {
  const lost = new Set(
    runs.flatMap(({ run, verdict, isUnderWay }) => (verdict === "lost" && !isUnderWay ? [run.began] : [])),
  );
  return leftovers.filter(
    ({ entry, record, doubt }) => record !== undefined && doubt === undefined && lost.has(entry.run as string),
  );
};

/** Undefined if no run has left the stack open. Settles in the journal the changes that the engine's state shows. */
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
  // From here on each run records its changes to these records.
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
const isUnderWay = ({ pid, pids, start, ending }: Run) =>
  ending === undefined && pids !== undefined && pids === pidsHere() && isAlive(pid) && startOf(pid) === start;

/** After its engine is killed, a plugin finishes the calls under way. */
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

// At the end of a program, all its declarations are known. The update deletes the other records that an open run created, as the engine
// deletes resources that a program no longer declares.

/** The resources and records of the program, as far as the engine has returned them. */
export interface Declared {
  /** ids of its records (`recordId`), including those in its sets */
  records: ReadonlySet<string>;
  /** `Group::team`: its resources for which the engine has returned no record */
  places: ReadonlySet<string>;
}

export interface Undeclared {
  /** deleted by the update */
  own: Leftover[];
  /** uncertain ones: a person decides */
  doubtful: Leftover[];
}

/** Undefined if the stack is not open. `key` belongs to any of its resources. An update waits for records that may still appear. */
export const findUndeclared = async (
  session: Session,
  { key, isPreview }: { key: string; isPreview: boolean },
  declared: Declared,
): Promise<Undeclared | undefined> => {
  // The provider of this run is itself under way, and has waited for the other runs.
  const stack = await findOpenStack(session, { key, isPreview: true });
  if (!stack) return undefined;
  const isUndeclared = ({ entry, kind, record }: Leftover) => {
    const uid = record?.uid ?? entry.uid;
    const isHeld = uid !== undefined && kind !== undefined && declared.records.has(recordId(kind.field, uid));
    // A resource without a record may adopt this one later, if the run excludes the resource or fails. The key of a pair begins with the key
    // of its set.
    const place = placeInKey(entry.key);
    return !isHeld && !declared.places.has(place) && !declared.places.has(place.replace(PAIR, ""));
  };
  const first = stack.leftovers.filter(isUndeclared);
  const undeclared = isPreview ? first : (await awaitLeftovers(session, first, stack.about)).filter(isUndeclared);
  const own = lostIn(stack, undeclared);
  return { own, doubtful: undeclared.filter((one) => !own.includes(one)) };
};

const PAIR = /(?: [0-9a-f]{40}(?:\/[0-9a-f]{16})*){3}$/;

// Compares the open runs of a stack with the engine's state: whether it was saved after them, and the changes that it lacks. The state is
// saved whole. It contains a record of such a run only if the run ended, or a later one has adopted the record.

/**
 * `saved`: the state contains the run's changes. `lost`: it certainly does not, so the run's records belong to no resource. `unclear`: the
 * state was written since, but lacks some changes: perhaps a person removed them.
 */
export type Verdict = "saved" | "lost" | "unclear";

export type Findings = ReturnType<typeof findingsOf>;

/** `state` is undefined if it cannot be read: then no run counts as saved or lost. */
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
  const isSettled = (write: Write) => {
    const verdict = write.run === undefined ? undefined : byId.get(write.run);
    // A record that is not in the state is in no plan.
    if (verdict === "saved" || (state && !records.has(recordId(write.kind, write.wrote)))) return true;
    return verdict === "lost" ? false : isShown(write);
  };
  return {
    verdicts,
    /** creates of runs that are not saved, whose records the state lacks */
    leftovers: open.entries.filter((entry) => byId.get(entry.run as string) !== "saved" && !isInState(entry)),
    /** creates whose records the state contains */
    stored: open.entries.filter(isInState),
    /** updates and deletes that the state lacks */
    touched: open.writes.filter((write) => !isSettled(write)),
    /** those that it shows */
    shown: open.writes.filter(isSettled),
    /** whether a resource of the state has the record of this id (`recordId`) */
    isStored: (id: string) => records.has(id),
  };
};

/** Whether the state, saved at this time, contains the result of the write. */
const showsWrite = (
  resource: StateResource | undefined,
  { wrote, to, given = [], kind: field, clock }: Write,
  savedAt: number,
) => {
  if (to === undefined || !resource) return resource === undefined;
  const kind = kindOfField(field);
  // A later version wrote it.
  if (!kind) return false;
  // Values that are encrypted, or that no response returns, are compared only by time.
  if (savedAt < clock) return false;
  if (JSON.stringify(valuesIn(resource.outputs)).includes(JSON.stringify(SECRET))) return true;
  return fingerprintOf(kind, placeOfRecord(kind, wrote), withPlace(kind, wrote, resource.outputs), given) === to;
};
