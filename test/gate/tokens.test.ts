// The tokens of an apply, from a real exchange: for each write those capabilities that the service asks for, no more and no fewer.
import { afterAll, expect, test } from "vitest";
import { METHODS, methodOf } from "../../access/change/methods.ts";
import type { Write } from "../../access/change/write.ts";
import { type Copy, readCopy } from "../../access/copy/copy.ts";
import { clientWith } from "../../client/client.ts";
import type { Limits } from "../../client/credentials.ts";
import { readConfig } from "../../client/credentials.ts";
import { redactor } from "../../client/errors.ts";
import { systemTransport } from "../../client/transport.ts";
import { READING, tokensFor } from "../../gate/tokens.ts";
import { isAncestorOrSelf, type Json, type OperationName } from "../../schema/index.ts";
import { operationCases, startFixture } from "../contract/operation-case.ts";
import { IAM, REGISTRY } from "../harness/api-server.ts";
import { createRecord, createUid } from "../harness/records.ts";
import type { Body } from "../support/http.ts";
import { WAYS } from "../support/way.ts";

const fixture = await startFixture();
const { api, eng, platform, organization } = fixture;
const sales: string = (await api.ok("GET", `${IAM}/groups`, { query: { name: "sales" } })).groups[0].uid;
afterAll(() => api.close());

const clientOf = (credentials: Record<string, string>) => {
  const env = { IRM_BASE_URL: api.baseUrl, IRM_AUTH_URL: api.authUrl, ...credentials };
  const config = readConfig(undefined, env);
  return clientWith({ config, env, clock: api.clock, redactor: redactor(), transport: systemTransport() });
};
const clientFor = async (subject: string, identity: string, lifetimeSeconds = 24 * 60 * 60) => {
  const token = await api.identityToken(subject, { lifetimeSeconds });
  return clientOf({ IRM_IDENTITY: identity, IRM_IDENTITY_TOKEN: token });
};
const owner = await clientFor("owner", api.identity);

const numbered = (writes: Omit<Write, "n">[]): Write[] => writes.map((write, i) => ({ n: i + 1, ...write }));
const made = new Map<number, string>();
const tokensOf = async (writes: Omit<Write, "n">[], client = owner, copy?: Copy) =>
  tokensFor({ client, copy: copy ?? (await readCopy(client, api.baseUrl)) }, numbered(writes), (n) => made.get(n));

/** The write that a request of one record asks for. */
const writeOf = (method: string, { parent, uid, updateMask, ...request }: Body): Omit<Write, "n"> => {
  const { verb, field = "" } = methodOf(method);
  const { uid: own, ...fields } = (request[field] ?? {}) as Json;
  if (verb === "create") return { method, ...(parent && { parent }), fields };
  if (verb === "delete") return { method, uid, fields: {} };
  return { method, uid: own as string, fields, mask: updateMask.split(",") };
};

const OF_ANOTHER = /identity \S+ does not exist/;

/** What the service says is missing. A record that may not be seen does not exist. */
const missingIn = ({ code, message }: { code: string; message: string }): string[] => {
  if (message.includes("is not a repo that you may pull from")) return ["manifest.list", "repo.blobs.get"];
  if (OF_ANOTHER.test(message)) return ["identity.list"];
  expect({ code, message }).toEqual({ code: "PERMISSION_DENIED", message: expect.stringContaining(" needs ") });
  return (/needs (.*) at /.exec(message)?.[1] ?? "").split(", ");
};

const remove = (uid: string): Omit<Write, "n"> => ({ method: "DeleteGroup", uid, fields: {} });
const binding = (roleUid: unknown): Omit<Write, "n"> => ({
  ...{ method: "CreateRoleBinding", parent: eng, fields: { identityUid: fixture.identity, roleUid } },
});

/** Sends it with less until the service asks for no more, then with its token. Returns the class. */
const expectNeeded = async (operation: OperationName, request: Body): Promise<Limits> => {
  const isReadme = operation === "UpdateRepoReadme";
  const [subject, identity] = isReadme ? ["librarian", fixture.librarian] : ["owner", api.identity];
  const copy = await readCopy(owner, api.baseUrl);
  const client = isReadme ? await clientFor(subject, identity) : owner;
  const tokens = await tokensOf([writeOf(operation, request)], client, copy);
  expect(tokens.reasons).toEqual([]);
  expect(tokens.classes).toHaveLength(1);
  const [{ capabilities, scopes }] = tokens.classes as [Limits];
  const asked = new Set<string>();
  const way = WAYS["REST in lowerCamel"];
  while (asked.size < capabilities.length) {
    const cap = asked.size === 0 ? ["none.such"] : [...asked];
    const token = await api.token(identity, { subject, cap, scopes });
    const before = asked.size;
    for (const one of missingIn(await way(api, { operation, request, token }))) asked.add(one);
    expect(asked.size).toBeGreaterThan(before);
  }
  expect([...asked].sort()).toEqual(capabilities);
  for (const scope of scopes) {
    const others = [...scopes.filter((one) => one !== scope), sales];
    const token = await api.token(identity, { subject, cap: capabilities, scopes: others });
    expect(missingIn(await way(api, { operation, request, token }))).not.toEqual([]);
  }
  expect(await way(api, { operation, request, token: await tokens.write(1) })).toMatchObject({ code: "OK" });
  return { capabilities, scopes };
};

test.each([...METHODS.keys()] as OperationName[])(
  "the token for %s has what the service asks for, where it asks",
  async (operation) => {
    const request = await operationCases[operation].request(fixture);
    const { scopes } = await expectNeeded(operation, request);
    const top = operation === "CreateExternalGroupRoleMapping" ? organization : eng;
    for (const uid of scopes) expect(isAncestorOrSelf(top, uid)).toBe(true);
  },
);

const robot = () => createUid(api, "identities", platform, { name: "robot" });

test("the token for other claims of an identity has what that is granted", async () => {
  const uid = await robot();
  await createRecord(api, "roleBindings", eng, { identityUid: uid, roleUid: fixture.role });
  const identity = { uid, claimMatch: { subject: "other" } };
  const own = await expectNeeded("UpdateIdentity", { identity, updateMask: "claimMatch.subject" });
  expect(own).toEqual({ capabilities: ["groups.list", "identity.update"], scopes: [eng] });
  const renamed = { identity: { uid, name: "renamed" }, updateMask: "name" };
  expect((await expectNeeded("UpdateIdentity", renamed)).capabilities).toEqual(["identity.update"]);
});

test("the token for a change of a provider has what its groups are granted", async () => {
  const identityProvider = { uid: fixture.provider, name: "sso-2" };
  const { scopes } = await expectNeeded("UpdateIdentityProvider", { identityProvider, updateMask: "name" });
  expect(scopes).toEqual([organization]);
});

test("the token for a binding that moves to another identity has what its role grants", async () => {
  const link = { identityUid: await robot(), roleUid: fixture.role };
  const uid = await createUid(api, "roleBindings", eng, link);
  const roleBinding = { uid, identityUid: await robot() };
  const own = await expectNeeded("UpdateRoleBinding", { roleBinding, updateMask: "identityUid" });
  expect(own.capabilities).toEqual(["groups.list", "role_bindings.update"]);
});

test("the token for a binding of another organization's identity may see that", async () => {
  const other = await createRecord(api, "groups", "", { name: "other" });
  const identityUid = await createUid(api, "identities", other.uid, { name: "theirs" });
  const roleBinding = { identityUid, roleUid: fixture.role };
  const own = await expectNeeded("CreateRoleBinding", { parent: eng, roleBinding });
  expect(own.scopes).toEqual([eng, other.uid].sort());
});

test("the token for reads may read everything, and do nothing else", async () => {
  const token = await (await tokensOf([])).read();
  expect((await api.ok("GET", `${IAM}/groups`, { token })).totalCount).not.toBe("0");
  expect((await api.call("POST", `${IAM}/groups/${eng}`, { token, body: { name: "no" } })).status).toBe(403);
  expect(READING).toEqual(expect.arrayContaining(["groups.list", "role_bindings.list", "tag.list"]));
  expect(READING.filter((one) => !one.endsWith(".list"))).toEqual([]);
});

test("the token for writes of a class is valid in their topmost groups, or above what is new", async () => {
  const repo = (parent: Write["parent"]) => ({ method: "CreateRepo", parent, fields: { name: "r" } });
  const tokens = await tokensOf([
    { method: "CreateGroup", parent: platform, fields: { name: "made" } },
    { method: "CreateGroup", parent: { $uid: 1 }, fields: { name: "below" } },
    ...[repo({ $uid: 2 }), repo(sales), repo(eng), repo(platform)],
    { method: "CreateTag", parent: { $uid: 3 }, fields: { name: "t", digest: "sha256:" } },
  ]);
  expect(tokens).toMatchObject({
    reasons: [],
    classes: [
      { capabilities: ["groups.create"], scopes: [platform] },
      { capabilities: ["repo.create"], scopes: [eng, sales].sort() },
      { capabilities: ["tag.create"], scopes: [platform] },
    ],
  });
  expect(await tokens.write(3)).toBe(await tokens.write(5));
  expect(await tokens.write(1)).not.toBe(await tokens.write(5));
});

test("what a role grants counts as the change has it, before and after", async () => {
  const { classes, reasons } = await tokensOf([
    { method: "CreateRole", parent: eng, fields: { name: "made", capabilities: ["CAP_TAG_LIST"] } },
    binding({ $uid: 1 }),
    binding(fixture.role),
    { method: "UpdateRole", uid: fixture.role, fields: { capabilities: ["CAP_REPO_LIST"] }, mask: ["capabilities"] },
    { method: "UpdateRoleBinding", uid: fixture.binding, fields: { roleUid: { $uid: 1 } }, mask: ["roleUid"] },
  ]);
  expect(reasons).toEqual([]);
  expect(classes).toEqual(
    [
      ["roles.create", "tag.list"],
      ["role_bindings.create", "tag.list"],
      ["groups.list", "repo.list", "role_bindings.create"],
      ["groups.list", "repo.list", "roles.update"],
      ["role_bindings.update", "tag.list"],
    ].map((capabilities) => ({ capabilities, scopes: [eng] })),
  );
});

test("no token is narrowed for a new organization, and one is for what is in it", async () => {
  const tokens = await tokensOf([
    { method: "CreateGroup", fields: { name: "founded" } },
    { method: "CreateRepo", parent: { $uid: 1 }, fields: { name: "r" } },
  ]);
  expect(tokens).toMatchObject({
    reasons: ["write 1 makes an organization, which no narrowed token may do"],
    classes: [],
  });
  await expect(tokens.write(2)).rejects.toThrow("write 1 has made no organization yet");
  const { uid } = await createRecord(api, "groups", "", { name: "founded" }, await tokens.write(1));
  made.set(1, uid);
  const token = await tokens.write(2);
  await createRecord(api, "repos", uid, { name: "r" }, token);
  expect((await api.call("POST", `${REGISTRY}/repos/${eng}`, { token, body: { name: "r" } })).status).toBe(403);
  expect(tokens.classes).toEqual([{ capabilities: ["repo.create"], scopes: [uid] }]);
});

test("no token is narrowed from an API token", async () => {
  const { token } = api.owner;
  const tokens = await tokensOf([remove(eng)], clientOf({ IRM_TOKEN: token }));
  expect([await tokens.read(), await tokens.write(1), await tokens.write(1, token)]).toEqual([token, token, token]);
  expect(tokens).toMatchObject({
    classes: [],
    reasons: ["IRM_TOKEN is an API token, and only the workload's own token can be exchanged for narrower ones"],
  });
});

test("no token is narrowed for more groups than a token can name: the organization is its scope", async () => {
  const below = (i: number, levels: number) => eng + `/${i.toString(16).padStart(16, "0")}`.repeat(levels);
  const deletes = (count: number, levels = 1) => Array.from({ length: count }, (_, i) => remove(below(i, levels)));
  expect((await tokensOf(deletes(50, 3))).classes[0]?.scopes).toHaveLength(50);
  // As a token it would be too long for the header of a request.
  expect((await tokensOf(deletes(50, 6))).classes[0]?.scopes).toEqual([organization]);
  const many =
    "the writes that need groups.delete are in 51 groups, more than a token can name: their token is valid in their whole organization";
  const classes = [{ capabilities: ["groups.delete"], scopes: [organization] }];
  expect(await tokensOf(deletes(51))).toMatchObject({ classes, reasons: [many] });
});

test("no token is narrowed where it is not known what a role grants: the usual one counts", async () => {
  const copy = await readCopy(owner, api.baseUrl);
  const roles = copy.records.roles?.filter(({ uid }) => uid !== fixture.role) ?? [];
  const withoutRole = { ...copy, records: { ...copy.records, roles } };
  const tokens = await tokensOf([binding(fixture.role)], owner, withoutRole);
  const reasons = ["write 1 gives a role, and it is not known what that grants"];
  expect(tokens).toMatchObject({ classes: [], reasons });
  expect(await tokens.write(1)).toBe(await owner.credentials.token());
});

test("no token is narrowed where not all is visible that an identity is granted", async () => {
  const { copy, ...records } = await readCopy(owner, api.baseUrl);
  const notVisible = [{ kind: "roleBinding" as const, group: sales, message: "" }];
  const fields = { claimMatch: { subject: "other" } };
  const write = { method: "UpdateIdentity", uid: fixture.identity, fields, mask: ["claimMatch.subject"] };
  expect(await tokensOf([write], owner, { ...records, copy: { ...copy, notVisible } })).toMatchObject({
    reasons: ["write 1 changes who an identity is, and not all that it is granted is visible"],
  });
});

test("what the caller does not hold, its token has not, and the service says what is missing", async () => {
  const { uid } = await api.actor("modest", { role: "viewer" });
  const tokens = await tokensOf([remove(eng)], await clientFor("modest", uid));
  expect(tokens.reasons).toEqual([]);
  const answer = await api.call("DELETE", `${IAM}/groups/${eng}`, { token: await tokens.write(1) });
  expect(answer.json.message).toBe(`Permission denied: needs groups.delete at ${eng}`);
});

test("tokens of groups that exist are there from the start: a workload's own may expire before their first write", async () => {
  const client = await clientFor("owner", api.identity, 300);
  const copy = await readCopy(owner, api.baseUrl);
  const tokens = await tokensOf([remove(eng)], client, copy);
  api.clock.advance(10 * 60_000);
  await expect(client.credentials.token()).rejects.toThrow("expired");
  expect(await tokens.write(1)).not.toBe(await tokens.read());
});

test("a token is renewed in time, and when the service has refused it", async () => {
  const tokens = await tokensOf([remove(eng)]);
  const first = await tokens.write(1);
  expect(await tokens.write(1)).toBe(first);
  const second = await tokens.write(1, first);
  expect(second).not.toBe(first);
  expect(await tokens.write(1, first)).toBe(second);
  api.clock.advance(56 * 60_000);
  expect([await tokens.write(1), await tokens.read()]).not.toContain(second);
});
