// The rules of roles (docs/contract.md#roles, docs/contract.md#built-in-roles), and of invites, which grant one: the code is
// shown once and stored as a hash (docs/contract.md#group-invites).
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { capabilityName, capabilities as everyCapability } from "../../../schema/index.ts";
import { IAM, serve } from "../../harness/api-server.ts";
import { createRecord, createUid } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectRefusal, preconditionFailure } from "../../support/refusal.ts";

const api = await serve();
const { roles } = await api.ok("GET", `${IAM}/roles`, { query: { "uidp.in_root": true, page_size: 200 } });
const builtIn: Map<string, Body> = new Map(roles.map((role: Body) => [role.name, role]));

describe("the built-in roles", () => {
  // The counts of the published bundles (docs/contract.md#built-in-roles), which do not come from the table.
  test("grant as many capabilities as is published", () => {
    const counts = [...builtIn].map(([name, role]) => `${name} ${new Set(role.capabilities).size}`);
    expect(counts.toSorted()).toEqual(
      [
        ...["owner 138", "editor 62", "limited_owner 53", "viewer 51", "console_viewer 45", "guardener.admin 18"],
        ...["guardener.user 16", "registry.push 20", "registry.editor 15", "registry.pull_token_creator 15"],
        ...["registry.pull 10", "libraries.java.pull_token_creator 6", "libraries.python.pull_token_creator 6"],
        ...["libraries.javascript.pull_token_creator 6", "libraries.java.pull 2", "libraries.python.pull 2"],
        ...["libraries.javascript.pull 2", "apk.pull 3", "advisories.viewer 1", "actions.viewer 1"],
      ].toSorted(),
    );
  });

  test("limited_owner is viewer, and creates identities and role bindings", () => {
    const viewer = (builtIn.get("viewer") as Body).capabilities;
    const added = (builtIn.get("limited_owner") as Body).capabilities.filter((name: string) => !viewer.includes(name));
    expect(added.map(capabilityName).toSorted()).toEqual(["identity.create", "role_bindings.create"]);
  });

  test("are marked as built-in in the description, live at the root, and hold nothing internal", () => {
    const internal = new Set(everyCapability.filter((own) => own.internalOnly).map((own) => own.enum));
    for (const role of builtIn.values()) {
      expect(role.uid).toMatch(/^[0-9a-f]{40}$/);
      expect(role.description).toMatch(/built-in/i);
      expect(role.capabilities.filter((name: string) => internal.has(name) || name === "CAP_INTERNAL")).toEqual([]);
    }
  });

  test("have the uids of every other start: the published one for viewer", async () => {
    const other = await serve();
    for (const [name, role] of builtIn) expect(await other.role(name)).toBe(role.uid);
    await other.close();
    expect(builtIn.get("viewer")?.uid).toBe("63921b2c44617e3f2603851537be0123af4a57d7");
  });
});

const oidc = { issuer: "https://idp.example", clientId: "c", pkceEnabled: true };
const provider = (defaultRole: string) => createUid(api, "identityProviders", api.organization, { defaultRole, oidc });

const bound = async (roleUid: string) => {
  const group = await createUid(api, "groups", api.organization);
  const { uid: identityUid } = await api.actor("bound");
  return `roleBindings/${await createUid(api, "roleBindings", group, { identityUid, roleUid })}`;
};
const mapped = async (roleUid: string) => {
  const fields = { externalGroupId: "sre", roleUid, scope: api.organization };
  const parent = await provider(await api.role("viewer"));
  return `externalGroupRoleMappings/${await createUid(api, "externalGroupRoleMappings", parent, fields)}`;
};
const byDefault = async (role: string) => `identityProviders/${await provider(role)}`;
test.each<[what: string, text: string, hold: (roleUid: string) => Promise<string>]>([
  ["it is bound anywhere", "cannot delete role that is bound", bound],
  ["a provider grants it", "cannot delete role that is the default of an identity provider", byDefault],
  ["an external group is mapped to it", "cannot delete role that an external group is mapped to", mapped],
])("a role cannot be deleted while: %s", async (_, text, hold) => {
  const uid = await createUid(api, "roles", api.organization);
  const holder = await hold(uid);
  expectRefusal(await api.call("DELETE", `${IAM}/roles/${uid}`), "FAILED_PRECONDITION", text, {
    details: [preconditionFailure("RESOURCE_IN_USE", text)],
  });
  await api.ok("DELETE", `${IAM}/${holder}`);
  expect((await api.call("DELETE", `${IAM}/roles/${uid}`)).status).toBe(200);
});

describe("an invite", async () => {
  const PATH = `${IAM}/groupInvites`;
  const create = async (fields: Body = {}) =>
    createRecord(api, "groupInvites", api.organization, { roleUid: await api.role("viewer"), ...fields });

  test("has a new code each time, and the begin of its hash as the id of its key, by which it is listed", async () => {
    const [{ code, ...shown }, other] = [await create(), await create()];
    expect(code).toMatch(/^cginvite_[0-9a-f]{64}$/);
    expect(other.code).not.toBe(code);
    expect(shown.keyId).toBe(createHash("sha256").update(code).digest("hex").slice(0, 16));
    expect((await api.ok("GET", PATH, { query: { keyId: shown.keyId } })).groupInvites).toEqual([shown]);
  });

  test("may be valid for ten years", async () => {
    expect((await create({ ttl: "315360000s" })).expirationTime).toBe("2036-01-26T12:54:21.189Z");
  });

  test("shows no role once that was deleted, which an invite does not prevent", async () => {
    const roleUid = await createUid(api, "roles", api.organization);
    const { uid, code, role, ...rest } = await create({ roleUid });
    expect(role.name).toBe("r");
    await api.ok("DELETE", `${IAM}/roles/${roleUid}`);
    expect(await api.ok("GET", `${PATH}/${uid}`)).toEqual({ uid, ...rest });
    expect(rest.roleUid).toBe(roleUid);
  });

  test("has its code only in the response of the create, and in no log line", async () => {
    const { uid, code } = await create({ email: "x@acme.example" });
    const answers = [
      await api.call("GET", `${PATH}/${uid}`),
      await api.call("GET", PATH, { query: { page_size: 200 } }),
      await api.call("DELETE", `${PATH}/${uid}`),
    ];
    for (const { text } of answers) expect(text).not.toContain(code);
    expect(api.log.join("\n")).not.toContain(code);
  });
});
