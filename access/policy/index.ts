// The policy file: who may do what, by name.
export { type PolicyGraph, policyGraph } from "./graph.ts";
export { mistakeText, type ParsedPolicy, parsePolicy, readPolicy } from "./parse.ts";
export {
  type Policy,
  type PolicyBinding,
  type PolicyGroup,
  type PolicyIdentity,
  type PolicyOrganization,
  type PolicyRole,
  ROOT,
} from "./policy.ts";
export type { Mistake, Place } from "./source.ts";
