// Creates that a killed run left open, as the engine's state has them: on a machine without the journal of that run, only the state says
// what was sent. A resource takes over the record that has all of that, and is as old as the run. The engine's state is as trustworthy as
// what it says of records that it has, so the record may differ from the program by now.

import { DEADLINE_MS } from "../../client/retry.ts";
import {
  decryptedValue,
  EngineStateError,
  hasSecret,
  type PendingOperation,
  type StateResource,
} from "../../pulumi/state.ts";
import { keyFrom } from "../../pulumi/urn.ts";
import { getOrInsert, type Json } from "../../schema/index.ts";
import { kindOfToken } from "../kind/index.ts";
import { bindingsIn, desiredPair, grants, pairsIn, withRoleUids } from "../kind/pair.ts";
import type { Entry } from "../log/entry.ts";
import { changeOf, type Desired, desiredFrom, withUids } from "../record/desired.ts";
import { createTimeOf, placeOfRecord, recordId, type Stamp, stampIn, stampTextIn } from "../record/id.ts";
import { SET_TYPE, typeOfToken } from "../record/kind.ts";
import { withoutSecrets } from "../record/normal-form.ts";
import { KEY, outputsFrom, PROVIDER } from "../record/state.ts";
import { stackOf } from "../run/journal.ts";
import { perSession } from "../run/ownership.ts";
import { DATE_MS, type Session } from "../run/session.ts";
import { CREATION_GRACE_MS } from "./not-found.ts";
import { ambiguousCreate, CLOCK_SKEW_MS, type Search, searchForEntry } from "./search.ts";
import { withRecoveryWait } from "./wait.ts";

/** A create of an earlier run. */
export interface Interrupted extends Operation {
  /** what was sent: the record of the resource, or one of those that it has */
  desired: Desired;
  /** as the journal of that run had it */
  entry: Entry;
}

/** Those that this run has not settled, in the stack of a resource. */
export const interruptedCreates = async (
  session: Session,
  key: string,
  isAsked: (one: Operation) => boolean = () => true,
): Promise<Interrupted[]> => {
  const { open } = await stackOperations(session, key);
  const sent = await Promise.all(
    open.filter(isAsked).map(async (one) => (await desiredIn(session, one)).map((desired) => ({ ...one, desired }))),
  );
  const byKey = Map.groupBy(sent.flat(), ({ desired }) => desired.key);
  return sent.flat().map((one) => {
    // A later run may have taken over what an earlier one created.
    const notBefore = Math.min(...(byKey.get(one.desired.key) ?? []).map(({ stamp }) => stamp.at));
    return { ...one, entry: entryOf(one.desired, one.stamp.at, notBefore) };
  });
};

/** The records that the operation was to create. */
const desiredIn = async (
  session: Session,
  { key, type, action, inputs, stored = {} }: Operation,
): Promise<Desired[]> => {
  if (isOfSet(type)) {
    if (action === "deleting") return [];
    // Of a set that moves, the state has the pairs of the group that it leaves.
    const managed = stored.parent === inputs.parent ? bindingsIn(stored, "bindings") : [];
    const added = pairsIn(inputs).filter((pair) => !managed.some((one) => grants(one, pair)));
    const resolved = await withRoleUids(session, added);
    return resolved.map(({ identity, role }) => desiredPair(key, inputs.parent as string, identity, role));
  }
  const kind = kindOfToken(type);
  // An adoption creates nothing.
  if (!kind || action !== "creating" || inputs.adopt) return [];
  return [await withUids(session, desiredFrom(kind, { ...inputs, [KEY]: key }))];
};

const isOfSet = (type: string): boolean => typeOfToken(type) === SET_TYPE;

const entryOf = (desired: Desired, at: number, notBefore: number): Entry => {
  const { kind, key, parent, fingerprint, choices } = desired;
  return {
    ...{ intent: `${key} ${at}`, key, kind: kind.field, parent, inputs: fingerprint, given: [...choices] },
    ...{ at, notBefore },
  };
};

/** The record that a killed run created for the resource, and that the state lacks. */
export const recoverInterrupted = async (session: Session, desired: Desired): Promise<Json | undefined> => {
  const { key } = desired;
  const own = await findInterrupted(session, desired);
  if (own.length === 0) return undefined;
  // Equal creates are searched for in turn. No record is taken twice.
  return session.turns.take(`interrupted ${own[0]?.entry.inputs}`, async () => {
    const record = await withRecoveryWait(session, key, (patient) =>
      searchInterrupted(patient, desired, own, (one) => hiddenMs(patient, one)),
    );
    await settleOperations(session, key, (one) => one.action === "creating" && one.key === key);
    return record;
  });
};

/** Those of resources that are one record. */
const interruptedRecords = (session: Session, key: string): Promise<Interrupted[]> =>
  interruptedCreates(session, key, ({ type }) => !isOfSet(type));

/** The creates that may have been of this resource. */
export const findInterrupted = async (session: Session, desired: Desired): Promise<Interrupted[]> => {
  const own = (await interruptedRecords(session, desired.key)).filter((one) => isFor(one, desired));
  // A journal that is there knows more.
  return own.length > 0 && (await session.journal.peekUnsettled(desired.key)).length > 0 ? [] : own;
};

/** Whether no update makes the record what the program asks for. */
export const isReplaced = (desired: Desired, record: Json): boolean => {
  const { kind, args } = desired;
  const outs = outputsFrom(kind, record, withoutSecrets(kind, args));
  return changeOf(desired, placeOfRecord(kind, record.uid as string), outs).replaces.length > 0;
};

/** Of this resource, or equal to what it asks for: the resource may have had another name when its create was interrupted. */
const isFor = ({ key, desired, updatesSince }: Interrupted, asked: Desired): boolean =>
  updatesSince === 0 &&
  (key === asked.key || (desired.kind === asked.kind && desired.fingerprint === asked.fingerprint));

/** `waitMs`: how long a record may still be hidden. Throws where a person has to decide. */
export const searchInterrupted = async (
  session: Session,
  { key, kind }: Desired,
  own: readonly Interrupted[],
  waitMs: (one: Interrupted) => Promise<number>,
): Promise<Json | undefined> => {
  const all = await interruptedRecords(session, key);
  const found = new Map<unknown, Json>();
  let isSure = true;
  // What the last run has created, or has changed of what one before it created, is there first.
  for (const one of own.toSorted((a, b) => b.entry.at - a.entry.at)) {
    const asOwn = { ...one.entry, key };
    for (const record of await searchForEntry(
      one.desired.kind,
      session,
      asOwn,
      searchOf(session, one, await waitMs(one)),
    )) {
      found.set(record.uid, record);
      isSure &&= Date.parse(createTimeOf(record)) >= one.entry.notBefore;
    }
  }
  const [first] = found.values();
  // As many equal creates were interrupted: each resource takes one of their records.
  const prints = new Set(own.map(({ entry }) => entry.inputs));
  const alike = new Set(all.filter(({ entry }) => prints.has(entry.inputs)).map((one) => one.key));
  if (isSure && (found.size <= 1 || found.size <= alike.size)) return first;
  throw ambiguousCreate(kind, key, [...found.values()]);
};

/** How its record is searched for. `waitMs`: how long it may still be hidden. */
export const searchOf = (session: Session, { desired, ...one }: Interrupted, waitMs: number): Search => ({
  filters: desired.kind.filters(desired.args),
  waitMs,
  notAfter: createdBefore(session, one),
});

// Operations that a killed run had begun and not ended, as the engine's state has them. A create stays there until somebody clears it; the
// engine forgets any other once the next run saves its state.

export interface Operation {
  /** organization/project/stack/type::name of the resource */
  key: string;
  urn: string;
  /** type token of the resource */
  type: string;
  action: "creating" | "updating" | "deleting";
  /** in clear text, as far as that is needed */
  inputs: Json;
  /** when the check before it was */
  stamp: Stamp;
  /** by the service's clock: no request of that run was sent later */
  sentBefore: number;
  /** How many updates have succeeded since: after one, the resource may have had a record that is gone. */
  updatesSince: number;
  /** The record stays where the program no longer declares the resource: `protect` or `retainOnDelete`. */
  isKept: boolean;
  /** id and outputs of the resource in the state; undefined: the state has none */
  id?: string | undefined;
  stored?: Json | undefined;
}

interface StackOperations {
  open: Operation[];
  /** ids of the records that the state has (`recordId`) */
  inState: ReadonlyMap<string, unknown>;
  /** why the state is not known: one sentence */
  problem?: string;
}

const known = perSession(() => new Map<string, Promise<StackOperations>>());

/** Those of the stack of a resource. It reads the state once. */
export const stackOperations = (session: Session, key: string): Promise<StackOperations> =>
  getOrInsert(known(session), stackOf(key), () => readOperations(session, stackOf(key)));

/** What became of them is known to this run. */
export const settleOperations = async (
  session: Session,
  key: string,
  isSettled: (one: Operation) => boolean,
): Promise<void> => {
  const operations = await stackOperations(session, key);
  operations.open = operations.open.filter((one) => !isSettled(one));
  session.interrupted.set(stackOf(key), operations.open.length > 0);
};

const readOperations = async (session: Session, stack: string): Promise<StackOperations> => {
  const operations = await operationsOf(session, stack).catch((error: unknown): StackOperations => {
    if (!(error instanceof EngineStateError)) throw error;
    return { open: [], inState: new Map(), problem: error.message };
  });
  session.interrupted.set(stack, operations.open.length > 0);
  return operations;
};

const operationsOf = async (session: Session, stack: string): Promise<StackOperations> => {
  const { resources, pending, savedAt } = await session.engineState(stack);
  const inState = recordsIn(resources);
  if (pending.length === 0) return { open: [], inState };
  const isOwn = await ownOperations(session, savedAt);
  const openIn = (operations: readonly PendingOperation[]) =>
    operations.flatMap((one) => openFrom(one, stack, resources) ?? []).filter((one) => !isOwn(one));
  const found = openIn(pending);
  if (found.length === 0) return { open: [], inState };
  const hidesSome = found.some(({ inputs }) => hasSecret(inputs));
  const open = hidesSome ? openIn((await session.engineSecrets(stack)).pending) : found;
  const runs = await session.engineRuns(stack);
  const timed = open.map(({ text: _text, ...one }): Operation => {
    const { at, startedAt } = one.stamp;
    const later = runs.filter((run) => run.startedAt > startedAt);
    const again = open.filter(({ key, stamp }) => key === one.key && stamp.at > at).map(({ stamp }) => stamp.at);
    // The engine saved when it began the operation. Then the provider may have waited for a lock, and sent its request again and again.
    const lastSent = Date.parse(savedAt) - startedAt + at + 2 * (DEADLINE_MS + session.requestTimeoutMs);
    // A run begins when the one before has ended: one that ended by itself, or that was killed in the same place.
    const sentBefore = Math.min(lastSent, ...later.map((run) => run.startedAt - startedAt + at), ...again);
    const updatesSince = later.filter(({ kind, result }) => kind === "update" && result === "succeeded").length;
    return { ...one, inputs: decryptedValue(one.inputs) as Json, sentBefore, updatesSince };
  });
  return { open: timed, inState };
};

/** Whether this run has begun the operation, perhaps in another process. It forgets what others were changing when it first saves. */
const ownOperations = async (session: Session, savedAt: string): Promise<(one: Found) => boolean> => {
  const ageMs = session.clock.now() - session.begunAt;
  const isSavedHere = Date.parse(savedAt) >= session.clock.today() - ageMs;
  const begunBy = (await session.serviceNow()) - ageMs + DATE_MS;
  return ({ action, text, stamp }) =>
    action === "creating" ? session.stamps.has(text) || stamp.at > begunBy : isSavedHere;
};

type Found = Omit<Operation, "sentBefore" | "updatesSince"> & { text: string };

/** An operation of ours. Undefined for a create whose record the state may have: a resource that it replaces is older. */
const openFrom = (
  { type: action, resource: { urn, type, inputs: all, retainOnDelete, protect } }: PendingOperation,
  stack: string,
  resources: readonly StateResource[],
): Found | undefined => {
  const [stamp, text] = [stampIn(all), stampTextIn(all)];
  if (stamp === undefined || text === undefined || typeOfToken(type) === undefined || !isAction(action))
    return undefined;
  const [own] = resources.filter((one) => one.urn === urn && one.id && one.delete !== true);
  if (action === "creating" && own && !(Date.parse(createTimeOf(own.outputs)) < stamp.at - CLOCK_SKEW_MS))
    return undefined;
  // Without a new stamp it was to create nothing.
  if (action === "updating" && own && stampTextIn(own.inputs) === text && typeOfToken(type) === SET_TYPE)
    return undefined;
  const { [PROVIDER]: _handler, ...inputs } = all;
  const key = keyFrom(urn, stack.split("/", 1)[0] as string);
  const isKept = retainOnDelete === true || protect === true;
  return { key, urn, type, action, inputs, stamp, text, isKept, id: own?.id ?? undefined, stored: own?.outputs };
};

const isAction = (action: string): action is Operation["action"] =>
  ["creating", "updating", "deleting"].includes(action);

/** The records that the state has, by their ids (`recordId`): the resource of each. */
export const recordsIn = (resources: readonly StateResource[]): ReadonlyMap<string, StateResource> =>
  new Map(
    resources.flatMap((resource) => {
      const { type, id, outputs } = resource;
      const kind = kindOfToken(type);
      if (kind) return id ? [[recordId(kind.field, id), resource] as const] : [];
      // No other kind has the uid of a role binding.
      return isOfSet(type) ? bindingsIn(outputs, "bindings").map(({ uid }) => [uid, resource] as const) : [];
    }),
  );

/** How long a record of the operation may still be hidden. */
export const hiddenMs = async (session: Session, { sentBefore }: Pick<Operation, "sentBefore">): Promise<number> => {
  if (session.isOnTwin) return 0;
  const ownStart = (await session.serviceNow()) - (session.clock.now() - session.begunAt);
  const until = Math.min(sentBefore, ownStart) + session.requestTimeoutMs + CREATION_GRACE_MS;
  return Math.max(0, until - (await session.serviceNow()));
};

/** By the service's clock: a record that was created later is none of the killed run. */
export const createdBefore = ({ requestTimeoutMs }: Session, { sentBefore }: Pick<Operation, "sentBefore">): number =>
  sentBefore + requestTimeoutMs + CREATION_GRACE_MS;
