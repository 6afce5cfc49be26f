// AccountAssociation: the accounts of a group at cloud providers. A group has at most one, and its uid is the group's.
import { z } from "zod";
import { enumeration, int64, message, optional, output, plain, required, string, timestamp } from "../field.ts";
import { Empty, listRequest, listResponse } from "../list.ts";
import { type Operations, rows } from "../operation.ts";
import { createRequest, getRequest, updateRequest } from "../request.ts";
import { resource } from "../resource.ts";
import { awsAccount, description, name, nonEmpty } from "../text.ts";
import { isUidp, UIDP_TEXT, uidp } from "../uidp.ts";

const filled = z
  .record(z.string(), string, { error: "is required" })
  .refine((map) => Object.keys(map).length > 0, "is required");

const Installation = message("iam.AccountAssociation.GitHubInstallation", {
  installationId: required(1, int64),
  /** for people to read */
  name: optional(2, string),
});

export const AccountAssociation = message(
  "iam.AccountAssociation",
  {
    /** uid of its group */
    uid: output(1, uidp),
    /** matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
    name: required(2, name),
    /** one line, at most 512 characters */
    description: optional(3, description),
    amazon: optional(4, message("iam.AccountAssociation.Amazon", { account: required(1, awsAccount) })),
    google: optional(
      5,
      message("iam.AccountAssociation.Google", {
        projectId: required(1, nonEmpty),
        projectNumber: required(2, nonEmpty),
      }),
    ),
    chainguard: optional(
      7,
      message("iam.AccountAssociation.Chainguard", {
        /** uid of the identity that a service assumes, by the service's name */
        serviceBindings: required(
          1,
          filled.refine((map) => Object.values(map).every(isUidp), `each value ${UIDP_TEXT}`),
          { references: "Identity" },
        ),
      }),
    ),
    azure: optional(
      8,
      message("iam.AccountAssociation.Azure", {
        tenantId: required(1, nonEmpty),
        /** client id by the component's name */
        clientIds: required(2, filled),
      }),
    ),
    createTime: output(9, timestamp),
    updateTime: output(10, timestamp),
    github: optional(
      11,
      message("iam.AccountAssociation.GitHub", {
        /** installations by the id of the app */
        appInstallations: optional(
          2,
          z.record(
            int64,
            message("iam.AccountAssociation.GitHubAppInstallations", {
              /** of one app */
              installations: optional(1, z.array(Installation), { list: { key: "installationId" } }),
            }),
          ),
        ),
      }),
    ),
  },
  { reserved: [6] },
);
export type AccountAssociation = z.infer<typeof AccountAssociation>;

export const AccountProviderType = enumeration("iam.AccountProviderType", {
  ACCOUNT_PROVIDER_TYPE_UNSPECIFIED: 0,
  ACCOUNT_PROVIDER_TYPE_GOOGLE: 1,
  ACCOUNT_PROVIDER_TYPE_AMAZON: 2,
  ACCOUNT_PROVIDER_TYPE_AZURE: 3,
});

const CheckStatus = enumeration("iam.CheckStatus", {
  CHECK_STATUS_UNSPECIFIED: 0,
  CHECK_STATUS_READY: 1,
  CHECK_STATUS_NOT_READY: 2,
});

const accountAssociationOperations = rows("iam.AccountAssociationsService", "/iam/{version}", {
  GetAccountAssociation: {
    http: "GET /accountAssociations/{uid=**}",
    request: getRequest("iam.GetAccountAssociationRequest"),
    response: AccountAssociation,
    capabilities: ["account_associations.list"],
    scope: "uid",
  },
  CreateAccountAssociation: {
    http: "POST /accountAssociations/{parent=**}",
    body: "accountAssociation",
    request: createRequest("iam.CreateAccountAssociationRequest", "accountAssociation", AccountAssociation),
    response: AccountAssociation,
    capabilities: ["account_associations.create"],
    scope: "parent",
  },
  DeleteAccountAssociation: {
    http: "DELETE /accountAssociations/{uid=**}",
    request: getRequest("iam.DeleteAccountAssociationRequest"),
    response: Empty,
    capabilities: ["account_associations.delete"],
    scope: "uid",
  },
  ListAccountAssociations: {
    http: "GET /accountAssociations",
    request: listRequest(
      "iam.ListAccountAssociationsRequest",
      {
        /** the whole name */
        name: plain(2, string),
      },
      3,
    ),
    response: listResponse("iam.ListAccountAssociationsResponse", "accountAssociations", AccountAssociation),
    capabilities: ["account_associations.list"],
  },
  UpdateAccountAssociation: {
    http: "PATCH /accountAssociations/{accountAssociation.uid=**}",
    body: "accountAssociation",
    request: updateRequest("iam.UpdateAccountAssociationRequest", "accountAssociation", AccountAssociation),
    response: AccountAssociation,
    capabilities: ["account_associations.update"],
    scope: "accountAssociation.uid",
  },
  CheckAccountAssociation: {
    http: "POST /accountAssociations/{uid=**}:checkAccountAssociation",
    body: "*",
    request: message("iam.CheckAccountAssociationRequest", {
      uid: required(1, uidp),
      providerType: required(
        2,
        AccountProviderType.refine((type) => type !== "ACCOUNT_PROVIDER_TYPE_UNSPECIFIED", "is required"),
      ),
    }),
    response: message("iam.CheckAccountAssociationResponse", {
      status: plain(1, CheckStatus),
      /** why it is not ready, in two words */
      reason: plain(2, string),
      message: plain(3, string),
    }),
    capabilities: ["account_associations.list"],
    scope: "uid",
  },
}) satisfies Operations;

export const accountAssociation = resource("AccountAssociation", accountAssociationOperations, {
  schema: AccountAssociation,
  sharesUid: true,
  replacementBreaks: "the group that has it would lose its cloud accounts",
});
