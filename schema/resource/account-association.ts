// AccountAssociation: the accounts of a group at cloud providers. A group has at most one, and its uid is the group's.
import { z } from "zod";
import { enumeration, int64, message, optional, output, plain, recordTimes, required, string } from "../field.ts";
import { rows, standardMethods } from "../operation.ts";
import { resource } from "../resource.ts";
import { awsAccount, description, name, nonEmpty } from "../text.ts";
import { isUidp, UIDP_TEXT, uidp } from "../uidp.ts";

const filled = z
  .record(z.string(), string, { error: "is required" })
  .refine((map) => Object.keys(map).length > 0, "is required");

const Installation = message(
  "iam.AccountAssociation.GitHubInstallation",
  {
    installationId: required(1, int64, "Id of the installation, decimal"),
    name: optional(2, string, "For people to read; default: empty"),
  },
  { argumentType: "GitHubInstallation", text: "An installation of a GitHub app" },
);

export const AccountAssociation = message(
  "iam.AccountAssociation",
  {
    uid: output(1, uidp, "uid of the group that has the accounts, which is also the uid of the association"),
    name: required(2, name, "Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique"),
    description: optional(3, description, "One line, at most 512 characters; default: empty"),
    amazon: optional(
      4,
      message("iam.AccountAssociation.Amazon", { account: required(1, awsAccount, "Twelve digits") }),
      "Account at AWS",
    ),
    google: optional(
      5,
      message("iam.AccountAssociation.Google", {
        projectId: required(1, nonEmpty, "Id of the project: `acme-production`"),
        projectNumber: required(2, nonEmpty, "Number of the project, decimal"),
      }),
      "Project at Google Cloud",
    ),
    chainguard: optional(
      7,
      message("iam.AccountAssociation.Chainguard", {
        serviceBindings: required(
          1,
          filled.refine((map) => Object.values(map).every(isUidp), `each value ${UIDP_TEXT}`),
          "uids of the identities that services assume, by service name; at least one",
          {
            argumentText:
              "The identities that services assume, by service name; each is an Identity or a uid; at least one",
            references: "Identity",
          },
        ),
      }),
      "Services of the platform itself",
    ),
    azure: optional(
      8,
      message("iam.AccountAssociation.Azure", {
        tenantId: required(1, nonEmpty, "Id of the tenant"),
        clientIds: required(2, filled, "Client ids by component name, at least one"),
      }),
      "Tenant at Azure",
    ),
    ...recordTimes(9),
    github: optional(
      11,
      message("iam.AccountAssociation.GitHub", {
        appInstallations: optional(
          2,
          z.record(
            int64,
            message("iam.AccountAssociation.GitHubAppInstallations", {
              installations: optional(
                1,
                z.array(Installation),
                "Installations of one app; their order does not matter",
                {
                  list: { key: "installationId" },
                },
              ),
            }),
          ),
          "Installations by the id of the app (decimal); their order does not matter",
        ),
      }),
      "Apps on GitHub",
    ),
  },
  { reserved: [6] },
);
export type AccountAssociation = z.infer<typeof AccountAssociation>;

const AccountProviderType = enumeration("iam.AccountProviderType", {
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

const standard = standardMethods(AccountAssociation, "accountAssociation", "accountAssociations");
const accountAssociationOperations = rows("iam.AccountAssociationsService", "/iam/{version}", {
  GetAccountAssociation: standard.get("account_associations.list"),
  CreateAccountAssociation: standard.create("account_associations.create"),
  DeleteAccountAssociation: standard.delete("account_associations.delete"),
  ListAccountAssociations: standard.list("account_associations.list", { name: plain(2, string, "The whole name") }, 3),
  UpdateAccountAssociation: standard.update("account_associations.update"),
  CheckAccountAssociation: {
    http: "POST /accountAssociations/{uid=**}:checkAccountAssociation",
    body: "*",
    request: message("iam.CheckAccountAssociationRequest", {
      uid: required(1, uidp, "uid of the association"),
      providerType: required(
        2,
        AccountProviderType.refine((type) => type !== "ACCOUNT_PROVIDER_TYPE_UNSPECIFIED", "is required"),
        "The cloud that is checked",
      ),
    }),
    response: message("iam.CheckAccountAssociationResponse", {
      status: plain(1, CheckStatus, "Whether the platform reaches the account"),
      reason: plain(2, string, "Why it is not ready, in two words"),
      message: plain(3, string, "What the check found, in words"),
    }),
    capabilities: ["account_associations.list"],
    scope: "uid",
  },
});

export const accountAssociation = resource("AccountAssociation", accountAssociationOperations, {
  texts: {
    about: "the accounts that a group has with cloud providers, and its installations of GitHub apps.",
    parent: {
      argument: "The group that has the accounts, and at most one association: a Group or a uid",
      output: "uid of the group that has the accounts, which is also the uid of the association",
    },
    allowReplace: "Allows a change of parent to move the accounts to another group; default: refused in the preview",
    lookUp: { by: "parent", text: "The account association of a group." },
    list: "Account associations that the caller may read.",
  },
  givesNoAccess: true,
  schema: AccountAssociation,
  sharesUid: true,
  replacementBreaks: "the group that has it would lose its cloud accounts",
});
