// The one way of a request, whatever wire it came by: authenticate → parse → authorise → service → encode. Every error
// leaves through here as an ApiError that says nothing of the inside.
import {
  ApiError,
  apiError,
  type FieldViolation,
  invalidArgument,
  isUidp,
  type Json,
  messageToJson,
  type Operation,
  type OperationName,
  operations,
} from "../schema/index.ts";
import type { Authenticate } from "./authenticate.ts";
import { demand } from "./authorize.ts";
import type { ServiceContext } from "./context.ts";
import type { Log } from "./log.ts";
import type { Method, Services } from "./service.ts";
import { groupService } from "./services/group.ts";
import { identityService } from "./services/identity.ts";
import { repoService } from "./services/repo.ts";
import { roleService } from "./services/role.ts";
import { roleBindingService } from "./services/role-binding.ts";
import type { Sts } from "./sts/index.ts";
import { v1Service } from "./v1.ts";

type ServedName = Exclude<OperationName, "Exchange" | "ExchangeGet">;

const services: Services<ServedName> = {
  ...groupService,
  ...identityService,
  ...roleService,
  ...roleBindingService,
  ...repoService,
  ...v1Service,
};

/** A decoded request: what the wire made of it, with the malformed values that it found. */
export interface Call {
  operation: OperationName;
  request: Json;
  violations: FieldViolation[];
  /** every `authorization` header or metadata entry */
  authorization: readonly string[];
  /** top-level fields of the body, for the log */
  bodyFields?: readonly string[];
}

export interface PipelineOptions {
  authenticate: Authenticate;
  sts: Sts;
  log: Log;
  context: () => Omit<ServiceContext, "caller">;
}

export type Pipeline = (call: Call) => Promise<Json>;

export const createPipeline =
  ({ authenticate, sts, log, context }: PipelineOptions): Pipeline =>
  async ({ operation, request, violations, authorization }) => {
    const row: Operation = operations[operation];
    try {
      if (operation === "Exchange" || operation === "ExchangeGet") {
        const bearer = authenticate.bearer(authorization);
        refuse(violations);
        return messageToJson(row.response, await sts.exchange(request, bearer));
      }
      const caller = await authenticate.caller(authorization);
      refuse(violations);
      authorize(row, request, caller);
      const method = services[operation] as unknown as Method<"GetGroup">;
      const response = method(request as never, { ...context(), caller });
      return messageToJson(row.response, response as Json);
    } catch (error) {
      throw funnel(error, operation, log);
    }
  };

const refuse = (violations: readonly FieldViolation[]): void => {
  if (violations.length > 0) throw invalidArgument([...violations]);
};

// Authorised before existence is looked at (AIP-211, decision 5). A uid that is none is no scope.
const authorize = (row: Operation, request: Json, caller: ServiceContext["caller"]): void => {
  if (!row.scope) {
    if ("uid" in row.request.shape) checkUid("uid", request.uid);
    return;
  }
  const path = row.scope.split(".");
  const scope = path.reduce<unknown>((value, name) => (value as Json | undefined)?.[name], request);
  checkUid(path.at(-1) as string, scope);
  demand(caller, row.capabilities, scope as string);
};

const checkUid = (field: string, uid: unknown): void => {
  if (isUidp(uid)) return;
  const description = uid ? "must be a uid: 40 hexadecimal digits, then /16 for each level below" : "is required";
  throw invalidArgument([{ field, description }]);
};

// SQLite's primary result codes that a person can do something about.
const FULL = 13;
const BUSY = 5;

/** Any thrown value to the error that the client sees; what is not ours is logged and told as INTERNAL. */
const funnel = (error: unknown, operation: OperationName, log: Log): ApiError => {
  if (error instanceof ApiError) return error;
  log("error", "internal error", { operation, error: error instanceof Error ? error.stack : String(error) });
  const sqlite = (error as { errcode?: number } | undefined)?.errcode;
  const primary = sqlite === undefined ? undefined : sqlite & 0xff;
  if (primary === FULL) return apiError("RESOURCE_EXHAUSTED", "the server's disk is full", { cause: error, operation });
  if (primary === BUSY) return apiError("UNAVAILABLE", "the server's database is busy", { cause: error, operation });
  return apiError("INTERNAL", "the server failed to answer; its log says why", { cause: error, operation });
};
