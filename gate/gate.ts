// The gate before one service: it passes reads, and the writes of the change exactly as they are recorded.
import { isWrite, METHODS, singleCalls } from "../access/change/methods.ts";
import type { Write } from "../access/change/write.ts";
import { type Copy, recordsIn } from "../access/copy/copy.ts";
import type { Client } from "../client/client.ts";
import type { GateReason } from "../client/errors.ts";
import { isAmbiguous, isResendable } from "../client/retry.ts";
import { kindRecords } from "../provider/kind/index.ts";
import type { Entry } from "../provider/log/entry.ts";
import { desiredWith } from "../provider/record/desired.ts";
import type { Kind } from "../provider/record/kind.ts";
import { CREATION_GRACE_MS } from "../provider/recovery/not-found.ts";
import { findCreated, judge, pickCreated, type SearchSession } from "../provider/recovery/search.ts";
import {
  type ApiError,
  apiError,
  domainOf,
  invalidArgument,
  isRoot,
  isUidp,
  type Json,
  type OperationName,
  operations,
  type Resource,
  resources,
  UIDP_TEXT,
} from "../schema/index.ts";
import type { Call } from "../server/front.ts";
import { type Asked, type Decision, decideOn, type Line, type Reserved } from "./decide.ts";
import { freshOn } from "./fresh.ts";
import { type Resolved, resolvedRequest } from "./resolved.ts";
import { createSender, failureOf, SendFailure, type TokenSource } from "./send.ts";

const NOT_FOUND = 404;

/** The batch that the provider sends. */
const BATCH = "BatchCreateRoleBindings";

/**
 * Reads of records of the API. Excludes exchanges and questions about the caller: neither the provider nor the client needs them in a run.
 * Includes the time of the service.
 */
const READS: ReadonlySet<string> = new Set([
  "Ping",
  ...(Object.values(resources) as Resource[]).flatMap(({ methods }) => Object.keys(methods)),
]);

export interface Service {
  client: Client;
  /** the copy on which the change was computed again */
  copy: Copy;
  /** A token that may only read. `rejected`: a token that the service rejected, so another one is needed. */
  readToken: TokenSource;
  /** A token for a write of the change, by the number of the write. */
  writeToken(n: number, rejected?: string): Promise<string>;
}

export type ServiceGate = ReturnType<typeof gateOf>;

interface Parts {
  service: Service;
  /** those of this service */
  writes: readonly Write[];
  onRefused(asked: Asked, message: string): void;
  /** The command ends: unsent requests are not sent any more, so that nothing arrives after it. */
  isClosing(): boolean;
}

export const gateOf = (parts: Parts) => {
  const { gate, sender, refusal, carryOut, fail } = carrierOf(parts);

  const write = async (operation: OperationName, request: Json): Promise<Json> => {
    const asked = singleCalls({ method: operation, request, response: { roleBindings: [] } });
    const decisions: Exclude<Decision, { is: "refuse" }>[] = [];
    const reserved: Reserved[] = [];
    for (const one of asked) {
      const decision = gate.decide(one);
      if (decision.is === "refuse") {
        const error = refusal(one, decision.why, "NOT_IN_CHANGE");
        fail(reserved, error);
        throw error;
      }
      decisions.push(decision);
      if (decision.is === "send") reserved.push(decision);
    }
    const isWhole = operation === BATCH && reserved.length === asked.length;
    await carryOut(reserved, isWhole).catch((error: unknown) => fail(reserved, error));
    const answers = await Promise.all(decisions.map(({ answer }) => answer));
    if (operation === BATCH) return { roleBindings: answers };
    // A delete of a single record does not show the record that it has deleted.
    return operation === "BatchDeleteExternalGroupRoleMappings" ? { parent: request.parent } : (answers[0] as Json);
  };

  return {
    ...gate,
    answer: async ({ operation, decode }: Call): Promise<Json> => {
      const { request, violations } = await decode();
      if (violations.length > 0) throw invalidArgument(violations);
      if (operations[operation].method === "GET" && READS.has(operation)) return sender.read(operation, request);
      if (isWrite(operation)) return write(operation, withUids(operation, request));
      const why = `${operation}: the gate passes reads of records and the writes of its change, and nothing else`;
      throw refusal({ method: operation, request }, why, "NOT_IN_CHANGE");
    },
  };
};

/** Sends the writes that the gate has reserved, and ends each one with its answer. */
const carrierOf = ({ service, writes, onRefused, isClosing }: Parts) => {
  const { client, copy } = service;
  const records = new Map(recordsIn(copy).map(([plural, one]) => [`${plural} ${one.uid}`, one as Json]));
  const recordOf = (plural: string, uid: string) => records.get(`${plural} ${uid}`);
  const gate = decideOn(writes, recordOf);
  const sender = createSender(client, service.readToken, isClosing);
  /** by uid */
  const updates = new Map<string, Promise<unknown>>();
  /** creates whose answer was lost */
  const lost = new Map<Line, Sent>();
  const fresh = freshOn({
    reader: sender.reader,
    ageMs: Math.max(0, (client.serverNow() ?? Number.POSITIVE_INFINITY) - Date.parse(copy.copy.time)),
    listed: Object.entries(copy.records).flatMap(([plural, list]) => (list ?? []).map((one) => [plural, one] as const)),
    recordOf,
    underWay: (uid) => updates.get(uid),
  });

  const refusal = (asked: Asked, why: string, reason: GateReason) => {
    onRefused(asked, why);
    const domain = domainOf(operations[asked.method].service);
    const details: ApiError["details"] = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain }];
    return apiError("PERMISSION_DENIED", why, { details });
  };

  const succeed = (one: Reserved, answer: Json): void => {
    const { verb, resource, schema } = one.recorded.method;
    lost.delete(one.line);
    if (verb !== "delete" && schema === resource.schema) {
      records.set(`${resource.plural} ${answer.uid}`, answer);
      fresh.note(resource, answer);
      if (verb === "create" && isRoot(answer.uid as string)) sender.outdateTokens();
    }
    gate.settle(one, answer);
  };
  const fail = (all: readonly Reserved[], error: unknown) => {
    for (const one of all) gate.release(one, error);
  };

  /** Looks for the records of creates whose answer was lost, and ends those that have one. Throws if it cannot tell. */
  const recover = async (all: readonly Reserved[]): Promise<void> => {
    const sent = all.map(({ line }) => lost.get(line) as Sent);
    const [{ entry }] = sent as [Sent];
    const head = `${all[0]?.recorded.method.resource.plural} `;
    const before = [...records.keys()].filter((key) => key.startsWith(head)).map((key) => key.slice(head.length));
    const isAlike = ({ parent, inputs }: Entry) => parent === entry.parent && inputs === entry.inputs;
    const alike = [...lost.values()].filter((one) => isAlike(one.entry)).length;
    const found = await findLost(sender.reader, sent, { except: new Set(before), alike });
    for (const [i, one] of all.entries()) if (found[i]) succeed(one, found[i] as Json);
  };

  /** Sends one request for reserved writes, and ends each of them. */
  const send = async (operation: OperationName, request: Json, all: readonly Reserved[], token: TokenSource) => {
    for (const { recorded, answer } of all)
      if (recorded.method.verb === "update") updates.set(recorded.uid as string, answer);
    const at = client.serverNow() ?? (await client.serviceNow());
    const sent = all.map(({ line, recorded, request: own }) => {
      const method = line.write.method as OperationName;
      return recorded.method.verb === "create"
        ? sentCreate(resolvedRequest({ method, request: own }), line.write.n, at)
        : undefined;
    });
    const failure = await attempt(operation, request, all, sent, token);
    if (failure === undefined) return;
    const isUnknown = isAmbiguous(failure.failure);
    for (const [i, { line, recorded }] of all.entries()) {
      line.isUnknown = isUnknown;
      // An earlier request has deleted it, or someone else has. The provider finds out whether it is only hidden.
      if (recorded.method.verb === "delete" && failure.failure.status === NOT_FOUND) line.isDone = true;
      const create = isUnknown ? sent[i] : undefined;
      if (create) lost.set(line, { ...create, mayResend: isResendable(failure.failure) });
      else if (isUnknown && recorded.method.verb === "update") fresh.noteUnknown(recorded);
    }
    // If the search fails, the next request for the write searches again, and gets its error.
    if (all.every(({ line }) => lost.has(line))) await recover(all).catch(() => {});
    // The provider decides whether to ask again.
    fail(all, failure.answer);
  };

  /** Ends the writes that have succeeded; returns the failure of the others. */
  const attempt = async (
    operation: OperationName,
    request: Json,
    all: readonly Reserved[],
    sent: readonly (Sent | undefined)[],
    token: TokenSource,
  ): Promise<SendFailure | undefined> => {
    try {
      const answer = await sender.write(operation, request, token);
      const answers = operation === BATCH ? (answer.roleBindings as Json[]) : [answer];
      const isOwn = ({ recorded }: Reserved, i: number) => {
        const [create, record] = [sent[i], answers[i]];
        const existed = (uid: string) => recordOf(recorded.method.resource.plural, uid) !== undefined;
        return record !== undefined && (create === undefined || isAnswerTo(create, record, existed));
      };
      if (!all.every(isOwn)) return failureOf(operation, "the response is of another record than was asked for");
      for (const [i, one] of all.entries()) succeed(one, answers[i] as Json);
      return undefined;
    } catch (error) {
      if (error instanceof SendFailure) return error;
      throw error;
    }
  };

  /** Whether the write may be sent: its record does not exist yet, and it gives the access that the review has shown. Otherwise ends it. */
  const maySend = async (one: Reserved): Promise<boolean> => {
    const { line, recorded, request } = one;
    const method = line.write.method as OperationName;
    const earlier = lost.get(line);
    if (earlier) {
      await recover([one]);
      if (one.isOver) return false;
      if (!earlier.mayResend)
        throw failureOf(method, "it is not known whether the service has carried it out, so it is not sent again", 504)
          .answer;
      lost.delete(line);
    }
    const problem = await fresh.problem(recorded);
    if (problem !== undefined) throw refusal({ method, request }, `${method}: ${problem}`, "CHANGED_MEANWHILE");
    return true;
  };

  /** `isBatch`: in one request, if one token suffices. */
  const carryOut = async (all: readonly Reserved[], isBatch: boolean): Promise<void> => {
    const may = await Promise.all(
      all.map((one) =>
        maySend(one).catch((error: unknown) => {
          gate.release(one, error);
          return false;
        }),
      ),
    );
    const open = all.filter((_, i) => may[i]);
    const tokenOf =
      ({ line }: Reserved): TokenSource =>
      (rejected) =>
        service.writeToken(line.write.n, rejected);
    const tokens = new Set(await Promise.all(open.map((one) => tokenOf(one)())));
    const [first, second] = open;
    if (first && second && isBatch && open.length === all.length && tokens.size === 1) {
      const requests = open.map(({ request: { roleBinding } }) => ({ roleBinding }));
      return send(BATCH, { parent: first.request.parent, requests }, open, tokenOf(first));
    }
    await Promise.all(
      open.map((one) => send(one.line.write.method as OperationName, one.request, [one], tokenOf(one))),
    );
  };

  return { gate, sender, refusal, carryOut, fail };
};

/** Throws if a path has no uid. */
const withUids = (operation: OperationName, request: Json): Json => {
  const method = METHODS.get(operation);
  if (method === undefined || method.verb === "create") return request;
  const { uid } = (method.field === undefined ? request : (request[method.field] ?? {})) as Json;
  if (!isUidp(uid)) throw invalidArgument([{ field: "uid", description: UIDP_TEXT }]);
  return request;
};

// Creates whose answer was lost, or names another record: the provider's own rule finds the record (provider/recovery/search.ts).

/** A create as the provider's rule knows it; undefined for a kind that no program declares. */
interface Sent {
  kind: Kind;
  entry: Entry;
  /** It may be sent again if no record is found. */
  mayResend: boolean;
}

/** `at`: the time before it is sent, by the service's clock */
const sentCreate = ({ method, parent = "", fields }: Resolved, n: number, at: number): Sent | undefined => {
  const kind = (kindRecords as Readonly<Record<string, Kind>>)[method.resource.field];
  if (kind === undefined) return undefined;
  const { fingerprint, choices } = desiredWith(kind, { ...fields, ...(parent !== "" && { parent }) });
  const id = `write ${n}`;
  const entry = {
    intent: id,
    key: id,
    kind: kind.field,
    parent,
    inputs: fingerprint,
    given: [...choices],
    at,
    notBefore: at,
  };
  return { kind, entry, mayResend: false };
};

/** Whether an answer names the record that the create has made. `existed`: whether a record existed before. */
const isAnswerTo = ({ kind, entry }: Sent, record: Json, existed: (uid: string) => boolean) => {
  if (!kind.upsert && existed(record.uid as string)) return false;
  const { is, ...found } = judge(kind, entry, record);
  return is === "own" || ("by" in found && found.by === "age");
};

/**
 * The records that creates of one parent have made, in their order; undefined if there is none. `except`: uids that existed before, or that
 * another create has made. `alike`: the number of equal creates whose answer is lost. Throws if the service does not list the records, or
 * if one may belong to someone else.
 */
const findLost = async (
  reader: Pick<Client, "call" | "clock">,
  sent: readonly Sent[],
  { except, alike }: { except: ReadonlySet<string>; alike: number },
): Promise<(Json | undefined)[]> => {
  const [{ kind }] = sent as [Sent];
  const session: SearchSession = {
    ...reader,
    ownership: { creationRefusal: () => undefined },
    journal: { isOfOther: async () => false, countPendingAlike: async () => alike },
  };
  const entries = sent.map(({ entry }) => entry);
  const search = { waitMs: CREATION_GRACE_MS, ...(!kind.upsert && { except }) };
  const found = await findCreated(kind, session, entries, search);
  return Promise.all(found.map((records, i) => pickCreated(kind, session, records, entries[i] as Entry)));
};
