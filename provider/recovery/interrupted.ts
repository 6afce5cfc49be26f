// Creates that a killed run left open, as the engine's state has them: on a machine without the journal of that run, only the state says
// what was sent. An operation counts until an update has succeeded after it, and while the state has no record that it may have produced.
import { isObject, type Json } from "../../schema/index.ts";
import { kindOfToken } from "../kind/index.ts";
import type { Entry } from "../log/entry.ts";
import { type Desired, desiredFrom, withUids } from "../record/desired.ts";
import { createTimeOf, recordId } from "../record/id.ts";
import type { Kind } from "../record/kind.ts";
import { type Stamp, stampIn, stampTextIn } from "../record/stamp.ts";
import { KEY, PROVIDER } from "../record/state.ts";
import { keyFrom } from "../record/urn.ts";
import { type EngineRun, EngineStateError, type PendingOperation, type StateResource } from "../run/engine-state.ts";
import { stackOf } from "../run/journal.ts";
import { perSession } from "../run/ownership.ts";
import type { Session } from "../run/session.ts";
import { CREATION_GRACE_MS } from "./not-found.ts";
import { CLOCK_SKEW_MS } from "./search.ts";

/** A create of an earlier run. */
export interface Interrupted {
  key: string;
  /** what was sent */
  desired: Desired;
  /** as the journal of that run had it */
  entry: Entry;
  /** by the service's clock: no request of that run was sent later */
  sentBefore: number;
}

export interface InterruptedCreates {
  all: Interrupted[];
  /** ids of the records that the state has (`recordId`) */
  inState: ReadonlySet<string>;
  /** why the state is not known: one sentence */
  problem?: string;
}

const found = perSession(() => new Map<string, Promise<InterruptedCreates>>());

/** Those of the stack of a resource, which this run has not settled yet. It reads the state once. */
export const interruptedCreates = (session: Session, key: string): Promise<InterruptedCreates> => {
  const stack = stackOf(key);
  const known = found(session).get(stack) ?? readCreates(session, stack);
  found(session).set(stack, known);
  return known;
};

/** Its outcome is known to this run. */
export const settleInterrupted = async (session: Session, settled: readonly Interrupted[]): Promise<void> => {
  const [first] = settled;
  if (!first) return;
  const creates = await interruptedCreates(session, first.key);
  creates.all = creates.all.filter((one) => !settled.includes(one));
  session.interrupted.set(stackOf(first.key), creates.all.length > 0);
};

const readCreates = async (session: Session, stack: string): Promise<InterruptedCreates> => {
  const creates = await createsOf(session, stack).catch((error: unknown): InterruptedCreates => {
    if (!(error instanceof EngineStateError)) throw error;
    return { all: [], inState: new Set(), problem: error.message };
  });
  session.interrupted.set(stack, creates.all.length > 0);
  return creates;
};

const createsOf = async (session: Session, stack: string): Promise<InterruptedCreates> => {
  const { resources, pending } = await session.engineState(stack);
  const inState = new Set(resources.flatMap(recordIdsOf));
  // This run has begun creates too.
  const openIn = (operations: readonly PendingOperation[]) =>
    operations.filter((one) => isOpen(one, resources) && !session.stamps.has(stampTextIn(one.resource.inputs) ?? ""));
  const open = openIn(pending);
  if (open.length === 0) return { all: [], inState };
  const hidesSome = open.some(({ resource }) => hasSecret(argumentsIn(resource.inputs)));
  const plain = hidesSome ? openIn((await session.engineSecrets(stack)).pending) : open;
  const runs = await session.engineRuns(stack);
  const all: Interrupted[] = [];
  for (const { resource } of plain) {
    const one = await interruptedFrom(session, stack, resource, runs);
    if (one) all.push(one);
  }
  const byKey = Map.groupBy(all, ({ key }) => key);
  return { all: all.map((one) => amongOwn(one, byKey.get(one.key) ?? [])), inState };
};

/** A create of ours, and no record of the state can be its own: a resource that it replaces is older. */
const isOpen = ({ type, resource }: PendingOperation, resources: readonly StateResource[]): boolean => {
  const stamp = stampIn(resource.inputs);
  if (type !== "creating" || stamp === undefined || kindOfToken(resource.type) === undefined) return false;
  const own = resources.filter(({ urn, id, delete: isReplaced }) => urn === resource.urn && id && !isReplaced);
  return own.every(({ outputs }) => Date.parse(createTimeOf(outputs)) < stamp.at - CLOCK_SKEW_MS);
};

const recordIdsOf = ({ type, id, outputs }: StateResource): string[] => {
  const kind = kindOfToken(type);
  if (kind) return id ? [recordId(kind.field, id)] : [];
  // The bindings of a set.
  return Array.isArray(outputs.bindings) ? outputs.bindings.map(({ uid }: Json) => String(uid)) : [];
};

const interruptedFrom = async (
  session: Session,
  stack: string,
  { urn, type, inputs }: StateResource,
  runs: readonly EngineRun[],
): Promise<Interrupted | undefined> => {
  const kind = kindOfToken(type) as Kind;
  const key = keyFrom(urn, stack.split("/", 1)[0] as string);
  const at = stampIn(inputs) as Stamp;
  const later = runs.filter(({ startedAt }) => startedAt > at.startedAt);
  const isOver = later.some(({ kind: command, result }) => command === "update" && result === "succeeded");
  // An adoption creates nothing.
  if (isOver || inputs.adopt !== undefined) return undefined;
  const sent = { ...(plainValue(argumentsIn(inputs)) as Json), [KEY]: key };
  const desired = await withUids(session, desiredFrom(kind, sent));
  const { parent, fingerprint, choices } = desired;
  const entry: Entry = {
    ...{ intent: `${urn} ${at.at}`, key, kind: kind.field, parent, inputs: fingerprint, given: [...choices] },
    ...{ at: at.at, notBefore: at.at },
  };
  const firstStart = Math.min(...later.map(({ startedAt }) => startedAt - at.startedAt + at.at));
  return { key, desired, entry, sentBefore: firstStart };
};

/**
 * Several killed runs have begun a create of the same resource. A run begins when the one before has ended, and may have taken over what that
 * one created.
 */
const amongOwn = (one: Interrupted, own: readonly Interrupted[]): Interrupted => {
  const times = own.map(({ entry }) => entry.at);
  const sentBefore = Math.min(one.sentBefore, ...times.filter((at) => at > one.entry.at));
  return { ...one, sentBefore, entry: { ...one.entry, notBefore: Math.min(...times) } };
};

/** How long a record of the create may still be hidden. */
export const hiddenMs = async (session: Session, { sentBefore }: Interrupted): Promise<number> => {
  const ownStart = (await session.serviceNow()) - (session.clock.now() - session.begunAt);
  const until = Math.min(sentBefore, ownStart) + session.requestTimeoutMs + CREATION_GRACE_MS;
  return Math.max(0, until - (await session.serviceNow()));
};

/** By the service's clock: a record that was created later is none of the killed run. */
export const createdBefore = ({ requestTimeoutMs }: Session, { sentBefore }: Interrupted): number =>
  sentBefore + requestTimeoutMs + CREATION_GRACE_MS;

const argumentsIn = ({ [PROVIDER]: _handler, ...inputs }: Json): Json => inputs;

// How the engine marks a value in what it exports (github.com/pulumi/pulumi/sdk/go/common/resource/sig).
const SIGNATURE = "4dabf18193072939515e22adb298388d";

const isSecret = (value: unknown): value is Json => isObject(value) && SIGNATURE in value;

const hasSecret = (value: unknown): boolean =>
  isSecret(value) || (typeof value === "object" && value !== null && Object.values(value).some(hasSecret));

/** Secrets in clear text, which only the fingerprint is made of. */
const plainValue = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plainValue);
  if (!isObject(value)) return value;
  if (!isSecret(value)) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plainValue(one)]));
  if (typeof value.plaintext !== "string") throw new EngineStateError("pulumi stack export: a secret is encrypted");
  return plainValue(JSON.parse(value.plaintext));
};
