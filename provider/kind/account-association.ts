// AccountAssociation: the accounts of a group at cloud providers. A group has at most one, and it has the group's uid.
import { resources } from "../../schema/index.ts";
import type { Kind } from "./kind.ts";

export const accountAssociation: Kind = {
  ...resources.accountAssociation,
  filters: () => ({}),
  matchedBy: [],
  unique: [],
  replacementBreaks: "the group that has it would lose its cloud accounts",
  references: ({ uid }) => (typeof uid === "string" ? [uid] : []),
};
