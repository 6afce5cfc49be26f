// The rules of account associations (docs/contract.md#account-associations): one for each group, with the group's uid.
import { expect, test } from "vitest";
import { IAM, serve, shuffledIds } from "../../harness/api-server.ts";
import { createUid, recordOf } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectRefusal, resourceInfo } from "../../support/refusal.ts";

const PATH = `${IAM}/accountAssociations`;

const api = await serve({ ids: shuffledIds(11) });

const group = (parent = api.organization): Promise<string> => createUid(api, "groups", parent, { name: "g" });
const create = (uid: string, body: Body = {}) =>
  api.call("POST", `${PATH}/${uid}`, { body: { name: "accounts", ...body } });
const createdRecord = async (body: Body = {}) => recordOf(create(await group(), body));

const CLOUDS = {
  amazon: { account: "123456789012" },
  google: { projectId: "my-project", projectNumber: "42" },
  azure: { tenantId: "t", clientIds: { syncer: "c" } },
};

test("a second one in a group is ALREADY_EXISTS with the first", async () => {
  const { uid, ...before } = await createdRecord({ description: "first" });
  const text = `the group ${uid} has an account association already`;
  expectRefusal(await create(uid, { description: "second" }), "ALREADY_EXISTS", text, {
    details: [resourceInfo("AccountAssociation", uid)],
  });
  expect(await api.ok("GET", `${PATH}/${uid}`)).toEqual({ uid, ...before });
});

const check = async (uid: string, providerType: string | number) =>
  (await api.call("POST", `${PATH}/${uid}:checkAccountAssociation`, { body: { providerType } })).json;
const notReady = (message: string) => ({
  status: "CHECK_STATUS_NOT_READY",
  reason: "not configured",
  message: `the account association of ${message}`,
});

test.each([
  ["ACCOUNT_PROVIDER_TYPE_GOOGLE", "google", "Google Cloud"],
  ["ACCOUNT_PROVIDER_TYPE_AMAZON", "amazon", "Amazon"],
  ["ACCOUNT_PROVIDER_TYPE_AZURE", "azure", "Azure"],
] as const)(
  "the check of %s is READY when that is configured, and NOT_READY when all but that is",
  async (type, member, name) => {
    const ready = await createdRecord({ [member]: CLOUDS[member] });
    expect(await check(ready.uid, type)).toEqual({ status: "CHECK_STATUS_READY" });
    const { uid } = await createdRecord({ ...CLOUDS, [member]: undefined });
    expect(await check(uid, type)).toEqual(notReady(`${uid} has no ${name} account`));
  },
);

test("the check of a group without an association is NOT_READY", async () => {
  const uid = await group();
  expect(await check(uid, 2)).toEqual(notReady(`${uid} does not exist`));
});

test("a list of account associations is in the order of the groups, both ways", async () => {
  const own = await serve({ ids: shuffledIds(12) });
  const uids = [own.organization, await createUid(own, "groups", own.organization)];
  for (const uid of uids) await createUid(own, "accountAssociations", uid);
  const listed = async (order_by?: string): Promise<string[]> =>
    (await own.ok("GET", PATH, { query: { order_by } })).accountAssociations.map(({ uid }: Body) => uid);
  for (const order of [undefined, "group", "group asc", "uid"]) expect(await listed(order)).toEqual(uids.toSorted());
  expect(await listed("group desc")).toEqual(uids.toSorted().toReversed());
});
