// An answer that is lost, late or a lie, and what other people change meanwhile.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Client } from "../../client/client.ts";
import { AttemptError } from "../../client/retry.ts";
import { systemTransport, type Transport } from "../../client/transport.ts";
import { ApiError, type Json, type OperationName } from "../../schema/index.ts";
import type { FaultScript } from "../../server/index.ts";
import { IAM, serve } from "../harness/api-server.ts";
import { callOn, changeOf, type Through, type ThroughOptions, throughGate } from "../harness/gate.ts";
import { createUid } from "../harness/records.ts";

const api = await serve({ faults: {} });
const role = await createUid(api, "roles", api.organization, { name: "publisher", capabilities: ["CAP_REPO_LIST"] });
const bot = await createUid(api, "identities", api.organization, { name: "bot" });
afterEach(() => api.faults.clear());
const through = async (act: (client: Client) => Promise<unknown>, options: ThroughOptions = {}): Promise<Through> =>
  throughGate(api, await changeOf(api, act), options);

let group = "";
beforeEach(async () => {
  group = await createUid(api, "groups", api.organization, { name: "g" });
});

const meets = (operation: OperationName, ...steps: NonNullable<FaultScript["rules"]>[number]["steps"]) =>
  api.faults.set({ rules: [{ operation, steps }] });
const countOf = async (plural: string): Promise<number> =>
  (await api.ok("GET", `${IAM}/${plural}`, { query: { "uidp.childrenOf": group } }))[plural].length;
const NEW = { name: "new", claimMatch: { issuer: "https://a.example", subject: "new" } };
const create = (client: Client) => callOn(client, "CreateIdentity", { parent: group, identity: NEW });
const bind = (client: Client, identityUid: unknown = bot, parent = group) =>
  callOn(client, "CreateRoleBinding", { parent, roleBinding: { identityUid, roleUid: role } });
const createAndBind = async (client: Client) => bind(client, (await create(client)).uid);
const postsOf = ({ sent }: Through): number => sent.filter((one) => one.startsWith("POST")).length;
const done = { refused: [], missing: [], unknown: [] };

test.each([
  ["reset after it was carried out", { at: "after" as const, reset: true as const }],
  ["cut off", { at: "after" as const, truncate: 5 }],
  ["not available, and carried out", { at: "after" as const, status: 503 }],
])("a create whose answer is lost: %s: the gate finds the record, and later writes refer to it", async (_, step) => {
  const one = await through(createAndBind);
  meets("CreateIdentity", step);
  await createAndBind(one.client);
  expect([await countOf("identities"), await countOf("roleBindings"), postsOf(one)]).toEqual([1, 1, 2]);
  expect(one.gate.report()).toEqual({ applied: 2, ...done });
});

test("a create whose answer is lost, and not carried out: its error comes back, and it may be sent again", async () => {
  const one = await through(createAndBind);
  meets("CreateIdentity", { status: 503 });
  await expect(create(one.client)).rejects.toMatchObject({ code: "UNAVAILABLE", failure: { status: 503 } });
  expect(one.gate.report()).toMatchObject({ applied: 0, unknown: [{ n: 1 }], missing: [{ n: 2 }] });
  await createAndBind(one.client);
  expect([await countOf("identities"), one.gate.report()]).toEqual([1, { applied: 2, ...done }]);
});

test("a create whose answer is lost: no record of others is adopted", async () => {
  const before = await createUid(api, "identities", group, NEW);
  const one = await through(create);
  meets("CreateIdentity", { at: "after", reset: true });
  expect((await create(one.client)).uid).not.toBe(before);
  expect(await countOf("identities")).toBe(2);
});

test("a create whose answer is lost: after a timeout: nothing is sent again as long as nobody knows", async () => {
  const wire = systemTransport();
  let isLate = true;
  const late: Transport = async (request) => {
    if (!(isLate && request.method === "POST")) return wire(request);
    throw new AttemptError({ sent: true, timedOut: true }, new ApiError("UNAVAILABLE", "no response"));
  };
  const one = await through(create, { wire: late });
  await expect(create(one.client)).rejects.toMatchObject({ failure: { status: 504 } });
  isLate = false;
  await expect(create(one.client)).rejects.toMatchObject({
    message: "it is not known whether the service has carried it out, so it is not sent again",
  });
  expect([await countOf("identities"), postsOf(one)]).toEqual([0, 1]);
  expect(one.gate.report()).toMatchObject({ unknown: [{ n: 1 }] });
});

test("a create whose answer is lost, and in no list: it is looked for before it is sent again", async () => {
  const one = await through(create);
  api.faults.set({
    rules: [
      { operation: "CreateIdentity", steps: [{ at: "after", reset: true }] },
      { operation: "ListIdentities", steps: [{ status: 403 }] },
    ],
  });
  await expect(create(one.client)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(one.gate.report()).toMatchObject({ applied: 0, missing: [], unknown: [{ n: 1 }] });
  await create(one.client);
  expect([await countOf("identities"), postsOf(one), one.gate.report()]).toEqual([1, 1, { applied: 1, ...done }]);
});

test("a create whose answer is lost: two equal ones are two records", async () => {
  const twice = async (client: Client) => [await create(client), await create(client)];
  const one = await through(twice);
  meets("CreateIdentity", { at: "after", reset: true }, { at: "after", reset: true });
  const [first, second] = await twice(one.client);
  expect(first?.uid).not.toBe(second?.uid);
  expect([await countOf("identities"), one.gate.report()]).toEqual([2, { applied: 2, ...done }]);
});

test("an update and a delete whose answers are lost are sent again", async () => {
  const own = await createUid(api, "identities", group, { name: "old" });
  const act = async (client: Client) => {
    await callOn(client, "UpdateIdentity", { identity: { uid: own, name: "young" }, updateMask: "name" });
    await callOn(client, "DeleteIdentity", { uid: own });
  };
  const one = await through(act);
  api.faults.set({
    rules: (["UpdateIdentity", "DeleteIdentity"] as const).map((operation) => ({
      operation,
      steps: [{ at: "after" as const, reset: true as const }, { status: 503 }],
    })),
  });
  await expect(act(one.client)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect([await countOf("identities"), one.gate.report()]).toEqual([0, { applied: 2, ...done }]);
});

test("an update and a delete that never get an answer are not known", async () => {
  const one = await through((client) => callOn(client, "DeleteIdentity", { uid: bot }));
  api.faults.set({ rules: [{ operation: "DeleteIdentity", steps: [{ status: 503 }], repeat: true }] });
  await expect(callOn(one.client, "DeleteIdentity", { uid: bot })).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(one.gate.report()).toMatchObject({ applied: 0, missing: [], unknown: [{ n: 1 }] });
});

const answering = (other: (own: Json) => Json): Transport => {
  const wire = systemTransport();
  return async (request) => {
    const answer = await wire(request);
    if (request.method !== "POST") return answer;
    return { ...answer, body: JSON.stringify(other(JSON.parse(answer.body) as Json)) };
  };
};
test.each<[string, (own: Json) => Json]>([
  ["a record of another group", (own) => ({ ...own, uid: bot })],
  ["a record that was there", (own) => ({ ...own, uid: existing })],
  ["a record with other fields", (own) => ({ ...own, uid: `${group}/${"f".repeat(16)}`, name: "other" })],
])("a service that lies and answers with %s gives nothing to it", async (_, other) => {
  existing = await createUid(api, "identities", group, { name: "existing" });
  const one = await through(createAndBind, { wire: answering(other) });
  const { uid } = await create(one.client);
  expect(await api.ok("GET", `${IAM}/identities/${uid}`)).toMatchObject({ name: "new" });
  expect([uid, one.gate.uids.get(1)]).toEqual([uid, uid]);
  expect([bot, existing]).not.toContain(uid);
});
let existing = "";

const path = (uid: string, plural: string) => `${IAM}/${plural}/${uid}`;
const patch = (plural: string, uid: string, body: Json) => api.ok("PATCH", path(uid, plural), { body });

test("before a write that gives access, role and identity are read again after ten seconds, once for all", async () => {
  const act = (client: Client) => Promise.all([bind(client), bind(client)]);
  const one = await through(act);
  await bind(one.client);
  expect(one.sent).toEqual([`POST ${path(group, "roleBindings")}`]);
  one.clock.advance(10_001);
  await bind(one.client);
  const reads = one.sent.filter((line) => line.startsWith("GET")).toSorted();
  expect(reads).toEqual([`GET ${path(bot, "identities")}`, `GET ${path(role, "roles")}`].toSorted());
});

const claimsOf = (issuer: string) => ({ claimMatch: { issuer, subject: "s" } });
test.each<[string, plural: string, string, Json, back: Json, string]>([
  [
    ...(["a role that gives more", "roles", role] as const),
    { capabilities: ["CAP_REPO_LIST", "CAP_REPO_CREATE"] },
    { capabilities: ["CAP_REPO_LIST"] },
    `role ${role} "publisher" has another capabilities now`,
  ],
  [
    ...(["an identity that others may assume", "identities", bot] as const),
    claimsOf("https://evil.example"),
    claimsOf("https://issuer.example"),
    `identity ${bot} "bot" has another claimMatch now`,
  ],
])("before a write that gives access, %s stops it", async (_, plural, uid, change, back, why) => {
  const one = await through((client) => bind(client));
  one.clock.advance(10_001);
  await patch(plural, uid, change);
  const details = [expect.objectContaining({ reason: "CHANGED_MEANWHILE" })];
  const refused = { code: "PERMISSION_DENIED", message: expect.stringContaining(why), details };
  await expect(bind(one.client)).rejects.toMatchObject(refused);
  const refusal = { applied: 0, refused: [{ method: "CreateRoleBinding" }], missing: [{ n: 1 }] };
  expect(one.gate.report()).toMatchObject(refusal);
  await patch(plural, uid, back);
  one.clock.advance(10_001);
  await bind(one.client);
});

test("before a write that gives access, neither a description stops it, nor what the change itself has made", async () => {
  const act = async (client: Client, ...capabilities: string[]) => {
    await callOn(client, "UpdateRole", { role: { uid: role, capabilities }, updateMask: "capabilities" });
    const { uid } = await create(client);
    one?.clock.advance(10_001);
    await bind(client);
    await bind(client, uid);
  };
  let one: Through | undefined;
  one = await through((client) => act(client, "CAP_REPO_LIST", "CAP_REPO_UPDATE"));
  await patch("identities", bot, { description: "a bot" });
  await act(one.client, "CAP_REPO_UPDATE", "CAP_REPO_LIST");
  expect(one.gate.report()).toEqual({ applied: 4, ...done });
  await patch("roles", role, { capabilities: ["CAP_REPO_LIST"] });
});

test("before a write that gives access, an identity that is gone stops it", async () => {
  const gone = await createUid(api, "identities", group, { name: "gone" });
  const one = await through((client) => bind(client, gone));
  await api.ok("DELETE", path(gone, "identities"));
  one.clock.advance(10_001);
  await expect(bind(one.client, gone)).rejects.toThrow(`identity ${gone} "gone" is gone`);
});

test("what waits for a token when the command ends is not sent", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  let isAsked = false;
  const writeToken = () => {
    isAsked = true;
    return promise;
  };
  const one = await through(create, { writeToken });
  const asked = expect(create(one.client)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect.poll(() => isAsked).toBe(true);
  const closed = one.gate.close();
  resolve(api.owner.token);
  await Promise.all([asked, closed]);
  expect(await countOf("identities")).toBe(0);
  expect(one.gate.report()).toMatchObject({ applied: 0, missing: [{ n: 1 }], unknown: [] });
});

describe("a batch", () => {
  const batch = (client: Client, ...parents: string[]) =>
    callOn(client, "BatchCreateRoleBindings", {
      parent: group,
      requests: parents.map((identityUid) => ({ roleBinding: { identityUid, roleUid: role } })),
    });
  const bots: string[] = [];
  beforeEach(async () => {
    bots.length = 0;
    for (const name of ["a", "b", "c"]) bots.push(await createUid(api, "identities", group, { name }));
  });
  const records = (answer: Json) => (answer.roleBindings as Json[]).map(({ identity }) => (identity as Json).uid);

  test("goes out as one request where one token does, and in the order of the request", async () => {
    const one = await through((client) => batch(client, ...bots));
    expect(records(await batch(one.client, ...bots.toReversed()))).toEqual(bots.toReversed());
    expect(one.sent).toEqual([`POST ${IAM}/roleBindings:batchCreate`]);
    expect([await batch(one.client, ...bots), one.gate.report()]).toMatchObject([{}, { applied: 3, ...done }]);
    expect(await countOf("roleBindings")).toBe(3);
  });

  test("of writes with several tokens goes out singly, and so does a part of one", async () => {
    const second = await api.token(api.identity, { subject: "owner" });
    const options = { writeToken: async (n: number) => (n === 1 ? second : api.owner.token) };
    const one = await through((client) => batch(client, ...bots), options);
    await bind(one.client, bots[2] as string);
    expect(records(await batch(one.client, ...bots))).toEqual(bots);
    expect([one.sent.length, await countOf("roleBindings")]).toEqual([3, 3]);
  });

  test("with one that is not in the change sends nothing; the others pass singly", async () => {
    const one = await through((client) => batch(client, bots[0] as string, bots[1] as string));
    await expect(batch(one.client, ...bots)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    expect(one.sent).toEqual([]);
    await bind(one.client, bots[0]);
    await bind(one.client, bots[1]);
    await expect(bind(one.client, bots[2])).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    expect(one.gate.report()).toMatchObject({ applied: 2, refused: [{ method: "CreateRoleBinding" }] });
  });

  test("whose answer is lost is found", async () => {
    const one = await through((client) => batch(client, ...bots));
    meets("BatchCreateRoleBindings", { at: "after", reset: true });
    expect(records(await batch(one.client, ...bots))).toEqual(bots);
    expect([await countOf("roleBindings"), one.gate.report()]).toEqual([3, { applied: 3, ...done }]);
  });
});
