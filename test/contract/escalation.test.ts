// Creating or changing a role binding or a role needs, besides its own capability, every capability that the bound role
// grants, at that group (docs/internals/contract.md#d21); narrowed.test.ts has each method. The switch --without-anti-escalation:
// what the published contract does not exclude.
import { describe, expect, test } from "vitest";
import { createServer } from "../../server/index.ts";
import { IAM, serve } from "../harness/api-server.ts";
import { createRecord, createUid, recordOf } from "../harness/records.ts";
import type { Body } from "../support/http.ts";
import { expectDenied } from "../support/refusal.ts";

const role = (parent: string, name: string, ...capabilities: string[]): Promise<string> =>
  createUid(api, "roles", parent, { name, capabilities });

const BINDER = ["CREATE", "UPDATE", "LIST", "DELETE"].map((verb) => `CAP_IAM_ROLES_${verb}`);

const api = await serve();
const group: string = await createUid(api, "groups", api.organization, { name: "g" });
const uid = await role(api.organization, "binder", ...BINDER, "CAP_IAM_GROUPS_LIST");
/** may make roles, and holds groups.list besides */
const binder = await api.actor("binder", { role: uid, at: group });
/** grants groups.list, which the binder holds */
const narrow: string = await role(group, "narrow", "CAP_IAM_GROUPS_LIST");
/** grants groups.delete and groups.list */
const wide: string = await role(group, "wide", "CAP_IAM_GROUPS_DELETE", "CAP_IAM_GROUPS_LIST");

test("a role that holds more cannot be changed, not even its name", async () => {
  const answer = await api.call("PATCH", `${IAM}/roles/${wide}`, { token: binder.token, body: { name: "mine" } });
  expectDenied(answer, "groups.delete", group);
  expect((await api.ok("GET", `${IAM}/roles/${wide}`)).name).toBe("wide");
});

test("a role that is built in cannot be changed or deleted", async () => {
  const uid = await api.role("viewer");
  for (const token of [binder.token, api.owner.token]) {
    const options = { token, body: { name: "mine" } };
    expectDenied(await api.call("PATCH", `${IAM}/roles/${uid}`, options), "roles.update", uid);
    expectDenied(await api.call("DELETE", `${IAM}/roles/${uid}`, { token }), "roles.delete", uid);
  }
  expect((await api.ok("GET", `${IAM}/roles/${uid}`)).name).toBe("viewer");
});

describe("an identity", async () => {
  const OPEN = { subject: "clerk" };
  const uid = await role(api.organization, "clerk", "CAP_IAM_IDENTITY_UPDATE", "CAP_IAM_GROUPS_LIST");
  const clerk = await api.actor("clerk", { role: uid });

  const bindRoles = async (...roles: [uid: string, at: string][]): Promise<string> => {
    const claimMatch = { issuer: api.issuer, subject: "robot" };
    const body = { name: "robot", claimMatch };
    const { uid } = await createRecord(api, "identities", group, body);
    for (const [roleUid, at] of roles) await createRecord(api, "roleBindings", at, { identityUid: uid, roleUid });
    return uid;
  };
  const asClerk = (uid: string, body: Body) =>
    api.call("PATCH", `${IAM}/identities/${uid}`, { token: clerk.token, body });
  const subjectOf = async (uid: string) => (await api.ok("GET", `${IAM}/identities/${uid}`)).claimMatch.subject;

  test("that is granted more cannot be opened to another workload, and the error names what is missing", async () => {
    const uid = await bindRoles([narrow, group], [wide, group]);
    expectDenied(await asClerk(uid, { claimMatch: OPEN }), "groups.delete", group);
    expectDenied(await asClerk(uid, { servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" }), "groups.delete", group);
    expect(await subjectOf(uid)).toBe("robot");
  });

  test("that is granted more can still be renamed, and its claims restated", async () => {
    const uid = await bindRoles([wide, group]);
    const body = { name: "renamed", claimMatch: { issuer: api.issuer, subject: "robot" } };
    expect(await recordOf(asClerk(uid, body))).toMatchObject(body);
  });

  test("that another organization trusts is managed by its own organization", async () => {
    const uid = await bindRoles();
    const other = await createRecord(api, "groups", "", { name: "other" });
    const owner = { identityUid: uid, roleUid: await api.role("owner") };
    await createRecord(api, "roleBindings", other.uid, owner);
    expect((await asClerk(uid, { claimMatch: OPEN })).status).toBe(200);
  });
});

const GRANTING = [
  ...["ROLE_BINDINGS_CREATE", "ROLE_BINDINGS_UPDATE", "ROLES_CREATE", "ROLES_UPDATE", "GROUP_INVITES_CREATE"],
  ...["IDENTITY_UPDATE", "IDENTITY_PROVIDERS_CREATE", "IDENTITY_PROVIDERS_UPDATE"],
];

describe("with --without-anti-escalation a caller may grant what it does not hold:", async () => {
  const api = await serve({ withoutAntiEscalation: true });
  const { organization } = api;
  const wide = await createUid(api, "roles", organization, { name: "wide", capabilities: ["CAP_IAM_GROUPS_DELETE"] });
  const group = await createUid(api, "groups", organization, { name: "g" });
  const capabilities = GRANTING.map((name) => `CAP_IAM_${name}`);
  const clerkRole = await createUid(api, "roles", organization, { name: "clerk", capabilities });
  /** It may give access at a group, and holds nothing else there. */
  const clerk = await api.actor("clerk", { role: clerkRole, at: group });
  const boss = await api.actor("boss", { role: wide, at: group, in: group });
  const role = await createUid(api, "roles", group, { name: "small", capabilities: ["CAP_IAM_GROUPS_LIST"] });
  const binding = await createUid(api, "roleBindings", group, { identityUid: clerk.uid, roleUid: role });
  const oidc = { issuer: "https://login.example", clientId: "c", pkceEnabled: true };
  const provider = await createUid(api, "identityProviders", group, { name: "p", defaultRole: wide, oidc });
  const send = (method: string, path: string, body: Body) => api.call(method, IAM + path, { token: clerk.token, body });

  test.each<[string, method: string, path: string, body: Body]>([
    ["a role binding", "POST", `/roleBindings/${group}`, { identityUid: clerk.uid, roleUid: wide }],
    ["a change of a role binding", "PATCH", `/roleBindings/${binding}`, { roleUid: wide }],
    ["a role", "POST", `/roles/${group}`, { name: "r", capabilities: ["CAP_IAM_GROUPS_DELETE"] }],
    ["a change of a role", "PATCH", `/roles/${role}`, { capabilities: ["CAP_IAM_GROUPS_DELETE"] }],
    ["an invite", "POST", `/groupInvites/${group}`, { roleUid: wide, ttl: "60s" }],
    ["an identity provider", "PATCH", `/identityProviders/${provider}`, { name: "q" }],
    ["an identity that holds more", "PATCH", `/identities/${boss.uid}`, { claimMatch: { subject: "clerk" } }],
  ])("%s", async (_, method, path, body) => {
    await recordOf(send(method, path, body));
  });

  test("but not a mapping of an external group, where the contract says so itself", async () => {
    const body = { externalGroupId: "sre", roleUid: wide, scope: organization };
    const answer = await send("POST", `/externalGroupRoleMappings/${provider}`, body);
    expectDenied(answer, "role_bindings.create, groups.delete", organization);
  });
});

test("a server that is not for development refuses --without-anti-escalation", async () => {
  await expect(createServer({ withoutAntiEscalation: true })).rejects.toThrow(
    "--without-anti-escalation lets callers grant what they do not hold, so it is for trials with --dev only; add --dev, or leave it out",
  );
});
