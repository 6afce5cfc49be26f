// The API, described once. `provider` and `server` read it and never each other.

export { addressProblem, protocolProblem, schemeProblem } from "./address.ts";
export {
  argumentPath,
  argumentsOf,
  argumentText,
  FORCE_DESTROY_MAX,
  fieldsWith,
  lookUpArguments,
  outputsByArgument,
  outputsOf,
} from "./argument.ts";
export {
  BUILT_IN_ROLE_CAPABILITIES,
  BUILT_IN_ROLES_SOURCE,
  isBuiltInRole,
  isRoleName,
  OWNER_CAPABILITIES,
  type RoleBundles,
} from "./built-in-role.ts";
export {
  CAPABILITY_CLASSES,
  type CapabilityClass,
  capabilities,
  capabilitiesFromBits,
  capabilityBits,
  capabilityFrom,
  capabilityName,
  classOf,
} from "./capability.ts";
export { type Code, codeFromHttp, codeFromNumber, codes } from "./code.ts";
export {
  ApiError,
  alreadyExists,
  apiError,
  errorFromStatus,
  type FieldViolation,
  failedPrecondition,
  invalidArgument,
  isApiError,
  notFound,
  type PreconditionViolation,
  retryInfo,
  type Status,
  statusFromError,
} from "./error.ts";
export {
  asMessage,
  enumInfo,
  type FieldInfo,
  fieldInfo,
  fieldText,
  isOptional,
  isZero,
  type Message,
  messageInfo,
  scalarInfo,
  toSnake,
  unwrap,
  zeroOf,
} from "./field.ts";
export { fieldByName, fieldsOf } from "./field-table.ts";
export type { KindName } from "./generated/message.ts";
export { asMeant, inputFields, inputViolations, oneofsOf, requiredTexts } from "./input.ts";
export {
  answerFromJson,
  isObject,
  type Json,
  messageFromJson,
  messageToJson,
  noteSize,
  TOO_MANY_VALUES,
  VALUES_MAX,
  valueAt,
} from "./json.ts";
export { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, PAGE_TOKEN_LIFE_MS } from "./list.ts";
export {
  isLoopbackAddress,
  isLoopbackAuthority,
  isLoopbackHost,
  isLoopbackUrl,
  LOOPBACK_NAMES,
} from "./loopback.ts";
export { nearest, nearestNames, suggestion } from "./nearest.ts";
export { canonicalForm, fieldPaths, normalForm } from "./normal.ts";
export { once } from "./once.ts";
export { openapiDocument } from "./openapi/document.ts";
export { type HttpMethod, isWrite, type Operation } from "./operation.ts";
export {
  domainOf,
  type OperationName,
  operations,
  type RequestOf,
  type ResponseOf,
  VERSION,
  VERSIONS,
} from "./operations.ts";
export { type Budget, compilePattern, newBudget, PATTERN_ATOM, patternMatcher } from "./pattern.ts";
export { escapeHtml, printable, printableLines } from "./printable.ts";
export { annotationFiles } from "./protobuf/annotation.ts";
export { emptyFile, type FileDescriptor, field, messageOf, repeatedField } from "./protobuf/descriptor.ts";
export { type GrpcMethod, methodsOf, protobufFiles } from "./protobuf/file.ts";
export { serviceName, typeName } from "./protobuf/name.ts";
export { unservedMethods } from "./published.ts";
export { AdvisoryEvent } from "./resource/advisory-event.ts";
export { durationMs } from "./resource/group-invite.ts";
export { ClaimMatch, isIssuer, KEYS_MAX, STATIC_KEYS_LIFE_MS, StaticKeys } from "./resource/identity.ts";
export { INHERITED, RepoReadme, SyncConfig } from "./resource/repo.ts";
export { BATCH_MAX } from "./resource/role-binding.ts";
export { HIDDEN_TAGS } from "./resource/tag.ts";
export {
  API_TOKEN_LIFE_MS,
  ExchangeRefreshTokenRequest,
  ExchangeRequest,
  isExchange,
  RawToken,
  TokenPair,
} from "./resource/token.ts";
export { GroupV1, RoleV1 } from "./resource/v1.ts";
export {
  AccountAssociationV1,
  GroupInviteV1,
  IdentityV1,
  RoleBindingV1,
  servicePrincipalV1,
} from "./resource/v1-iam.ts";
export { isManaged, type LookUpMode, type Managed, type Resource } from "./resource.ts";
export * from "./resources.ts";
export { BoundRecord, pairsTwice, roleBindingSet } from "./role-binding-set.ts";
export {
  ancestorsOf,
  GROUP_LEVELS_MAX,
  isAncestor,
  isAncestorOrSelf,
  isRoot,
  isUidp,
  levelOf,
  parentOf,
  rootOf,
  UIDP_TEXT,
  uidp,
} from "./uidp.ts";
export { applyMask, impliedMask, maskTouches, parseMask, WILDCARD } from "./update-mask.ts";
