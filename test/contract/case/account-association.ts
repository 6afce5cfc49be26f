import { createUid } from "../../harness/records.ts";
import { type Cases, creates, deletes, type Fixture, gets, ownGroup, updates } from "../fixture.ts";

const association = async (fixture: Fixture): Promise<string> => {
  const parent = await ownGroup(fixture);
  return createUid(fixture.api, "accountAssociations", parent, { name: "a", amazon: { account: "123456789012" } });
};

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
  CreateAccountAssociation: creates(
    "accountAssociation",
    () => ({
      name: "new",
      google: { projectId: "p", projectNumber: "1" },
      azure: { tenantId: "t", clientIds: { component: "id" } },
      github: { appInstallations: { "17": { installations: [{ installationId: "4503599627370497", name: "n" }] } } },
    }),
    ownGroup,
  ),
  UpdateAccountAssociation: updates("accountAssociation", association, { name: "a", description: "changed" }),
  DeleteAccountAssociation: deletes(association),
  CheckAccountAssociation: {
    request: ({ eng: uid }) => ({ uid, providerType: "ACCOUNT_PROVIDER_TYPE_AMAZON" }),
    answer: () => ({ status: "CHECK_STATUS_READY" }),
  },
} satisfies Cases;
