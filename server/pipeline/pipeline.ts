// The path of every request, on either wire: authenticate → decode → authorize → service → encode. The body of a caller without
// a valid token is not read. Every error leaves as an ApiError that reveals nothing internal.
import {
  ApiError,
  apiError,
  asMessage,
  type FieldViolation,
  fieldsOf,
  impliedMask,
  invalidArgument,
  isExchange,
  isUidp,
  isWrite,
  isZero,
  type Json,
  type Message,
  mapMessages,
  messageFromJson,
  messageToJson,
  type Operation,
  type OperationName,
  operations,
  UIDP_TEXT,
} from "../../schema/index.ts";
import type { Log } from "../base/log.ts";
import type { Wire } from "../base/metrics.ts";
import type { RateLimit } from "../base/rate-limit.ts";
import { type Authenticate, anonymous, demand } from "../caller/caller.ts";
import type { ServiceContext } from "../services/context.ts";
import { type ServedName, services } from "../services/index.ts";
import { throwIfAny } from "../services/record.ts";
import { lossIn } from "../store/failure.ts";
import type { Store } from "../store/store.ts";
import type { Sts } from "../sts/index.ts";

/** A request message, with the malformed values that the wire found in it. */
interface Decoded {
  request: Json;
  violations: FieldViolation[];
}

/** A problem of a request that is not in its values. The wire that finds it answers it. */
export abstract class TransportError extends Error {}

/** A request of which the wire has read only the head, until the pipeline asks for the body. */
export interface Call {
  operation: OperationName;
  wire: Wire;
  /** Waits for the end of the body and reads the message, at most once. */
  decode(): Promise<Decoded>;
  /** every `authorization` header or metadata entry */
  authorization: readonly string[];
  /** address that the request came from, for the rate limit of callers without a valid token */
  peer: string;
  /** why the caller is no longer waiting; undefined while it is */
  endedBy?: () => "CANCELLED" | "DEADLINE_EXCEEDED" | undefined;
}

/** A completed write: its request, without the additions of its wire, and its response. */
export interface CarriedOut {
  method: OperationName;
  /** without zeros; its mask is explicit, or `*` */
  request: Json;
  response: Json;
}

interface PipelineOptions {
  authenticate: Authenticate;
  sts: Sts;
  limit: RateLimit;
  log: Log;
  store: Pick<Store, "check" | "failure">;
  /** throws for a request about records that a copy lacks; absent: the records are not a copy */
  demandSeen?: ((operation: OperationName, request: Json) => void) | undefined;
  onWrite?: ((write: CarriedOut) => void) | undefined;
  context: (row: Operation, caller: ServiceContext["caller"]) => Omit<ServiceContext, "caller" | "capabilities">;
}

export type Pipeline = (call: Call) => Promise<Json>;

export const createPipeline =
  ({ authenticate, sts, limit, log, store, demandSeen, onWrite, context }: PipelineOptions): Pipeline =>
  async ({ operation, decode, authorization, peer, endedBy = () => undefined }) => {
    const row: Operation = operations[operation];
    try {
      store.check();
      if (isTokenOperation(operation)) {
        limit.address(peer);
        const bearer = authenticate.bearer(authorization);
        const { request, violations } = await decode();
        throwIfEnded(endedBy());
        const exchange = operation === "ExchangeRefreshToken" ? sts.exchangeRefreshToken : sts.exchange;
        return messageToJson(row.response, await exchange(request, bearer, violations));
      }
      // A method without authentication ignores any token.
      if (row.auth === "none") limit.address(peer);
      const callerNow =
        row.auth === "none" ? () => anonymous : await identifyCaller(authenticate, limit, authorization, peer);
      const { request, violations } = await decode();
      // The caller's grants may have changed while the body arrived.
      const caller = callerNow();
      throwIfAny(violations);
      authorize(row, request, caller);
      demandSeen?.(operation, request);
      throwIfEnded(endedBy());
      const own = { ...context(row, caller), capabilities: row.capabilities, caller };
      const response = messageToJson(row.response, serve(operation, request, own));
      if (isWrite(row)) onWrite?.({ method: operation, request, response });
      return response;
    } catch (error) {
      throw funnel(error, operation, { log, store });
    }
  };

// A transaction around the reads and writes of a change, even if other processes have the database open.
const serve = (operation: ServedName, request: Json, context: ServiceContext) => {
  const method = services[operation] as unknown as (request: Json, context: ServiceContext) => Json;
  const answer = () => method(request, context);
  return operations[operation].method === "GET" ? answer() : context.store.transaction(answer);
};

// A caller that is gone cannot learn the result, so nothing is written and no refresh token is used up.
const throwIfEnded = (reason: ReturnType<NonNullable<Call["endedBy"]>>) => {
  if (reason) throw apiError(reason, "the caller is no longer waiting");
};

// A failed authentication counts against the address, afterwards: bad tokens never use up the limit of good ones.
const identifyCaller = async (
  authenticate: Authenticate,
  limit: RateLimit,
  authorization: readonly string[],
  peer: string,
): Promise<() => ServiceContext["caller"]> => {
  const { uid, callerNow } = await authenticate.token(authorization).catch((error: unknown) => {
    limit.address(peer);
    throw error;
  });
  limit.identity(uid);
  return callerNow;
};

const isTokenOperation = (operation: OperationName): operation is Exclude<OperationName, ServedName> =>
  isExchange(operations[operation]);

// Authorization comes before existence (AIP-211, docs/internals/contract.md#d5). A malformed uid is not a scope.
const authorize = (row: Operation, request: Json, caller: ServiceContext["caller"]) => {
  if (!row.scope) {
    if ("uid" in row.request.shape) checkUid("uid", request.uid);
    return;
  }
  const path = row.scope.split(".");
  const scope = path.reduce<unknown>((value, name) => (value as Json | undefined)?.[name], request);
  checkUid(path.at(-1) as string, scope);
  demand(caller, row.capabilities, scope as string);
};

const checkUid = (field: string, uid: unknown) => {
  if (isUidp(uid)) return;
  throw invalidArgument([{ field, description: uid ? UIDP_TEXT : "is required" }]);
};

/** Converts any thrown value to the error that the client sees. An unexpected error is logged and becomes INTERNAL. */
const funnel = (
  error: unknown,
  operation: OperationName,
  { log, store }: Pick<PipelineOptions, "log" | "store">,
): ApiError | TransportError => {
  if (error instanceof TransportError) return error;
  const failure = store.failure(error);
  if (error instanceof ApiError && !failure) return error;
  // A lost database is logged once.
  if (lossIn(failure)) return failure as ApiError;
  const internal = internalError(log, error, { operation });
  return failure ?? internal;
};

/** Logs a defect; returns the error that the client sees. */
export const internalError = (log: Log, error: unknown, fields: Record<string, unknown> = {}): ApiError => {
  log("error", "internal error", { ...fields, error: error instanceof Error ? error.stack : String(error) });
  return apiError("INTERNAL", "the server failed to answer; its log says why", { cause: error });
};

// The step that both wires share: from the JSON of a request message to the pipeline's input, with its malformed values.

// More paths than any message has fields.
const MASK_PATHS_MAX = 1000;

/** `body`: the part of the request that an HTTP body holds (google.api.http). `bodyFields`: its fields, for the log. */
export const decodeRequest = (
  row: Operation,
  json: Json,
  body: Json | undefined,
  strict: boolean,
): Decoded & { bodyFields: readonly string[] | undefined } => {
  const { value, violations } = messageFromJson(row.request, json, "", strict);
  const request = withoutZeros(row.request, value);
  const field = row.body ? row.request.shape[row.body] : undefined;
  const resource = field && asMessage(field);
  // Without a mask, the keys of the body are the mask (docs/internals/contract.md#updates).
  if (resource && "updateMask" in row.request.shape && !request.updateMask)
    request.updateMask = impliedMask(resource, body).join(",");
  if (
    typeof request.updateMask === "string" &&
    request.updateMask.split(",", MASK_PATHS_MAX + 1).length > MASK_PATHS_MAX
  )
    violations.push({ field: "updateMask", description: `must have at most ${MASK_PATHS_MAX} paths` });
  return {
    request,
    violations: violations.map((violation) => relative(violation, row.body)),
    bodyFields: body && spellings(resource ?? row.request, body),
  };
};

// In proto3 a zero is an absent field, except in a oneof or a field with presence. So JSON that writes out a zero
// equals a binary message, which cannot contain it.
const withoutZeros = (schema: Message, value: Json): Json => {
  const kept: Json = {};
  for (const { name, schema: field, info } of fieldsOf(schema)) {
    const member = value[name];
    if (member !== undefined && (info.oneof !== undefined || info.presence || !isZero(field, member)))
      kept[name] = mapMessages(field, member, withoutZeros);
  }
  return kept;
};

/** Violations name fields of the resource, whatever wraps it on a wire (docs/internals/contract.md#d29). */
export const relative = ({ field, description }: FieldViolation, body: string | undefined): FieldViolation =>
  body && field.startsWith(`${body}.`) ? { field: field.slice(body.length + 1), description } : { field, description };

// The fields that the body names, as it spells them. A body may have any number of unknown ones.
const spellings = (schema: Message, body: Json) =>
  fieldsOf(schema).flatMap(({ spellings }) => spellings.filter((spelling) => Object.hasOwn(body, spelling)));
