// The rules of roles (docs/internals/contract.md#roles, docs/internals/contract.md#built-in-roles), of role bindings
// (docs/internals/contract.md#role-bindings) and of their batch (AIP-233), and of invites, which grant a role: the code is shown
// once and stored as a hash (docs/internals/contract.md#group-invites).
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { capabilityName, capabilities as everyCapability } from "../../../schema/index.ts";
import { type Actor, IAM, serve } from "../../harness/api-server.ts";
import { createRecord, createUid } from "../../harness/records.ts";
import type { Answer, Body } from "../../support/http.ts";
import {
  expectInvalid,
  expectRefusal,
  NO_UID,
  preconditionFailure,
  resourceInfo,
  type Violations,
} from "../../support/refusal.ts";

const api = await serve();
const { roles } = await api.ok("GET", `${IAM}/roles`, { query: { "uidp.in_root": true, page_size: 200 } });
const builtIn: Map<string, Body> = new Map(roles.map((role: Body) => [role.name, role]));

describe("the built-in roles", () => {
  // The counts of the published bundles (docs/internals/contract.md#built-in-roles), which do not come from the table.
  test("grant as many capabilities as is published", () => {
    expect([...builtIn].map(([name, role]) => `${name} ${new Set(role.capabilities).size}`).toSorted()).toEqual(
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

const BINDINGS = `${IAM}/roleBindings`;
const identity: string = (await api.actor("bound")).uid;
const [viewer, editor] = [await api.role("viewer"), await api.role("editor")];

const create = (body: Body, parent = api.organization) => api.call("POST", `${IAM}/roleBindings/${parent}`, { body });
const all = async (): Promise<Body[]> =>
  (await api.ok("GET", `${IAM}/roleBindings`, { query: { page_size: 200, identity } })).roleBindings;

test("a role binding can be created twice for the same triple, so that two owners each manage their own", async () => {
  const body = { identityUid: identity, roleUid: viewer };
  const [one, two] = [await create(body), await create(body)];
  expect([one.status, two.status]).toEqual([200, 200]);
  expect(one.json.uid).not.toBe(two.json.uid);
  const { uid: _one, ...left } = one.json;
  const { uid: _two, ...right } = two.json;
  expect(left).toEqual(right);
});

test("a role binding is refused with another organization's identity, with the error of a missing one", async () => {
  const founder = await api.actor("founder");
  const { uid: theirs } = await createRecord(api, "groups", "", { name: "theirs" }, founder.token);
  const body = { name: "i", servicePrincipal: 1 };
  const { uid } = await createRecord(api, "identities", theirs, body, founder.token);
  const answer = await create({ identityUid: uid, roleUid: viewer });
  expectInvalid(answer, { identityUid: `identity ${uid} does not exist` });
  // The other way round: the founder sees itself, though nothing else of the organization that it lives in.
  const own = { token: founder.token, body: { identityUid: founder.uid, roleUid: viewer } };
  expect((await api.call("POST", `${IAM}/roleBindings/${theirs}`, own)).status).toBe(200);
  const other = { token: founder.token, body: { identityUid: identity, roleUid: viewer } };
  expectInvalid(await api.call("POST", `${IAM}/roleBindings/${theirs}`, other), {
    identityUid: `identity ${identity} does not exist`,
  });
});

describe("a batch", () => {
  const batch = (body: Body) =>
    api.call("POST", `${IAM}/roleBindings:batchCreate`, { body: { parent: api.organization, ...body } });
  const requests = (count: number, roleUid: string | undefined = viewer) =>
    Array.from({ length: count }, () => ({ roleBinding: { identityUid: identity, ...(roleUid && { roleUid }) } }));

  test("answers in the order of its requests", async () => {
    const roles = [viewer, editor, viewer, editor, editor];
    const { status, json } = await batch({
      requests: roles.map((roleUid) => ({ roleBinding: { identityUid: identity, roleUid } })),
    });
    expect(status).toBe(200);
    expect(Object.keys(json)).toEqual(["roleBindings"]);
    expect(json.roleBindings.map(({ role }: Body) => role.uid)).toEqual(roles);
    for (const made of json.roleBindings) expect(await api.ok("GET", `${IAM}/roleBindings/${made.uid}`)).toEqual(made);
  });

  test("accepts 25 requests", async () => {
    expect((await batch({ requests: requests(25) })).json.roleBindings).toHaveLength(25);
  });

  test("gives its roleUid to the requests that have none, or the same", async () => {
    const both = [...requests(1, ""), ...requests(1, editor)];
    const { json } = await batch({ roleUid: editor, requests: both });
    expect(json.roleBindings.map(({ role }: Body) => role.uid)).toEqual([editor, editor]);
  });

  const bindingOf = (identityUid: string, roleUid: string) => ({ roleBinding: { identityUid, roleUid } });
  const MISSING = `${api.organization}/ffffffffffffffff`;
  const OTHER_PARENT = { "requests[1].parent": "must be empty or equal to the parent of the batch" };
  const NO_UIDS = { "requests[0].roleBinding.identityUid": NO_UID, "requests[2].roleBinding.roleUid": NO_UID };
  const NOBODY = { "requests[3].roleBinding.identityUid": `identity ${MISSING} does not exist` };
  test.each<[string, Body[], Violations]>([
    ["no request", requests(0), { requests: "must have 1 to 25 requests; got 0" }],
    ["26 requests", requests(26), { requests: "must have 1 to 25 requests; got 26" }],
    ["another parent", [...requests(1), { ...requests(1)[0], parent: identity }], OTHER_PARENT],
    ["violations in several requests", [bindingOf("x", viewer), ...requests(1), bindingOf(identity, "y")], NO_UIDS],
    ["one missing identity", [...requests(3), bindingOf(MISSING, viewer)], NOBODY],
  ])("is refused as a whole with %s", async (_, requests, violations) => {
    const before = (await all()).length;
    expectInvalid(await batch({ requests }), violations);
    expect((await all()).length).toBe(before);
  });
});

// The switch --unique-role-bindings (docs/internals/contract.md#d19): a second binding of one identity to one role in one group is
// ALREADY_EXISTS, one by one and in a batch.
describe("with the switch, a binding", async () => {
  const api = await serve({ uniqueRoleBindings: true });
  const bound: Actor = await api.actor("bound");
  const [viewer, editor] = [await api.role("viewer"), await api.role("editor")];

  const group = (): Promise<string> => createUid(api, "groups", api.organization, { name: "g" });
  const bind = (parent: string, roleUid = viewer, identityUid = bound.uid) =>
    api.call("POST", `${BINDINGS}/${parent}`, { body: { identityUid, roleUid } });
  const count = async (parent: string): Promise<string> =>
    (await api.ok("GET", BINDINGS, { query: { group: parent } })).totalCount;
  const expectTaken = (answer: Answer, parent: string, uid: string, roleUid = viewer) =>
    expectRefusal(answer, "ALREADY_EXISTS", `identity ${bound.uid} is bound to role ${roleUid} at ${parent} already`, {
      details: [resourceInfo("RoleBinding", uid)],
    });

  test("is created once: the second is ALREADY_EXISTS, names the first, and creates nothing; another identity has its own", async () => {
    const parent = await group();
    const { json: first } = await bind(parent);
    expectTaken(await bind(parent), parent, first.uid);
    expect((await bind(parent, viewer, api.identity)).status).toBe(200);
    expect(await count(parent)).toBe("2");
  });

  test("cannot be changed into an existing one, and may be restated", async () => {
    const parent = await group();
    const [{ json: one }, { json: two }] = [await bind(parent), await bind(parent, editor)];
    const patch = (uid: string, body: Body) => api.call("PATCH", `${BINDINGS}/${uid}`, { body });
    expectTaken(await patch(two.uid, { roleUid: viewer }), parent, one.uid);
    expect((await api.ok("GET", `${BINDINGS}/${two.uid}`)).role.uid).toBe(editor);
    expect((await patch(one.uid, { roleUid: viewer, identityUid: bound.uid })).status).toBe(200);
  });

  test("of a batch is refused with the whole batch", async () => {
    const parent = await group();
    const { json: first } = await bind(parent, editor);
    const requests = [viewer, editor].map((roleUid) => ({ roleBinding: { identityUid: bound.uid, roleUid } }));
    const answer = await api.call("POST", `${IAM}/roleBindings:batchCreate`, { body: { parent, requests } });
    expectTaken(answer, parent, first.uid, editor);
    expect(await count(parent)).toBe("1");
  });

  test("appears once in a batch: of two equal ones none is created", async () => {
    const parent = await group();
    const roleBinding = { identityUid: bound.uid, roleUid: viewer };
    const body = { parent, requests: [{ roleBinding }, { roleBinding }] };
    expectTaken(await api.call("POST", `${IAM}/roleBindings:batchCreate`, { body }), parent, "");
    expect(await count(parent)).toBe("0");
  });
});
