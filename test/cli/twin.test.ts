// A twin of an organization decides as the original does, before and after a run, and sends nothing to it.
import { afterAll, expect, onTestFinished, test } from "vitest";
import { newGraph } from "../../access/graph/graph.ts";
import { actorsOf, type Rights } from "../../cli/run/actor.ts";
import { accessOf, rowsBetween } from "../../cli/twin/access.ts";
import { disagreements, rowsOf, type Sides, sidesOf } from "../../cli/twin/sides.ts";
import { readTwin, startTwin } from "../../cli/twin/twin.ts";
import type { Client } from "../../client/client.ts";
import { createRecord } from "../../client/records.ts";
import { apiError, BUILT_IN_ROLE_CAPABILITIES, operations, resources } from "../../schema/index.ts";
import { clientOf } from "../access/client.ts";
import { IAM, serve } from "../harness/api-server.ts";
import { createByHand } from "../harness/by-hand.ts";
import { copyOfServer, listEverything } from "../harness/copy.ts";
import { createUid } from "../harness/records.ts";
import { startTeam } from "../harness/team.ts";
import type { Body } from "../support/http.ts";

const api = await serve();
const made = await createByHand(api, api.organization);
const viewer = await api.actor("seen", { role: "viewer" });
const { organization } = api;
const team = await createUid(api, "groups", organization, { name: "team" });
const ci = await api.actor("ci");
const reader = await api.actor("reader", { role: "viewer", at: team });
const ABSENT = `${organization}/0123456789abcdef`;
const FOREIGN = `${"f".repeat(40)}/0123456789abcdef`;
const before = await listEverything(api);
let requests = 0;
const twin = await startTwin(await copyOfServer(api), api.baseUrl, {
  log: (_, event, fields) => {
    if (event === "request" && fields?.operation !== undefined) requests += 1;
  },
});
afterAll(() => twin.close());

test("a twin says of each identity what the original says, and refuses what it may not do", async () => {
  const [own, its] = await Promise.all(
    [clientOf(api, viewer.token), await twin.clientOf(viewer.uid)].map((client) => client.call("Validate", {})),
  );
  expect(its?.capabilities).toEqual(own?.capabilities);
  expect(its?.capabilities).toHaveLength(1);
  const client = await twin.clientOf(viewer.uid);
  await expect(createRecord(client, resources.group, made.platform, { name: "new" })).rejects.toThrow(
    `Permission denied: needs groups.create at ${made.platform}`,
  );
});

test("a twin shows a change in access, which the original never sees, and knows no other identity", async () => {
  const owner = await twin.clientOf(api.identity);
  const identities = (before.identities ?? []).map(({ uid }) => uid as string);
  const held = await accessOf(twin, identities);
  expect(rowsBetween(held, held)).toEqual([]);
  const roleUid = await api.role("editor");
  const counted = requests;
  const link = { identityUid: viewer.uid, roleUid };
  await createRecord(owner, resources.roleBinding, made.platform, link);
  expect(requests - counted).toBe(1);
  const gained = rowsBetween(await accessOf(twin, identities), held);
  expect(new Set(gained.map(({ identity, group }) => `${identity} ${group}`))).toEqual(
    new Set([`${viewer.uid} ${made.platform}`]),
  );
  // What the viewer holds above is not gained.
  const capabilities = gained.map(({ capability }) => capability);
  expect(capabilities).toContain("repo.create");
  expect(capabilities).not.toContain("groups.list");
  expect(await listEverything(api)).toEqual(before);
  expect((await accessOf(twin, [`${api.organization}/0123456789abcdef`])).size).toBe(0);
});

test("a token of one twin is refused by another one, although they share their keys", async () => {
  const other = await startTwin(await copyOfServer(api), api.baseUrl);
  onTestFinished(() => other.close());
  for (const token of [await twin.tokenOf(api.identity), await twin.operatorToken(api.identity)])
    await expect(clientOf({ ...api, baseUrl: other.url }, token).call("Validate", {})).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
    });
});

const operator = async (uid?: string) => {
  const token = await twin.operatorToken(uid);
  return async (method: string, path: string, body?: object): Promise<{ status: number; json: Body }> => {
    const headers = { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) };
    const answer = await fetch(twin.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: answer.status, json: (await answer.json()) as Body };
  };
};
const OTHERS = "CAP_IAM_ROLES_CREATE";

test("an operator of a twin may do everything in the copied organization, without holding it", async () => {
  const send = await operator(viewer.uid);
  const held = await accessOf(twin, [viewer.uid]);
  const { json } = await send("GET", operations.Validate.path);
  expect(json.subject).toBe(viewer.uid);
  const roleUid = (await send("POST", `${IAM}/roles/${made.platform}`, { name: "wide", capabilities: [OTHERS] })).json
    .uid;
  const link = { identityUid: made.release, roleUid };
  expect((await send("POST", `${IAM}/roleBindings/${made.platform}`, link)).status).toBe(200);
  expect((await send("GET", `${IAM}/roles?uidp.descendantsOf=${api.organization}`)).json.roles).toContainEqual(
    expect.objectContaining({ name: "wide" }),
  );
  // What the service keeps to itself is refused there, too.
  const verified = { name: "verified", verified: true };
  expect((await send("POST", `${IAM}/groups/${made.platform}`, verified)).status).toBe(403);
  // Its roles have not grown.
  expect(await accessOf(twin, [viewer.uid])).toEqual(held);
});

test("an operator of a twin owns the organization that it creates, and holds nothing in any other", async () => {
  const send = await operator(viewer.uid);
  const founded = (await send("POST", `${IAM}/groups`, { name: "founded" })).json.uid as string;
  expect((await accessOf(twin, [viewer.uid])).get(viewer.uid)?.get(founded)?.has("groups.delete")).toBe(true);
  expect((await send("POST", `${IAM}/groups/${founded}`, { name: "below" })).status).toBe(200);
  const another = (await (await operator(made.release))("POST", `${IAM}/groups`, { name: "another" })).json.uid;
  expect((await send("GET", `${IAM}/groups/${another}`)).json.message).toContain(`needs groups.list at ${another}`);
  // A reader of the twin sees both, also where the founder has given its own access away.
  const client = await twin.operatorOf(viewer.uid);
  const { roleBindings: [founding] = [] } = await client.call("ListRoleBindings", { group: founded });
  const claimMatch = { issuer: "https://issuer.example", subject: "heir" };
  const { uid: heir } = await createRecord(client, resources.identity, founded, { name: "heir", claimMatch });
  const link = { identityUid: heir, roleUid: founding?.role?.uid };
  await createRecord(client, resources.roleBinding, founded, link);
  await client.call("DeleteRoleBinding", { uid: founding?.uid as string });
  const { graph } = await readTwin(twin);
  expect([founded, another].map((uid) => graph.groups.has(uid))).toEqual([true, true]);
  expect([...graph.bindings.values()].filter(({ group }) => group === founded)).toMatchObject([{ identity: heir }]);
});

test("an operator of a twin that is no identity may do the same, except for what depends on who it is", async () => {
  const client = clientOf({ ...api, baseUrl: twin.url }, await twin.operatorToken(undefined));
  await createRecord(client, resources.group, made.platform, { name: "by a client" });
  expect(await client.identity()).toBeUndefined();
  const send = await operator();
  expect((await send("POST", `${IAM}/groups/${made.platform}`, { name: "new" })).status).toBe(200);
  expect((await send("POST", `${IAM}/groups`, { name: "founded" })).json.message).toBe(
    "Permission denied: the creator of an organization owns it, and that identity is not known: give --as, with its uid",
  );
});

const actorFor = async (token: string | undefined, rights: Rights, as?: string) => {
  const client = clientOf(api, token);
  const original = { address: api.baseUrl, client, copy: await copyOfServer(api, token) };
  const [found] = await actorsOf([original], { as, rights });
  if (!found) throw new Error("no actor");
  return found;
};

test.each([
  ["the caller by default, with its own rights", undefined, "own", undefined, api.identity, "owner"],
  ["the caller by default, with those of an operator", undefined, "operator", undefined, api.identity, "owner"],
  ["the identity of --as", undefined, "own", ci.uid, ci.uid, "ci"],
  ["the identity of --as, which the caller cannot list", reader.token, "operator", ci.uid, ci.uid, null],
  ["the caller, which cannot list itself", reader.token, "operator", undefined, reader.uid, "reader"],
  ["an identity of another organization", undefined, "operator", FOREIGN, FOREIGN, null],
] as const)("who acts in a run is %s", async (_, token, rights, as, uid, name) => {
  const { actor } = await actorFor(token, rights, as);
  expect(actor).toEqual({ uid, name });
});

test("who acts in a run is not known where the token does not show it, and an operator acts without it", async () => {
  const client = clientOf(api);
  const opaque: typeof client = {
    ...client,
    caller: async () => ({ source: "t", isExchange: false, claims: {} }),
    call: (operation, request) =>
      operation === "Validate" ? Promise.reject(apiError("UNIMPLEMENTED", "no")) : client.call(operation, request),
  };
  const copy = await copyOfServer(api);
  const originals = [{ address: api.baseUrl, client: opaque, copy }];
  const [found] = await actorsOf(originals, { rights: "operator" });
  expect(found?.actor).toEqual({ uid: null, name: null });
  await expect(actorsOf(originals, { rights: "own" })).rejects.toThrow("cannot list its own identity");
});

test.each([
  ["operator", undefined, ABSENT, `--as ${ABSENT}: there is no identity with this uid at ${api.baseUrl}`],
  ["own", undefined, ABSENT, `--as ${ABSENT}: no identity that you can list has this uid`],
  ["own", reader.token, ci.uid, `--as ${ci.uid}: no identity that you can list has this uid`],
] as const)("who acts in a run is nobody with %s rights where it is not there", async (rights, token, as, text) => {
  await expect(actorFor(token, rights, as)).rejects.toThrow(text);
});

test("who acts in a run is known to the twin by its uid alone, and owns what it creates there", async () => {
  for (const [token, uid] of [
    [reader.token, ci.uid],
    [undefined, FOREIGN],
  ] as const) {
    const { copy } = await actorFor(token, "operator", uid);
    const twin = await startTwin(copy, api.baseUrl);
    onTestFinished(() => twin.close());
    const client = clientOf({ ...api, baseUrl: twin.url }, await twin.operatorToken(uid));
    const { uid: group } = await createRecord(client, resources.group, "", { name: "founded" });
    const { roleBindings = [] } = await client.call("ListRoleBindings", { group: group as string });
    expect(roleBindings.map(({ identity }) => identity?.uid)).toEqual([uid]);
    await createRecord(client, resources.group, team, { name: "below" });
    // What the caller of the review cannot see is not made up.
    await expect(client.call("GetIdentity", { uid })).rejects.toThrow("Permission denied");
  }
});

const { api: teamApi, platform, registry, publisher, reader: seer } = await startTeam();
const bot = await teamApi.actor("bot", { role: publisher, at: registry });
await createUid(teamApi, "repos", registry, { name: "images" });
afterAll(() => teamApi.close());

const sidesAfter = async (act: (client: Client) => Promise<unknown>): Promise<Sides> => {
  const twin = await startTwin(await copyOfServer(teamApi), teamApi.baseUrl);
  onTestFinished(() => twin.close());
  const before = await readTwin(twin);
  await act(await twin.operatorOf(teamApi.identity));
  return await sidesOf(twin, before);
};
const same = (uid: string) => uid;
const publishes = (client: Client) =>
  createRecord(client, resources.roleBinding, platform, { identityUid: bot.uid, roleUid: publisher });

test("the copy agrees with the review on a change of bindings, of a role, and of identities", async () => {
  let made = "";
  const sides = await sidesAfter(async (client) => {
    await publishes(client);
    await client.call("UpdateRole", {
      role: { uid: publisher, capabilities: ["CAP_REPO_LIST", "CAP_REPO_CREATE"] },
      updateMask: "capabilities",
    } as never);
    const claimMatch = { issuer: "https://issuer.example", subject: "new" };
    const { uid } = await createRecord(client, resources.identity, platform, { name: "new", claimMatch });
    made = uid as string;
    await createRecord(client, resources.roleBinding, platform, { identityUid: uid, roleUid: publisher });
    await client.call("DeleteIdentity", { uid: seer.uid });
  });
  const rows = rowsOf(sides, same).map((row) => [row.change, row.identity, row.group, row.capability].join(" "));
  const gains = [made, bot.uid].flatMap((uid) =>
    ["create", "list"].map((verb) => `gain ${uid} ${platform} repo.${verb}`),
  );
  const losses =
    BUILT_IN_ROLE_CAPABILITIES.viewer?.map((capability) => `loss ${seer.uid} ${registry} ${capability}`) ?? [];
  expect(rows.toSorted()).toEqual([...gains, `loss ${bot.uid} ${registry} tag.create`, ...losses].toSorted());
  expect(await disagreements([sides], same)).toEqual([]);
});

test("the copy agrees with the review where nothing changes, and nobody is asked", async () => {
  const sides = await sidesAfter(async () => {});
  expect([rowsOf(sides, same), sides.decided.size, await disagreements([sides], same)]).toEqual([[], 0, []]);
});

test("each row on which they differ is named, and is an error of this package", async () => {
  const sides = await sidesAfter(publishes);
  const [row] = rowsOf(sides, same).filter(({ capability }) => capability === "tag.create");
  expect(row).toEqual({ change: "gain", identity: bot.uid, group: platform, capability: "tag.create" });
  // The review does not see the role, or sees more in it.
  const withRole = (capabilities: string[]): Sides => {
    const { after } = sides;
    const graph = newGraph(after.graph);
    graph.roles.set(publisher, { ...graph.roles.get(publisher), capabilities } as never);
    return { ...sides, after: { ...after, graph } };
  };
  expect(await disagreements([withRole(["repo.list"])], same)).toContainEqual({
    row,
    message: "the copy decides so, and the review does not show it: this is an error of pulumi-irm",
  });
  expect(await disagreements([withRole(["repo.list", "tag.create", "groups.delete"])], same)).toEqual(
    [platform].map((group) => ({
      row: { change: "gain", identity: bot.uid, group, capability: "groups.delete" },
      message: "the review shows it, and the copy decides otherwise: this is an error of pulumi-irm",
    })),
  );
});

test("a role that is only named may grant anything; what the reader may not list is named", async () => {
  const twin = await startTwin(await copyOfServer(teamApi, seer.token), teamApi.baseUrl);
  onTestFinished(() => twin.close());
  const { graph, notVisible, held } = await readTwin(twin);
  expect(graph.roles.get(publisher)).toMatchObject({ name: "publisher", isUnlisted: true });
  expect([...graph.roles.values()].find(({ name }) => name === "viewer")).not.toHaveProperty("isUnlisted");
  expect(graph.identities.has(bot.uid)).toBe(true);
  expect(notVisible.map(({ kind }) => kind)).toContain("identity");
  expect(held).toMatchObject([{ kind: "repo", name: "images", group: registry }]);
});
