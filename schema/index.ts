// The API, described once. `provider` and `server` read it and never each other.
export {
  Capability,
  capabilities,
  capabilitiesFromBits,
  capabilityBits,
  capabilityFrom,
  capabilityName,
  isInternalOnly,
} from "./capability.ts";
export { type Code, codeFromHttp, codes } from "./code.ts";
export {
  ApiError,
  alreadyExists,
  apiError,
  type Detail,
  errorFromStatus,
  type FieldViolation,
  failedPrecondition,
  invalidArgument,
  isApiError,
  notFound,
  type PreconditionViolation,
  type Status,
  statusFromError,
} from "./error.ts";
export {
  asMessage,
  fieldInfo,
  isZero,
  type Message,
  messageInfo,
  scalarInfo,
  toSnake,
  unwrap,
  zeroOf,
} from "./field.ts";
export { Group } from "./group.ts";
export { ClaimMatch, Identity, isIssuer, isLoopbackIssuer, RelationshipType, StaticKeys } from "./identity.ts";
export { inputFields, inputViolations, oneofsOf } from "./input.ts";
export { answerFromJson, type Json, messageFromJson, messageToJson, spellings } from "./json.ts";
export { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, PAGE_TOKEN_LIFE_MS, UidpFilter } from "./list.ts";
export type { HttpMethod, Operation, Operations } from "./operation.ts";
export {
  domainOf,
  type OperationName,
  operations,
  PACKAGE,
  type RequestOf,
  type ResponseOf,
  VERSION,
  VERSIONS,
} from "./operations.ts";
export { type PublishedMethod, unservedMethods } from "./published.ts";
export { Repo } from "./repo.ts";
export { Role } from "./role.ts";
export { BATCH_MAX, RoleBinding } from "./role-binding.ts";
export { API_TOKEN_LIFE_MS, ExchangeRequest, RawToken } from "./token.ts";
export { ancestorsOf, isAncestor, isAncestorOrSelf, isRoot, isUidp, parentOf, rootOf, uidp } from "./uidp.ts";
export { applyMask, impliedMask, maskTouches, parseMask, WILDCARD } from "./update-mask.ts";
export { GroupV1, RepoV1 } from "./v1.ts";
