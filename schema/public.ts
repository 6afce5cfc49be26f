// `pulumi-irm/schema`: the API's description for programs. It exports plain types, not zod's: a program would have to compile
// zod's own typings.
import type { OperationName } from "./generated/message.ts";
import type { MethodDescription } from "./operation.ts";
import { operations as rows } from "./operations.ts";

export { capabilities, capabilityName, isInternalOnly } from "./capability.ts";
export {
  ApiError,
  type Code,
  codeFromHttp,
  codeFromNumber,
  codes,
  type Detail,
  errorFromStatus,
  type FieldViolation,
  isApiError,
  type PreconditionViolation,
  type Status,
} from "./error.ts";
export type * from "./generated/message.ts";
export { openapiDocument } from "./openapi/document.ts";
export type { HttpMethod, MethodDescription as Operation } from "./operation.ts";
export { ancestorsOf, isAncestor, isAncestorOrSelf, isRoot, isUidp, levelOf, parentOf, rootOf } from "./uidp.ts";

/** Every method that is served, by name: `CreateGroup`. */
export const operations: Readonly<Record<OperationName, MethodDescription>> = Object.fromEntries(
  Object.entries<MethodDescription & { http?: string; request?: unknown; response?: unknown }>(rows).map(
    ([name, { http: _, request: _request, response: _response, ...operation }]) => [name, operation],
  ),
) as Record<OperationName, MethodDescription>;
