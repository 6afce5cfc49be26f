// Account associations: one for each group, with the group's own uid (docs/internals/contract.md#account-associations).
import { alreadyExists, inputViolations, notFound, operations } from "../../schema/index.ts";
import { equals } from "../store/list.ts";
import { shapes } from "../store/shape.ts";
import type { ServiceMethods } from "./context.ts";
import { existing, recordsOf, throwIfAny } from "./record.ts";

const records = recordsOf("accountAssociation");

export const accountAssociationService = {
  GetAccountAssociation: records.get,

  ListAccountAssociations: records.list(({ name }) => equals({ name })),

  CreateAccountAssociation: ({ parent, accountAssociation }, context) => {
    const input = records.input(context, accountAssociation);
    existing(context, "group", parent);
    if (context.store.get(shapes.accountAssociation, parent))
      throw alreadyExists("AccountAssociation", parent, `the group ${parent} has an account association already`);
    return records.insert(context, parent, input);
  },

  UpdateAccountAssociation: ({ accountAssociation, updateMask }, context) => {
    const { row, next } = records.change(context, accountAssociation, updateMask);
    return records.update(context, row.uid, next);
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
