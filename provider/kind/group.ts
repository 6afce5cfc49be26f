// Group: the only kind that may be at the root. It is deleted after everything below it.
import { type Resource, resources } from "../../schema/index.ts";
import type { Behavior } from "../record/kind.ts";

type Deletable = Resource & { operations: Required<Pick<Resource["operations"], "delete">> };

const isDeletable = (one: Resource): one is Deletable => one.parent === "Group" && one.operations.delete !== undefined;

// Records that refer to another one go first, groups go last.
/** What a group may hold and a client can delete (docs/contract.md#d7), in the order in which it can be deleted. */
export const BELOW: readonly Deletable[] = Object.values<Resource>(resources).filter(isDeletable).toReversed();

export const group: Behavior = {
  blockers: (uid) =>
    BELOW.flatMap(({ list, word }) => [
      { ...list, request: { uidp: { descendantsOf: uid } }, word },
      ...(list.sharesUid ? [{ ...list, request: { uidp: { ids: [uid] } }, word }] : []),
    ]),
  supportsForceDestroy: "below",
};
