// AccountAssociation: the accounts of a group at cloud providers. A group has at most one, and it has the group's uid.
import { AccountAssociation } from "../../schema/index.ts";
import type { Kind } from "./kind.ts";

export const accountAssociation: Kind = {
  type: "AccountAssociation",
  word: "account association",
  schema: AccountAssociation,
  field: "accountAssociation",
  operations: {
    get: "GetAccountAssociation",
    create: "CreateAccountAssociation",
    update: "UpdateAccountAssociation",
    delete: "DeleteAccountAssociation",
  },
  list: { operation: "ListAccountAssociations", plural: "accountAssociations", sharesUid: true, filters: () => ({}) },
  matchedBy: [],
  unique: [],
  replacementBreaks: "the group that has it would lose its cloud accounts",
  releases: ({ uid }) => (typeof uid === "string" ? [uid] : []),
};
