// Operations that a killed run had begun but not ended, as listed in the engine's state. A create remains there until a person clears it;
// the engine drops other operations when the next run saves its state.
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
import { bindingsIn } from "../kind/pair.ts";
import { createTimeOf, recordId, type Stamp, stampIn, stampTextIn } from "../record/id.ts";
import { SET_TYPE, typeOfToken } from "../record/kind.ts";
import { PROVIDER } from "../record/state.ts";
import { stackOf } from "../run/journal.ts";
import { perSession } from "../run/ownership.ts";
import { DATE_MS, type Session } from "../run/session.ts";
import { CLOCK_SKEW_MS } from "./search.ts";

export interface Operation {
  /** organization/project/stack/type::name of the resource */
  key: string;
  urn: string;
  /** type token of the resource */
  type: string;
  action: "creating" | "updating" | "deleting";
  /** in clear text, as far as needed */
  inputs: Json;
  /** the time of the check before it */
  stamp: Stamp;
  /** by the service's clock: no request of that run was sent later */
  sentBefore: number;
  /** How many updates have succeeded since: after one, the resource may have had a record that was then deleted. */
  updatesSince: number;
  /** The record is kept if the program no longer declares the resource: `protect` or `retainOnDelete`. */
  isKept: boolean;
  /** id and outputs of the resource in the state; undefined: the state has none */
  id?: string | undefined;
  stored?: Json | undefined;
}

interface StackOperations {
  open: Operation[];
  /** ids of the records that the state has (`recordId`) */
  inState: ReadonlyMap<string, unknown>;
  /** why the state is unknown: one sentence */
  problem?: string;
}

const known = perSession(() => new Map<string, Promise<StackOperations>>());

/** The operations in the stack of a resource. Reads the state once. */
export const stackOperations = (session: Session, key: string): Promise<StackOperations> =>
  getOrInsert(known(session), stackOf(key), async () => {
    const stack = stackOf(key);
    const operations = await operationsOf(session, stack).catch((error: unknown): StackOperations => {
      if (!(error instanceof EngineStateError)) throw error;
      return { open: [], inState: new Map(), problem: error.message };
    });
    session.interrupted.set(stack, operations.open.length > 0);
    return operations;
  });

/** This run knows the outcome of these operations. */
export const settleOperations = async (
  session: Session,
  key: string,
  isSettled: (one: Operation) => boolean,
): Promise<void> => {
  const operations = await stackOperations(session, key);
  operations.open = operations.open.filter((one) => !isSettled(one));
  session.interrupted.set(stackOf(key), operations.open.length > 0);
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
    // A run begins after the previous one has ended, by itself or by a kill in the same place.
    const sentBefore = Math.min(lastSent, ...later.map((run) => run.startedAt - startedAt + at), ...again);
    const updatesSince = later.filter(({ kind, result }) => kind === "update" && result === "succeeded").length;
    return { ...one, inputs: decryptedValue(one.inputs) as Json, sentBefore, updatesSince };
  });
  return { open: timed, inState };
};

/** Whether this run has begun the operation, perhaps in another process. It drops the operations of other runs when it first saves. */
const ownOperations = async (session: Session, savedAt: string): Promise<(one: Found) => boolean> => {
  const ageMs = session.clock.now() - session.begunAt;
  const isSavedHere = Date.parse(savedAt) >= session.clock.today() - ageMs;
  const begunBy = (await session.serviceNow()) - ageMs + DATE_MS;
  return ({ action, text, stamp }) =>
    action === "creating" ? session.stamps.has(text) || stamp.at > begunBy : isSavedHere;
};

type Found = Omit<Operation, "sentBefore" | "updatesSince"> & { text: string };

/** An operation of ours. Undefined for a create whose record the state may contain: a resource that it replaces is older. */
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
  // Without a new stamp the update was to create nothing.
  if (action === "updating" && own && stampTextIn(own.inputs) === text && typeOfToken(type) === SET_TYPE)
    return undefined;
  const { [PROVIDER]: _handler, ...inputs } = all;
  const key = keyFrom(urn, stack.split("/", 1)[0] as string);
  const isKept = retainOnDelete === true || protect === true;
  return { key, urn, type, action, inputs, stamp, text, isKept, id: own?.id ?? undefined, stored: own?.outputs };
};

const isAction = (action: string): action is Operation["action"] =>
  ["creating", "updating", "deleting"].includes(action);

/** The records in the state, by their ids (`recordId`), with the resource of each. */
export const recordsIn = (resources: readonly StateResource[]): ReadonlyMap<string, StateResource> =>
  new Map(
    resources.flatMap((resource) => {
      const { type, id, outputs } = resource;
      const kind = kindOfToken(type);
      if (kind) return id ? [[recordId(kind.field, id), resource] as const] : [];
      // No other kind has the uid of a role binding.
      return typeOfToken(type) === SET_TYPE
        ? bindingsIn(outputs, "bindings").map(({ uid }) => [uid, resource] as const)
        : [];
    }),
  );
