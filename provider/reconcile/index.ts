// Reconciles a record of any kind with the program. This folder does not depend on Pulumi: the engine's dynamic resources are a thin
// adapter over it, and a native plugin would be another.
export { type CheckFailure, check } from "./check.ts";
export { create } from "./create.ts";
export { remove } from "./delete.ts";
export { type DiffResult, diff } from "./diff.ts";
export { type Reading, type ReadResult, read } from "./read.ts";
export { update } from "./update.ts";
