// Group: the only kind that may stand at the root, and the one that everything below waits on when it is deleted.
import { resources } from "../../schema/index.ts";
import { BELOW } from "./below.ts";
import type { Kind } from "./kind.ts";

export const group: Kind = {
  ...resources.group,
  filters: ({ name }) => ({ name }),
  replacementBreaks: "its uid and those of all that is below it would change, and the role bindings in it would end",
  blockers: (uid) =>
    BELOW.flatMap(({ list, word }) => [
      { ...list, request: { uidp: { descendantsOf: uid } }, word },
      ...(list.sharesUid ? [{ ...list, request: { uidp: { ids: [uid] } }, word }] : []),
    ]),
  supportsForceDestroy: "below",
};
