// A case for each method of account associations.
import type { OperationName } from "../../../schema/index.ts";
import { createUid } from "../../harness/records.ts";
import { deletes, type Fixture, gets, type OperationCase, ownGroup } from "../fixture.ts";

const association = async (fixture: Fixture): Promise<string> => {
  const parent = await ownGroup(fixture);
  return createUid(fixture.api, "accountAssociations", parent, { name: "a", amazon: { account: "123456789012" } });
};

const github = { appInstallations: { "17": { installations: [{ installationId: "4503599627370497", name: "n" }] } } };

export const cases = {
  ListAccountAssociationsV1: {
    request: ({ eng }) => ({ group: eng, name: "cloud" }),
    answer: ({ eng }) => ({ items: [{ group: eng, name: "cloud", amazon: { account: "123456789012" } }] }),
  },
  GetAccountAssociation: gets("eng", ({ eng: uid }) => ({
    uid,
    name: "cloud",
    amazon: { account: "123456789012" },
  })),
  ListAccountAssociations: {
    request: ({ eng }) => ({ uidp: { ids: [eng] }, name: "cloud", pageSize: 1, orderBy: "name" }),
    answer: ({ eng: uid }) => ({ accountAssociations: [{ uid }], totalCount: "1", skipped: 0 }),
  },
  CreateAccountAssociation: {
    request: async (fixture) => ({
      parent: await ownGroup(fixture),
      accountAssociation: {
        name: "new",
        google: { projectId: "p", projectNumber: "1" },
        azure: { tenantId: "t", clientIds: { component: "id" } },
        github,
      },
    }),
    answer: (_, { parent: uid }) => ({
      uid,
      google: { projectId: "p" },
      azure: { clientIds: { component: "id" } },
      github,
    }),
  },
  UpdateAccountAssociation: {
    request: async (fixture) => ({
      accountAssociation: { uid: await association(fixture), name: "ignored", description: "changed" },
      updateMask: "description",
    }),
    answer: () => ({ name: "a", description: "changed" }),
  },
  DeleteAccountAssociation: deletes(association),
  CheckAccountAssociation: {
    request: ({ eng: uid }) => ({ uid, providerType: "ACCOUNT_PROVIDER_TYPE_AMAZON" }),
    answer: () => ({ status: "CHECK_STATUS_READY" }),
  },
} satisfies Partial<Record<OperationName, OperationCase>>;
