// The access graph of a live organization, as its owner and as a caller who sees a part of it.
import { expect, test } from "vitest";
import { accessIn } from "../../../access/graph/effective-access.ts";
import { pathOf } from "../../../access/graph/graph.ts";
import { readLive, visibilityIn } from "../../../access/graph/live.ts";
import { peopleGraph } from "../../../access/graph/people.ts";
import { systemTransport } from "../../../client/transport.ts";
import { IAM } from "../../harness/api-server.ts";
import { createRecord, createUid } from "../../harness/records.ts";
import { startTeam } from "../../harness/team.ts";
import { clientOf } from "../client.ts";

const { api, platform, registry, publisher, reader } = await startTeam();
await api.actor("release", { role: publisher, at: registry });

test("the owner sees every group, identity, role and binding, by one request a list, and one more where a list shows nothing of the organization", async () => {
  const { graph, notVisible } = await readLive(clientOf(api));
  expect(notVisible).toEqual([]);
  expect(pathOf(graph, registry)).toBe("platform/registry");
  expect(pathOf(graph, api.organization)).toBe("/");
  const release = [...graph.identities.values()].find(({ name }) => name === "release");
  expect(release?.relationship).toEqual({ claimMatch: { issuer: api.issuer, subject: "release" } });
  const grants = accessIn(graph).topmostOf(release?.id ?? "");
  expect(grants.map(({ group, capability, role }) => [group, capability, role])).toEqual([
    [registry, "repo.list", publisher],
    [registry, "tag.create", publisher],
  ]);
  const paths: string[] = [];
  await readLive(clientOf(api, api.owner.token, paths));
  const absent = `/${api.organization}/${"0".repeat(16)}`;
  const lists = ["externalGroupRoleMappings", "groupInvites", "groups", "identities", "identityProviders"];
  lists.push("roleBindings", "roles");
  const checked = ["groupInvites", "identityProviders", "roles"].map((kind) => kind + absent);
  expect(paths.sort()).toEqual([...lists, ...checked].map((path) => `GET ${IAM}/${path}`).sort());
});

test("a caller who sees one group learns what is not visible above it", async () => {
  const { graph, notVisible } = await readLive(clientOf(api, reader.token));
  const kinds = ["group", "identity", "role", "roleBinding", "identityProvider", "groupInvite"];
  expect(notVisible.map(({ kind, group }) => [kind, group])).toEqual(
    kinds.flatMap((kind) => [api.organization, platform].map((group) => [kind, group])),
  );
  // The bindings of the group name their roles and identities.
  const names = [...graph.bindings.values()].map(({ role }) => graph.roles.get(role)?.name);
  expect(names.sort()).toEqual(["publisher", "viewer"]);
  expect(graph.roles.get(publisher)?.capabilities).toEqual([]);
});

test("identity providers, their external groups and invites give roles to people", async () => {
  const viewer = await api.role("viewer");
  const oidc = { issuer: "https://acme.okta.example", clientId: "irm", clientSecret: "s", groupsClaim: "groups" };
  const sso = await createUid(api, "identityProviders", api.organization, { name: "sso", defaultRole: viewer, oidc });
  const mapping = { externalGroupId: "Platform-SRE", roleUid: await api.role("owner"), scope: api.organization };
  await createUid(api, "externalGroupRoleMappings", sso, mapping);
  const fields = { roleUid: publisher, ttl: "3600s", email: "a@b.example" };
  const open = await createRecord(api, "groupInvites", registry, fields);
  const ended = await createRecord(api, "groupInvites", registry, { roleUid: viewer, ttl: "1s" });
  api.clock.advance(2000);
  const { graph, notVisible } = await readLive(clientOf(api));
  expect(notVisible).toEqual([]);
  const { clientSecret: _, ...signIn } = oidc;
  expect(graph.providers.get(sso)).toMatchObject({ name: "sso", group: api.organization, signIn, defaultRole: viewer });
  const people = peopleGraph(graph, api.clock.today());
  const role = (id: string) => graph.roles.get(id)?.name;
  const shown = [...people.bindings.values()].map((one) => [
    people.identities.get(one.identity)?.name,
    role(one.role),
    pathOf(graph, one.group),
  ]);
  expect(shown.sort()).toEqual([
    ["external group Platform-SRE of sso", "owner", "/"],
    [`invite ${open.keyId}`, "publisher", "platform/registry"],
    ["people of sso", "viewer", "/"],
  ]);
  expect(graph.invites.has(ended.uid)).toBe(true);
});

const wire = systemTransport();
const refusing = (kinds: string[], status: number) =>
  clientOf(api, api.owner.token, [], (request) =>
    kinds.some((kind) => request.url.pathname.startsWith(`${IAM}/${kind}`))
      ? Promise.resolve({ status, headers: { "content-type": "text/plain" }, body: "no" })
      : wire(request),
  );

test.each([
  [403, "PERMISSION_DENIED"],
  [501, "UNIMPLEMENTED"],
  [404, "HTTP 404"],
])("a service that refuses lists with %i shows the rest, and names them", async (status, code) => {
  const kinds = ["identityProviders", "groupInvites", "externalGroupRoleMappings"];
  const { graph, notVisible } = await readLive(refusing(kinds, status));
  expect(notVisible.map(({ kind, group }) => [kind, group])).toEqual([
    ["identityProvider", ""],
    ["groupInvite", ""],
    ["externalGroupRoleMapping", ""],
  ]);
  expect(notVisible[1]?.message).toContain("the list of group invites cannot be read");
  expect(notVisible[1]?.message).toContain(code);
  expect(graph.groups.size).toBe(3);
  expect(graph.bindings.size).toBeGreaterThan(1);
});

test("with 403 for roles each is not visible; with 403 for all, or 404 for groups, there is no graph", async () => {
  const { graph, notVisible } = await readLive(refusing(["roles"], 403));
  expect(notVisible).toMatchObject([{ kind: "role", group: "" }]);
  expect(visibilityIn(graph, notVisible)("role", api.organization)).toBe(false);
  expect(graph.bindings.size).toBeGreaterThan(1);
  await expect(readLive(refusing([""], 403))).rejects.toThrow("PERMISSION_DENIED");
  await expect(readLive(refusing(["groups"], 404))).rejects.toThrow("no");
});

type Page = Record<string, unknown>;
const lying = (change: (roleBindings: Page[]) => Page) =>
  clientOf(api, api.owner.token, [], async (request) => {
    const answer = await wire(request);
    if (!request.url.pathname.endsWith("/roleBindings")) return answer;
    return { ...answer, body: JSON.stringify(change(JSON.parse(answer.body).roleBindings)) };
  });
const first = (change: Page) => (records: Page[]) => ({ roleBindings: [{ ...records[0], ...change }] });
const root = "f".repeat(40);
const noLevel = `the service lists the role binding ${root}, at a level where there is no role binding.`;

test.each<[what: string, lieOf: (roleBindings: Page[]) => Page, problem: string]>([
  ["with an empty uid", first({ uid: "" }), "the service lists a record without a uid."],
  ["with a wrong uid", first({ uid: "../\u001b[2J" }), 'a record with the uid "../\\u001b[2J", which is none.'],
  ["at the root", first({ uid: root }), noLevel],
  ["without an identity", first({ identity: undefined }), "whose identity is missing."],
  ["of a role that is no record", first({ role: { uid: "x", name: "viewer" } }), 'whose role is not a uid: "x".'],
])("a role binding %s is an error of the service", async (_, lieOf, problem) => {
  await expect(readLive(lying(lieOf))).rejects.toThrow(problem);
});

test("a record that is listed twice counts once", async () => {
  const twice = await readLive(lying((all) => ({ roleBindings: [...all, ...all] })));
  expect(twice.graph.bindings.size).toBe((await readLive(clientOf(api))).graph.bindings.size);
});
