// Identity: claims and AWS principals change in place; keys and service principals replace the record
// (docs/contract.md#identities).
import { resources } from "../../schema/index.ts";
import type { Kind } from "./kind.ts";

export const identity: Kind = {
  ...resources.identity,
  filters: ({ name }) => ({ name }),
  replacementBreaks: "its uid would change: role bindings and workloads that name it would lose their access",
  blockers: (uid) => [{ ...resources.roleBinding.list, request: { identity: uid }, word: resources.roleBinding.word }],
  deleteGuard: "role bindings of the identity would be deleted with it, and this run deletes none of them",
  supportsForceDestroy: "guarded",
};
