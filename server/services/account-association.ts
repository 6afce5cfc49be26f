// Account associations: one for each group, with the group's own uid (docs/contract.md#account-associations).
import { AccountAssociation, alreadyExists, inputViolations, notFound, operations } from "../../schema/index.ts";
import { equals } from "../store/list.ts";
import { shapes } from "../store/shape.ts";
import type { ServiceMethods } from "./context.ts";
import { changeInput, createInput, existingParent, recordsOf, throwIfAny, times } from "./record.ts";

const records = recordsOf(
  shapes.accountAssociation,
  "AccountAssociation",
  "accountAssociations",
  (row): AccountAssociation =>
    ({ uid: row.uid, name: row.columns.name, ...row.body, ...times(row) }) as AccountAssociation,
);

export const accountAssociationService = {
  GetAccountAssociation: records.get,

  ListAccountAssociations: (request, context) => records.list(context, request, equals({ name: request.name })),

  CreateAccountAssociation: ({ parent, accountAssociation }, context) => {
    const { name, ...body } = createInput(context, AccountAssociation, accountAssociation) as AccountAssociation;
    existingParent(context, parent);
    if (context.store.get(shapes.accountAssociation, parent))
      throw alreadyExists("AccountAssociation", parent, `the group ${parent} has an account association already`);
    return records.insert(context, parent, { columns: { name }, body });
  },

  UpdateAccountAssociation: ({ accountAssociation, updateMask }, context) => {
    const row = records.row(context, accountAssociation.uid);
    const current = { name: row.columns.name, ...row.body };
    const { next } = changeInput(AccountAssociation, current, accountAssociation, updateMask);
    const { name, ...body } = next as AccountAssociation;
    return records.update(context, row.uid, { columns: { name }, body });
  },

  DeleteAccountAssociation: records.deleteIfThere,

  // The published service exchanges credentials with the cloud provider. Here, a configured account is ready.
  CheckAccountAssociation: (request, context) => {
    throwIfAny(inputViolations(operations.CheckAccountAssociation.request, request));
    const { uid } = request;
    if (!context.store.get(shapes.group, uid)) throw notFound("AccountAssociation", uid);
    const [member, cloud] = PROVIDERS[request.providerType];
    const association = context.store.get(shapes.accountAssociation, uid);
    if (association?.body[member]) return { status: "CHECK_STATUS_READY" };
    const missing = association ? `has no ${cloud} account` : "does not exist";
    return {
      status: "CHECK_STATUS_NOT_READY",
      reason: "not configured",
      message: `the account association of ${uid} ${missing}`,
    };
  },
} satisfies ServiceMethods;

// The member of an association and the name of each provider.
const PROVIDERS = {
  ACCOUNT_PROVIDER_TYPE_UNSPECIFIED: ["", ""],
  ACCOUNT_PROVIDER_TYPE_GOOGLE: ["google", "Google Cloud"],
  ACCOUNT_PROVIDER_TYPE_AMAZON: ["amazon", "Amazon"],
  ACCOUNT_PROVIDER_TYPE_AZURE: ["azure", "Azure"],
} as const;
