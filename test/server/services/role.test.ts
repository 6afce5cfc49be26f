// The rules of roles (docs/contract.md#roles, docs/contract.md#built-in-roles).

import { describe, expect, test } from "vitest";
import { capabilityName, capabilities as everyCapability } from "../../../schema/index.ts";
import { IAM, serve } from "../../harness/api-server.ts";
import { createUid } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectInvalid, expectRefusal, preconditionFailure } from "../../support/refusal.ts";

const api = await serve();
const { roles } = await api.ok("GET", `${IAM}/roles`, { query: { "uidp.in_root": true, page_size: 200 } });
const builtIn: Map<string, Body> = new Map(roles.map((role: Body) => [role.name, role]));

const create = (body: Body, token?: string) =>
  api.call("POST", `${IAM}/roles/${api.organization}`, { body: { name: "r", ...body }, ...(token && { token }) });

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

describe("a custom role", () => {
  test("has each capability once, in the given order", async () => {
    const { json } = await create({ capabilities: ["CAP_REPO_LIST", "CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST"] });
    expect(json.capabilities).toEqual(["CAP_REPO_LIST", "CAP_IAM_GROUPS_LIST"]);
    expect(json.uid.startsWith(`${api.organization}/`)).toBe(true);
  });

  test("that contains a capability that is internal-only must contain internal", async () => {
    const answer = await create({ capabilities: ["CAP_REX_CLASS_USE", "CAP_CASSIE_CAS_READ", "CAP_REPO_LIST"] });
    expectInvalid(answer, { capabilities: "must contain internal, since it contains rex.class.use, cassie.cas.read" });
  });
});

const oidc = { issuer: "https://idp.example", clientId: "c", pkceEnabled: true };
const provider = (defaultRole: string) => createUid(api, "identityProviders", api.organization, { defaultRole, oidc });

test.each<[what: string, text: string, hold: (roleUid: string) => Promise<string>]>([
  [
    "it is bound anywhere",
    "cannot delete role that is bound",
    async (roleUid) => {
      const group = await createUid(api, "groups", api.organization);
      const { uid: identityUid } = await api.actor("bound");
      return `roleBindings/${await createUid(api, "roleBindings", group, { identityUid, roleUid })}`;
    },
  ],
  [
    "an identity provider grants it",
    "cannot delete role that is the default of an identity provider",
    async (role) => `identityProviders/${await provider(role)}`,
  ],
  [
    "an external group is mapped to it",
    "cannot delete role that an external group is mapped to",
    async (roleUid) => {
      const parent = await provider(await api.role("viewer"));
      const fields = { externalGroupId: "sre", roleUid, scope: api.organization };
      return `externalGroupRoleMappings/${await createUid(api, "externalGroupRoleMappings", parent, fields)}`;
    },
  ],
])("a role cannot be deleted while: %s", async (_, text, hold) => {
  const uid = await createUid(api, "roles", api.organization);
  const holder = await hold(uid);
  expectRefusal(await api.call("DELETE", `${IAM}/roles/${uid}`), "FAILED_PRECONDITION", text, {
    details: [preconditionFailure("RESOURCE_IN_USE", text)],
  });
  await api.ok("DELETE", `${IAM}/${holder}`);
  expect((await api.call("DELETE", `${IAM}/roles/${uid}`)).status).toBe(200);
});
