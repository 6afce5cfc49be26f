// `pulumi-irm/schema`: the API's description for programs. It exports plain types, not zod's: a program would have to compile
// zod's own typings.
import type { OperationName } from "./generated/message.ts";
import type { HttpMethod } from "./operation.ts";
import { operations as rows } from "./operations.ts";

export { capabilities, capabilityName, isInternalOnly } from "./capability.ts";
export { type Code, codeFromHttp, codeFromNumber, codes } from "./code.ts";
export {
  ApiError,
  type Detail,
  errorFromStatus,
  type FieldViolation,
  isApiError,
  type PreconditionViolation,
  type Status,
} from "./error.ts";
export type * from "./generated/message.ts";
export { openapiDocument } from "./openapi/document.ts";
export { ancestorsOf, isAncestor, isAncestorOrSelf, isRoot, isUidp, levelOf, parentOf, rootOf } from "./uidp.ts";

/** A method of the API: how it is called, and what its caller must hold. */
export interface Operation {
  /** gRPC service below `chainguard.platform`: `iam.GroupsService` */
  readonly service: string;
  /** gRPC method, where it is not the key of the table */
  readonly rpc?: string;
  readonly method: HttpMethod;
  /** path template (google.api.http), `{version}` where the path is versioned */
  readonly path: string;
  /** field of the request that the body holds; `*`: all fields that the path does not hold */
  readonly body?: string;
  /** names of the capabilities that the caller must all hold at the scope */
  readonly capabilities: readonly string[];
  /** field of the request that names the scope; absent: unscoped */
  readonly scope?: string;
  /** default: a token of the API */
  readonly auth?: "token" | "none" | "workload";
}

export type { HttpMethod };

/** Every method that is served, by name: `CreateGroup`. */
export const operations: Readonly<Record<OperationName, Operation>> = Object.fromEntries(
  Object.entries<Operation & { http?: string; request?: unknown; response?: unknown }>(rows).map(
    ([name, { http: _, request: _request, response: _response, ...operation }]) => [name, operation],
  ),
) as Record<OperationName, Operation>;
