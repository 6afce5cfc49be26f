// Account associations: one for each group, with the group's own uid (docs/contract.md#account-associations).
import { AccountAssociation, alreadyExists, inputViolations, notFound, operations } from "../../schema/index.ts";
import { equals } from "../store/list.ts";
import { accountAssociations, groups } from "../store/shape.ts";
import type { Row } from "../store/store.ts";
import { changeInput, createInput, existing, existingParent, page, throwIfAny, times } from "./record.ts";
import type { Services } from "./service.ts";

const accountAssociationFrom = (row: Row): AccountAssociation =>
  ({ uid: row.uid, name: row.columns.name, ...row.body, ...times(row) }) as AccountAssociation;

export const accountAssociationService = {
  GetAccountAssociation: ({ uid }, context) =>
    accountAssociationFrom(existing(context, accountAssociations, "AccountAssociation", uid)),

  ListAccountAssociations: (request, context) =>
    page(
      context,
      accountAssociations,
      request,
      "accountAssociations",
      equals("name", request.name),
      accountAssociationFrom,
    ),

  CreateAccountAssociation: ({ parent, accountAssociation }, context) => {
    const { name, ...body } = createInput(AccountAssociation, accountAssociation) as AccountAssociation;
    existingParent(context, parent);
    if (context.store.get(accountAssociations, parent))
      throw alreadyExists("AccountAssociation", parent, `the group ${parent} has an account association already`);
    context.store.insert(accountAssociations, {
      uid: parent,
      createTime: context.now,
      updateTime: context.now,
      columns: { name },
      body,
    });
    return accountAssociationFrom(existing(context, accountAssociations, "AccountAssociation", parent));
  },

  UpdateAccountAssociation: ({ accountAssociation, updateMask }, context) => {
    const row = existing(context, accountAssociations, "AccountAssociation", accountAssociation.uid);
    const current = { name: row.columns.name, ...row.body };
    const { next } = changeInput(AccountAssociation, current, accountAssociation, updateMask);
    const { name, ...body } = next as AccountAssociation;
    context.store.update(accountAssociations, { uid: row.uid, updateTime: context.now, columns: { name }, body });
    return accountAssociationFrom(existing(context, accountAssociations, "AccountAssociation", row.uid));
  },

  // Idempotent: a missing one is success (docs/contract.md#d4).
  DeleteAccountAssociation: ({ uid }, context) => {
    context.store.remove(accountAssociations, uid);
    return {};
  },

  // The published service exchanges credentials with the cloud provider. Here, a configured account is ready.
  CheckAccountAssociation: (request, context) => {
    throwIfAny(inputViolations(operations.CheckAccountAssociation.request, request));
    const { uid } = request;
    if (!context.store.get(groups, uid)) throw notFound("AccountAssociation", uid);
    const [member, cloud] = PROVIDERS[request.providerType];
    const association = context.store.get(accountAssociations, uid);
    if (association?.body[member]) return { status: "CHECK_STATUS_READY" };
    const missing = association ? `has no ${cloud} account` : "does not exist";
    return {
      status: "CHECK_STATUS_NOT_READY",
      reason: "not configured",
      message: `the account association of ${uid} ${missing}`,
    };
  },
} satisfies Services<
  | "GetAccountAssociation"
  | "ListAccountAssociations"
  | "CreateAccountAssociation"
  | "UpdateAccountAssociation"
  | "DeleteAccountAssociation"
  | "CheckAccountAssociation"
>;

// For each provider, its member of an association and its name.
const PROVIDERS = {
  ACCOUNT_PROVIDER_TYPE_UNSPECIFIED: ["", ""],
  ACCOUNT_PROVIDER_TYPE_GOOGLE: ["google", "Google Cloud"],
  ACCOUNT_PROVIDER_TYPE_AMAZON: ["amazon", "Amazon"],
  ACCOUNT_PROVIDER_TYPE_AZURE: ["azure", "Azure"],
} as const;
