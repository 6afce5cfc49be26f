// The switch --without-anti-escalation: what the published contract does not exclude (docs/contract.md#d21). Without the switch,
// test/contract/narrowed.test.ts has the same refused.
import { describe, expect, test } from "vitest";
import { createServer } from "../../../server/index.ts";
import { IAM, serve } from "../../harness/api-server.ts";
import { createUid, recordOf } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectDenied } from "../../support/refusal.ts";

const GRANTING = [
  "ROLE_BINDINGS_CREATE",
  "ROLE_BINDINGS_UPDATE",
  "ROLES_CREATE",
  "ROLES_UPDATE",
  "GROUP_INVITES_CREATE",
];
const CAPABILITIES = [...GRANTING, "IDENTITY_UPDATE", "IDENTITY_PROVIDERS_CREATE", "IDENTITY_PROVIDERS_UPDATE"];

const api = await serve({ withoutAntiEscalation: true });
const { organization } = api;
const wide = await createUid(api, "roles", organization, { name: "wide", capabilities: ["CAP_IAM_GROUPS_DELETE"] });
const group = await createUid(api, "groups", organization, { name: "g" });
const capabilities = CAPABILITIES.map((name) => `CAP_IAM_${name}`);
const clerkRole = await createUid(api, "roles", organization, { name: "clerk", capabilities });
/** It may give access at a group, and holds nothing else there. */
const clerk = await api.actor("clerk", { role: clerkRole, at: group });
const boss = await api.actor("boss", { role: wide, at: group, in: group });
const role = await createUid(api, "roles", group, { name: "small", capabilities: ["CAP_IAM_GROUPS_LIST"] });
const binding = await createUid(api, "roleBindings", group, { identityUid: clerk.uid, roleUid: role });
const oidc = { issuer: "https://login.example", clientId: "c", pkceEnabled: true };
const provider = await createUid(api, "identityProviders", group, { name: "p", defaultRole: wide, oidc });
const send = (method: string, path: string, body: Body) => api.call(method, IAM + path, { token: clerk.token, body });

describe("a caller may grant what it does not hold:", () => {
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

test("a server that is not for development refuses the switch", async () => {
  await expect(createServer({ withoutAntiEscalation: true })).rejects.toThrow(
    "--without-anti-escalation lets callers grant what they do not hold, so it is for trials with --dev only; add --dev, or leave it out",
  );
});
