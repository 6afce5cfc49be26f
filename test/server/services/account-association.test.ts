// The rules of account associations (docs/contract.md#account-associations): one for each group, with the group's uid.

import { describe, expect, test } from "vitest";
import { IAM, serve, shuffledIds } from "../../harness/api-server.ts";
import { createUid, recordOf } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectInvalid, expectRefusal, NO_NAME, resourceInfo, type Violations } from "../../support/refusal.ts";

const PATH = `${IAM}/accountAssociations`;
const ACCOUNT = 'AWS account ID must match "^[0-9]{12}$"';

const api = await serve({ ids: shuffledIds(11) });

const group = (parent = api.organization): Promise<string> => createUid(api, "groups", parent, { name: "g" });
const create = (uid: string, body: Body = {}) =>
  api.call("POST", `${PATH}/${uid}`, { body: { name: "accounts", ...body } });
const createdRecord = async (body: Body = {}, uid?: string) => recordOf(create(uid ?? (await group()), body));
const patch = (uid: string, body: Body, updateMask?: string) =>
  api.call("PATCH", `${PATH}/${uid}`, { body, query: { updateMask } });

const CLOUDS = {
  amazon: { account: "123456789012" },
  google: { projectId: "my-project", projectNumber: "42" },
  chainguard: { serviceBindings: { INGESTER: "720909c9f5279097d847ad02a2f24ba8f59de36a/a033a6fabe0bfa0d" } },
  azure: { tenantId: "t", clientIds: { syncer: "c" } },
  github: {
    appInstallations: { "9007199254740993": { installations: [{ installationId: "9007199254740995", name: "acme" }] } },
  },
};

describe("an account association", () => {
  test("has the uid of its group, and returns its fields unchanged, including ids of 64 bits", async () => {
    const uid = await group();
    const answer = await create(uid, { description: "where we are", ...CLOUDS });
    expect(answer.json).toEqual({
      uid,
      name: "accounts",
      description: "where we are",
      ...CLOUDS,
      createTime: "2026-01-28T12:54:21.189Z",
      updateTime: "2026-01-28T12:54:21.189Z",
    });
    expect(await api.ok("GET", `${PATH}/${uid}`)).toEqual(answer.json);
  });

  test("may have only a name, even that of another", async () => {
    const [{ createTime, updateTime, ...one }, two] = [await createdRecord(), await createdRecord()];
    expect(one).toEqual({ uid: one.uid, name: "accounts" });
    expect(two.name).toBe("accounts");
  });

  test("is the only one of its group: a second is ALREADY_EXISTS with the first", async () => {
    const { uid, ...before } = await createdRecord({ description: "first" });
    const text = `the group ${uid} has an account association already`;
    expectRefusal(await create(uid, { description: "second" }), "ALREADY_EXISTS", text, {
      details: [resourceInfo("AccountAssociation", uid)],
    });
    expect(await api.ok("GET", `${PATH}/${uid}`)).toEqual({ uid, ...before });
  });

  test("is the organization's, where its group is the organization", async () => {
    expect((await createdRecord({}, api.organization)).uid).toBe(api.organization);
    await api.ok("DELETE", `${PATH}/${api.organization}`);
  });

  test.each<[string, Body, Violations]>([
    ["no name", { name: undefined }, { name: NO_NAME }],
    ["an AWS account of another form", { amazon: { account: "1234" } }, { "amazon.account": ACCOUNT }],
    ["a malformed AWS account", { amazon: {} }, { "amazon.account": ACCOUNT }],
    [
      "an empty member each",
      { google: {}, chainguard: {}, azure: {} },
      {
        "google.projectId": "is required",
        "google.projectNumber": "is required",
        "chainguard.serviceBindings": "is required",
        "azure.tenantId": "is required",
        "azure.clientIds": "is required",
      },
    ],
    [
      "empty maps that are required",
      { chainguard: { serviceBindings: {} }, azure: { tenantId: "t", clientIds: {} } },
      { "chainguard.serviceBindings": "is required", "azure.clientIds": "is required" },
    ],
    [
      "a service that is bound to no uid",
      { chainguard: { serviceBindings: { INGESTER: "me" } } },
      {
        "chainguard.serviceBindings":
          "each value must be a uid: 40 hexadecimal digits, then / and 16 more for each level below",
      },
    ],
  ])("is refused with %s", async (_, body, violations) => {
    expectInvalid(await create(await group(), body), violations);
  });
});

describe("a change of an account association", () => {
  test.each<[string, Body, string | undefined, Body]>([
    [
      "reaches into a member",
      { google: { projectId: "other" } },
      undefined,
      { google: { ...CLOUDS.google, projectId: "other" } },
    ],
    [
      "replaces a map as a whole",
      { azure: { clientIds: { a: "b" } } },
      undefined,
      { azure: { tenantId: "t", clientIds: { a: "b" } } },
    ],
  ])("%s", async (_, body, mask, changed) => {
    const before = await createdRecord(CLOUDS);
    api.clock.advance(1000);
    const answer = await patch(before.uid, body, mask);
    expect(answer.status, answer.text).toBe(200);
    const expected = { ...before, ...changed, updateTime: new Date(api.clock()).toISOString() };
    expect(answer.json).toEqual(JSON.parse(JSON.stringify(expected)));
    expect(await api.ok("GET", `${PATH}/${before.uid}`)).toEqual(answer.json);
  });

  test.each<[string, Body, string, Violations]>([
    ["a required field of a member is cleared", { amazon: {} }, "amazon.account", { "amazon.account": ACCOUNT }],
    ["the name is cleared", {}, "name", { name: NO_NAME }],
  ])("is refused when %s", async (_, body, mask, violation) => {
    const before = await createdRecord(CLOUDS);
    expectInvalid(await patch(before.uid, body, mask), violation);
    expect(await api.ok("GET", `${PATH}/${before.uid}`)).toEqual(before);
  });
});

describe("the check", () => {
  const check = (uid: string, providerType?: string | number) =>
    api.call("POST", `${PATH}/${uid}:checkAccountAssociation`, { body: { providerType } });
  const TYPES: [string, keyof typeof CLOUDS, string][] = [
    ["ACCOUNT_PROVIDER_TYPE_GOOGLE", "google", "Google Cloud"],
    ["ACCOUNT_PROVIDER_TYPE_AMAZON", "amazon", "Amazon"],
    ["ACCOUNT_PROVIDER_TYPE_AZURE", "azure", "Azure"],
  ];

  test.each(TYPES)("of %s is READY when that is configured", async (type, member) => {
    const { uid } = await createdRecord({ [member]: CLOUDS[member] });
    expect((await check(uid, type)).json).toEqual({ status: "CHECK_STATUS_READY" });
  });

  test.each(TYPES)(
    "of %s is NOT_READY when all but that is configured, with the reason",
    async (type, member, name) => {
      const { uid } = await createdRecord({ ...CLOUDS, [member]: undefined });
      expect((await check(uid, type)).json).toEqual({
        status: "CHECK_STATUS_NOT_READY",
        reason: "not configured",
        message: `the account association of ${uid} has no ${name} account`,
      });
    },
  );

  test("of a group without an association is NOT_READY", async () => {
    const uid = await group();
    expect((await check(uid, 2)).json).toEqual({
      status: "CHECK_STATUS_NOT_READY",
      reason: "not configured",
      message: `the account association of ${uid} does not exist`,
    });
  });

  test.each<[string, string | number | undefined, string]>([
    ["no provider", undefined, "is required"],
    ["the unset provider", 0, "is required"],
    ["an unknown provider", "ORACLE", "is not a known value of its enum"],
  ])("of %s is refused", async (_, type, text) => {
    expectInvalid(await check(await group(), type), { providerType: text });
  });
});

test("a list of account associations is in the order of the groups, both ways", async () => {
  const own = await serve({ ids: shuffledIds(12) });
  const acme = own.organization;
  const eng = await createUid(own, "groups", acme);
  const [ci, sales] = [await createUid(own, "groups", eng), await createUid(own, "groups", acme)];
  for (const [name, uid] of Object.entries({ acme, eng, ci, sales })) {
    own.clock.advance(1);
    await createUid(own, "accountAssociations", uid, { name });
  }
  const names = async (order_by?: string): Promise<string[]> =>
    (await own.ok("GET", PATH, { query: { order_by } })).accountAssociations.map(({ name }: Body) => name);
  const byUid = Object.entries({ [acme]: "acme", [eng]: "eng", [ci]: "ci", [sales]: "sales" })
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, name]) => name);
  for (const order of [undefined, "group", "group asc", "uid", "id"]) expect(await names(order)).toEqual(byUid);
  for (const order of ["group desc", "uid desc"]) expect(await names(order)).toEqual(byUid.toReversed());
  expect(await names("name desc")).toEqual(["sales", "eng", "ci", "acme"]);
  expect(await names("created_at desc")).toEqual(["sales", "ci", "eng", "acme"]);
});
