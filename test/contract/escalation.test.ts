// Creating or changing a role binding or a role needs, besides its own capability, every capability that the bound role grants,
// at that group (docs/contract.md#d21).
import { beforeAll, describe, expect, test } from "vitest";
import { type Actor, IAM, serve } from "../harness/api-server.ts";
import { createRecord, createUid, recordOf } from "../harness/records.ts";
import type { Body } from "../support/http.ts";
import { expectDenied, expectInvalid } from "../support/refusal.ts";

const role = (parent: string, name: string, ...capabilities: string[]): Promise<string> =>
  createUid(api, "roles", parent, { name, capabilities });

const BINDER = ["CREATE", "UPDATE", "LIST", "DELETE"].flatMap((verb) => [
  `CAP_IAM_ROLE_BINDINGS_${verb}`,
  `CAP_IAM_ROLES_${verb}`,
]);

const asBinder = (method: string, path: string, body?: Body, query = {}) =>
  api.call(method, `${IAM}${path}`, { token: binder.token, body, query });
const count = async (kind: string, plural: string) =>
  (await api.ok("GET", `${IAM}/${kind}`, { query: { "uidp.descendantsOf": api.organization } }))[plural]
    .length as number;

const api = await serve();
const group: string = await createUid(api, "groups", api.organization, { name: "g" });
const uid = await role(api.organization, "binder", ...BINDER, "CAP_IAM_GROUPS_LIST");
/** may bind and make roles, and holds groups.list besides */
const binder: Actor = await api.actor("binder", { role: uid, at: group });
/** grants groups.list, which the binder holds */
const narrow: string = await role(group, "narrow", "CAP_IAM_GROUPS_LIST");
/** grants groups.delete and groups.list */
const wide: string = await role(group, "wide", "CAP_IAM_GROUPS_DELETE", "CAP_IAM_GROUPS_LIST");
const subject: string = (await api.actor("subject")).uid;

test("a role binding for a role that holds more cannot move to another identity", async () => {
  const link = { identityUid: subject, roleUid: wide };
  const { uid } = await createRecord(api, "roleBindings", group, link);
  expectDenied(await asBinder("PATCH", `/roleBindings/${uid}`, { identityUid: binder.uid }), "groups.delete", group);
  expect((await api.ok("GET", `${IAM}/roleBindings/${uid}`)).identity.uid).toBe(subject);
});

test("a batch of role bindings is refused as a whole when one of its roles holds more", async () => {
  const before = await count("roleBindings", "roleBindings");
  const requests = [narrow, wide, narrow].map((roleUid) => ({ roleBinding: { identityUid: subject, roleUid } }));
  expectDenied(
    await asBinder("POST", "/roleBindings:batchCreate", { parent: group, requests }),
    "groups.delete",
    group,
  );
  expect(await count("roleBindings", "roleBindings")).toBe(before);
});

test("a role that holds more cannot be changed, not even its name", async () => {
  expectDenied(await asBinder("PATCH", `/roles/${wide}`, { name: "mine" }), "groups.delete", group);
  expectDenied(
    await asBinder("PATCH", `/roles/${wide}`, { capabilities: ["CAP_IAM_GROUPS_LIST"] }),
    "groups.delete",
    group,
  );
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

test("a role of a group beside or below cannot be bound: its editors would change what is granted here", async () => {
  const below = await createUid(api, "groups", group, { name: "below" });
  const lower = await role(below, "lower", "CAP_IAM_GROUPS_LIST");
  const answer = await asBinder("POST", `/roleBindings/${group}`, { identityUid: subject, roleUid: lower });
  expectInvalid(answer, { roleUid: `role ${lower} does not exist at ${group} or above` });
  const upper = await asBinder("POST", `/roleBindings/${below}`, { identityUid: subject, roleUid: narrow });
  expect(upper.status, upper.text).toBe(200);
});

describe("an identity", () => {
  let clerk: Actor;
  const OPEN = { subject: "clerk" };
  beforeAll(async () => {
    const uid = await role(api.organization, "clerk", "CAP_IAM_IDENTITY_UPDATE", "CAP_IAM_GROUPS_LIST");
    clerk = await api.actor("clerk", { role: uid });
  });

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
