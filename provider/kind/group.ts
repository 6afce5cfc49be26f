// Group: the only kind that may stand at the root, and the one that everything below waits on when it is deleted.
import { Group, type Json } from "../../schema/index.ts";
import { isUnknown } from "../state/unknown.ts";
import { BELOW } from "./below.ts";
import type { Kind } from "./kind.ts";

export const group: Kind = {
  type: "Group",
  word: "group",
  schema: Group,
  field: "group",
  operations: { get: "GetGroup", create: "CreateGroup", update: "UpdateGroup", delete: "DeleteGroup" },
  list: { operation: "ListGroups", plural: "groups", filters: ({ name }) => ({ name }) },
  rootAllowed: true,
  replacementBreaks: "its uid and those of all that is below it would change, and the role bindings in it would end",
  violations: (input: Json, { parent }) =>
    input.kind !== undefined && parent !== undefined && !isUnknown(input.kind)
      ? [{ field: "kind", description: "belongs to the root group; leave it out below" }]
      : [],
  blockers: (uid) =>
    BELOW.flatMap(({ operation, plural, word, on }) => [
      { operation, request: { uidp: { descendantsOf: uid } }, plural, word },
      ...(on ? [{ operation, request: { uidp: { ids: [uid] } }, plural, word }] : []),
    ]),
  forceable: "below",
};
