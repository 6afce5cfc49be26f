// The policy file: who may do what, by name.
export { NO_PEOPLE_YET } from "./check/access.ts";
export { policyGraph } from "./graph.ts";
export { mistakeText, parsePolicy, readPolicy } from "./parse.ts";
export {
  mappingsOf,
  type Policy,
  type PolicyGroup,
  type PolicyMapping,
  type PolicyOrganization,
  ROOT,
} from "./policy.ts";
export { policyStackIn } from "./stack.ts";
export { TextFileError } from "./text-file.ts";
export { type PolicyUids, parseUids, uidsBeside } from "./uids.ts";
