// The policy file: who may do what, by name.
export { policyGraph } from "./graph.ts";
export { mistakeText, parsePolicy, readPolicy } from "./parse.ts";
export type { Policy } from "./policy.ts";
