// The switch --without-anti-escalation: what the published contract does not exclude (docs/contract.md#d21). Without the switch, the
// same requests are refused.
import { describe, expect, test } from "vitest";
import { createServer } from "../../../server/index.ts";
import { IAM, serve, type TestServer } from "../../harness/api-server.ts";
import { createRecord, createUid, recordOf } from "../../harness/records.ts";
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

interface Place {
  api: TestServer;
  send(method: string, path: string, body: Body): ReturnType<TestServer["call"]>;
  uids: Readonly<Record<"group" | "clerk" | "boss" | "wide" | "role" | "binding" | "provider", string>>;
}

/** A clerk that may give access at a group, and holds nothing else there. */
const startPlace = async (withoutAntiEscalation: boolean): Promise<Place> => {
  const api = await serve({ withoutAntiEscalation });
  const { organization } = api;
  const wide = await createUid(api, "roles", organization, { name: "wide", capabilities: ["CAP_IAM_GROUPS_DELETE"] });
  const group = await createUid(api, "groups", organization, { name: "g" });
  const capabilities = CAPABILITIES.map((name) => `CAP_IAM_${name}`);
  const clerkRole = await createUid(api, "roles", organization, { name: "clerk", capabilities });
  const clerk = await api.actor("clerk", { role: clerkRole, at: group });
  const boss = await api.actor("boss", { role: wide, at: group, in: group });
  const role = await createUid(api, "roles", group, { name: "small", capabilities: ["CAP_IAM_GROUPS_LIST"] });
  const { uid: binding } = await createRecord(api, "roleBindings", group, { identityUid: clerk.uid, roleUid: role });
  const oidc = { issuer: "https://login.example", clientId: "c", pkceEnabled: true };
  const provider = await createUid(api, "identityProviders", group, { name: "p", defaultRole: wide, oidc });
  return {
    api,
    send: (method, path, body) => api.call(method, IAM + path, { token: clerk.token, body }),
    uids: { group, clerk: clerk.uid, boss: boss.uid, wide, role, binding, provider },
  };
};

const [free, strict] = [await startPlace(true), await startPlace(false)];

const AS_CLERK = { claimMatch: { subject: "clerk" } };
const link = ({ clerk, wide }: Place["uids"]) => ({ identityUid: clerk, roleUid: wide });

describe("a caller may grant what it does not hold, with the switch alone", () => {
  test.each<[string, (place: Place) => [method: string, path: string, body: Body]]>([
    ["a role binding", ({ uids }) => ["POST", `/roleBindings/${uids.group}`, link(uids)]],
    ["a change of a role binding", ({ uids }) => ["PATCH", `/roleBindings/${uids.binding}`, { roleUid: uids.wide }]],
    ["a role", ({ uids }) => ["POST", `/roles/${uids.group}`, { name: "r", capabilities: ["CAP_IAM_GROUPS_DELETE"] }]],
    ["a change of a role", ({ uids }) => ["PATCH", `/roles/${uids.role}`, { capabilities: ["CAP_IAM_GROUPS_DELETE"] }]],
    ["an invite", ({ uids }) => ["POST", `/groupInvites/${uids.group}`, { roleUid: uids.wide, ttl: "60s" }]],
    ["an identity provider", ({ uids }) => ["PATCH", `/identityProviders/${uids.provider}`, { name: "q" }]],
    ["who may assume an identity that holds more", ({ uids }) => ["PATCH", `/identities/${uids.boss}`, AS_CLERK]],
  ])("%s", async (_, requestOf) => {
    expectDenied(await strict.send(...requestOf(strict)), "groups.delete", strict.uids.group);
    await recordOf(free.send(...requestOf(free)));
  });

  test("but not a mapping of an external group, where the contract says so itself", async () => {
    for (const { send, api, uids } of [free, strict]) {
      const body = { externalGroupId: "sre", roleUid: uids.wide, scope: api.organization };
      const answer = await send("POST", `/externalGroupRoleMappings/${uids.provider}`, body);
      expectDenied(answer, "role_bindings.create, groups.delete", api.organization);
    }
  });
});

test("a server that is not for development refuses the switch", async () => {
  await expect(createServer({ withoutAntiEscalation: true })).rejects.toThrow(
    "--without-anti-escalation lets callers grant what they do not hold, so it is for trials with --dev only; add --dev, or leave it out",
  );
});
