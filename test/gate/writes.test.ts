// The gate passes the writes of the change, each as it is recorded, and no others.
import { expect, onTestFinished, test } from "vitest";
import type { Write } from "../../access/change/write.ts";
import type { Client } from "../../client/client.ts";
import { systemTransport, type Transport } from "../../client/transport.ts";
import { type Gate, GateError, type Service, startGate, writeProblems } from "../../gate/index.ts";
import type { Json, OperationName } from "../../schema/index.ts";
import { clientOf } from "../access/client.ts";
import { IAM, serve, type TestServer } from "../harness/api-server.ts";
import { type Change, callOn, changeOf, type Through, type ThroughOptions, throughGate } from "../harness/gate.ts";
import { createUid } from "../harness/records.ts";
import { startTeam } from "../harness/team.ts";

const { api, platform, publisher, reader } = await startTeam();

const through = (change: Change, options: ThroughOptions = {}) => throughGate(api, change, options);

const claimMatch = { issuer: "https://issuer.example", subject: "deploy" };
type Caller = Pick<Client, "call">;
const createIdentity = (client: Caller, fields: Json = {}, parent = platform) =>
  callOn(client, "CreateIdentity", { parent, identity: { name: "deploy", claimMatch, ...fields } });
const bind = (client: Caller, identityUid: unknown, roleUid = publisher, parent = platform) =>
  callOn(client, "CreateRoleBinding", { parent, roleBinding: { identityUid, roleUid } });
const newDeploy = async (client: Client) => bind(client, (await createIdentity(client)).uid);

const createGroup = (client: Caller, fields: Json, parent = platform) =>
  callOn(client, "CreateGroup", { parent, group: fields });
const postsOf = ({ sent }: Through) => sent.filter((line) => line.startsWith("POST"));

const expectRefused = (request: Promise<unknown>, why: string) =>
  expect(request).rejects.toMatchObject({
    ...{ code: "PERMISSION_DENIED", message: expect.stringContaining(why) },
    details: [
      { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "NOT_IN_CHANGE", domain: expect.any(String) },
    ],
  });

test("a write passes with the uids of the service, in any spelling, and is sent as it is recorded", async () => {
  const bodies: string[] = [];
  const wire: Transport = (request) => {
    bodies.push(request.body ?? "");
    return systemTransport()(request);
  };
  const { gate, client } = await through(await changeOf(api, newDeploy), { wire });
  const bot = await createIdentity(client, {
    ...{ description: "", claimMatch: { subject: "deploy", issuer: "https://issuer.example" } },
    // Fields that only answers have, and one that does not exist.
    ...{ uid: reader.uid, createTime: "2020-01-01T00:00:00Z", hidden: true },
  });
  const binding = await bind(client, bot.uid);
  expect(gate.report()).toEqual({ applied: 2, refused: [], missing: [], unknown: [] });
  expect([...gate.uids].flat()).toEqual([1, bot.uid, 2, binding.uid]);
  expect(bodies.map((body) => JSON.parse(body || "{}"))).toContainEqual({ name: "deploy", claimMatch });
  expect(await api.ok("GET", `${IAM}/identities/${bot.uid}`)).toMatchObject({ name: "deploy", claimMatch });
});

test("a write of the change that is repeated, or asked for twice at a time, is sent once", async () => {
  const one = await through(await changeOf(api, newDeploy));
  const [bot, same] = await Promise.all([createIdentity(one.client), createIdentity(one.client)]);
  expect([same, await createIdentity(one.client)]).toEqual([bot, bot]);
  expect(postsOf(one)).toHaveLength(1);
  expect(one.gate.report().missing.map(({ n }) => n)).toEqual([2]);
});

test("a write of the change passes as often as the change has it", async () => {
  const twice = async (client: Client) => [await createIdentity(client), await createIdentity(client)];
  const { client, gate } = await through(await changeOf(api, twice));
  const all = [await createIdentity(client), await createIdentity(client), await createIdentity(client)];
  expect(new Set(all.map(({ uid }) => uid)).size).toBe(2);
  expect(gate.report().applied).toBe(2);
});

test("a write of the change that the service refuses comes back with its error, and may be sent again", async () => {
  const change = await changeOf(api, (client) => bind(client, reader.uid));
  let token = (await api.actor("denied")).token;
  const { client, gate } = await through(change, { writeToken: async () => token });
  const body = { identityUid: reader.uid, roleUid: publisher };
  const { message, details } = (await api.call("POST", `${IAM}/roleBindings/${platform}`, { token, body })).json;
  await expect(bind(client, reader.uid)).rejects.toMatchObject({ code: "PERMISSION_DENIED", message, details });
  expect(gate.report()).toMatchObject({ applied: 0, refused: [] });
  token = api.owner.token;
  await bind(client, reader.uid);
  expect(gate.report().applied).toBe(1);
});

test("a write of the change of an organization, and of what is in it", async () => {
  const act = async (client: Client) =>
    createIdentity(client, {}, (await createGroup(client, { name: "neworg" }, "")).uid as string);
  let count = 0;
  const owner = async (rejected?: string) => {
    if (rejected !== undefined) count += 1;
    return api.owner.token;
  };
  const { client, gate } = await through(await changeOf(api, act), {
    readToken: owner,
    writeToken: (_: number, own?: string) => owner(own),
  });
  await act(client);
  expect([gate.report().applied, count]).toEqual([2, 1]);
});

const updateReader = (client: Client, identity: Json, updateMask: string) =>
  callOn(client, "UpdateIdentity", { identity: { uid: reader.uid, ...identity }, updateMask });
const renamed = (client: Client) =>
  updateReader(client, { name: "renamed", description: "a reader" }, "name,description");

test("an update may have a part of the paths, and no other value", async () => {
  const { client, gate } = await through(await changeOf(api, renamed));
  const why = `UpdateIdentity identity ${reader.uid}: it is not in the change; write 1 differs in`;
  for (const [identity, mask, path] of [
    [{ name: "other", description: "a reader" }, "name,description", "name"],
    [{ name: "renamed", claimMatch }, "name,claimMatch", "claimMatch"],
    [{ name: "renamed", description: "a reader" }, "*", "*"],
  ] as const)
    await expectRefused(updateReader(client, identity, mask), `${why} ${path}`);
  expect(await updateReader(client, { description: "a reader" }, "description")).toMatchObject({ name: "reader" });
  expect(await updateReader(client, { name: "renamed", claimMatch }, "name")).toMatchObject({ name: "renamed" });
  expect(await renamed(client)).toMatchObject({ name: "renamed", description: "a reader" });
  expect(gate.report()).toMatchObject({ applied: 1, missing: [] });
  expect(gate.report().refused).toHaveLength(3);
});

test("an update of a path that a later write of the change has set does not pass any more", async () => {
  const back = async (client: Client) => {
    await updateReader(client, { name: "between" }, "name");
    await updateReader(client, { name: "at-last" }, "name");
  };
  const { client, gate } = await through(await changeOf(api, back));
  await updateReader(client, { name: "at-last" }, "name");
  const why = "a later write of the change has changed that already (write 1)";
  await expectRefused(updateReader(client, { name: "between" }, "name"), why);
  expect(gate.report().missing.map(({ n }) => n)).toEqual([1]);
});

const open = { issuer: claimMatch.issuer, subjectPattern: ".*" };
const wider = "write 1 differs in claimMatch.subject, claimMatch.subjectPattern";
const atRoot = "CreateGroup at the root: it is not in the";
const whoami = "Validate: the gate passes reads of records and the writes of its change, and no";
test.each<[string, OperationName, (client: Caller) => Promise<unknown>, string]>([
  ["another identity", "CreateRoleBinding", (one) => bind(one, reader.uid), "write 2 needs what write 1 makes"],
  ["another group", "CreateIdentity", (one) => createIdentity(one, {}, api.organization), "it is not in the change"],
  ["a wider claim", "CreateIdentity", (one) => createIdentity(one, { claimMatch: open }), wider],
  [
    "a delete",
    "DeleteIdentity",
    (one) => callOn(one, "DeleteIdentity", { uid: reader.uid }),
    `DeleteIdentity identity ${reader.uid}: it is not in the change`,
  ],
  ["an organization", "CreateGroup", (one) => createGroup(one, { name: "mine" }, ""), atRoot],
  ["who the caller is", "Validate", (one) => callOn(one, "Validate", {}), whoami],
])("any other request is refused: %s", async (_, method, act, why) => {
  const { client, gate, sent, clock } = await through(await changeOf(api, newDeploy));
  const call: Client["call"] = (own, request) => client.call(own, request, { permissionIsNew: true });
  for (let count = 0; count < 2; count += 1) await expectRefused(act({ call }), why);
  expect(gate.report().refused).toEqual([{ method, message: expect.stringContaining(why) }]);
  expect([sent, clock.sleeps]).toEqual([[], []]);
});

test("any other request is refused: an exchange and a refresh do not reach the service", async () => {
  const { gate, client, sent } = await through(await changeOf(api, newDeploy));
  const { url, token } = gate.services[0] as Gate["services"][number];
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}/sts/exchange?aud=${encodeURIComponent(api.baseUrl)}`, { headers });
  expect([answer.status, await answer.json()]).toMatchObject([403, { details: [{ reason: "NOT_IN_CHANGE" }] }]);
  expect(sent).toEqual([]);
  await createIdentity(client);
});

test("any other request is refused: an author's text that looks like a reference is a text", async () => {
  const literal = ["$", "{1.uid}"].join("");
  const act = async (client: Client) => {
    await createIdentity(client);
    for (const description of [literal, '{"$uid":1}']) await createGroup(client, { name: "g", description });
  };
  const { client, gate } = await through(await changeOf(api, act));
  const bot = await createIdentity(client);
  await expectRefused(createGroup(client, { name: "g", description: String(bot.uid) }), "differs in description");
  for (const description of [literal, '{"$uid":1}'])
    expect(await createGroup(client, { name: "g", description })).toMatchObject({ description });
  expect(gate.report()).toMatchObject({ applied: 3, missing: [] });
});

test("any other request is refused: a value that is computed from a new uid is refused before the run", async () => {
  const act = async (client: Client) => {
    const { uid } = await createIdentity(client);
    await createIdentity(client, { claimMatch: { issuer: "https://issuer.example", subject: `of-${uid}` } });
  };
  const { copy, writes } = await changeOf(api, act);
  // Applied: the text is known once the service has made the uid.
  const { client, gate } = await through({ copy, writes });
  await act(client);
  expect(gate.report().missing).toEqual([]);
  const computed = { ...writes[1], n: 2, parent: { $text: ["x", { $uid: 1 }] } } as Write;
  const own = [writes[0] as Write, computed];
  const problem = "write 2, CreateIdentity: parent is computed from the uid of a new record";
  expect([writeProblems(writes), writeProblems(own)]).toEqual([[], [problem]]);
  const start = startGate({ writes: own, services: new Map(), as: api.identity });
  await expect(start).rejects.toEqual(new GateError([problem]));
});

test("of several services, the writes of one count for no other one", async () => {
  const other = await serve({ clock: api.clock });
  // Two organizations of the same uid.
  expect(other.organization).toBe(api.organization);
  const create = (client: Client) => createGroup(client, { name: "same" }, api.organization);
  const [one, two] = [await changeOf(api, create), await changeOf(other, create)];
  const serviceOf = (own: TestServer, { copy }: Change): Service => {
    const token = async () => own.owner.token;
    return { client: clientOf(own), copy, readToken: token, writeToken: token };
  };
  const gate = await startGate({
    writes: [...one.writes, ...two.writes.map((write) => ({ ...write, n: 2, service: other.baseUrl }))],
    services: new Map([
      [api.baseUrl, serviceOf(api, one)],
      [other.baseUrl, serviceOf(other, two)],
    ]),
    as: api.identity,
  });
  onTestFinished(() => gate.close());
  const [{ token }, { url }] = gate.services as [Gate["services"][number], Gate["services"][number]];
  const [first, second] = gate.services.map((service) => clientOf({ baseUrl: service.url, owner: service }));
  const made = await create(first as Client);
  expect([await create(first as Client), gate.report()]).toMatchObject([made, { applied: 1, missing: [{ n: 2 }] }]);
  const crossed = clientOf({ baseUrl: url, owner: { token } });
  await expect(create(crossed)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  await create(second as Client);
  expect(gate.report()).toMatchObject({ applied: 2, missing: [] });
  const reference = { ...two.writes[0], n: 2, service: "https://b.example", parent: { $uid: 1 } } as Write;
  expect(writeProblems([...one.writes, reference])).toEqual([
    "write 2, CreateGroup: it refers to write 1, which is for another service",
  ]);
});

test("a hidden value is taken from the request, and nothing else is", async () => {
  const act = (description: string) => (client: Client) => createGroup(client, { name: "vault", description });
  const { client, gate } = await through(await changeOf(api, act("first-secret"), ["first-secret"]));
  expect(gate.report().missing[0]?.fields).toEqual({ name: "vault", description: { $secret: true } });
  await expectRefused(createGroup(client, { name: "other", description: "second-secret" }), "differs in name");
  expect(JSON.stringify(gate.report())).not.toContain("second-secret");
  expect(await act("second-secret")(client)).toMatchObject({ description: "second-secret" });
});

test("a delete of what goes with another record of the change passes, once", async () => {
  const group = await createUid(api, "groups", platform, { name: "ends" });
  const bot = await createUid(api, "identities", group, { name: "ends" });
  const act = async (client: Client) => {
    await callOn(client, "DeleteIdentity", { uid: bot });
    await callOn(client, "DeleteGroup", { uid: group });
  };
  const bound = await createUid(api, "roleBindings", platform, { identityUid: bot, roleUid: publisher });
  const { client, gate, sent } = await through(await changeOf(api, act));
  const later = await createUid(api, "roleBindings", group, { identityUid: reader.uid, roleUid: publisher });
  await callOn(client, "DeleteRoleBinding", { uid: bound });
  await callOn(client, "DeleteRoleBinding", { uid: bound });
  expect(sent).toEqual([`DELETE ${IAM}/roleBindings/${bound}`]);
  await expectRefused(callOn(client, "DeleteRoleBinding", { uid: later }), "it is not in the change");
  await api.ok("DELETE", `${IAM}/roleBindings/${later}`);
  await act(client);
  await act(client);
  expect(gate.report()).toMatchObject({ applied: 2, missing: [] });
});

test("a delete of a record that is gone already counts as done", async () => {
  const bot = await createUid(api, "identities", platform, { name: "gone" });
  const { client, gate } = await through(await changeOf(api, (one) => callOn(one, "DeleteIdentity", { uid: bot })));
  await api.ok("DELETE", `${IAM}/identities/${bot}`);
  await expect(callOn(client, "DeleteIdentity", { uid: bot })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(gate.report()).toMatchObject({ applied: 1, missing: [] });
});
