// The rules of role bindings (docs/contract.md#role-bindings) and of their batch (AIP-233).
import { describe, expect, test } from "vitest";
import { type Actor, IAM, serve } from "../../harness/api-server.ts";
import { createRecord, createUid } from "../../harness/records.ts";
import type { Answer, Body } from "../../support/http.ts";
import { expectInvalid, expectRefusal, NO_UID, resourceInfo, type Violations } from "../../support/refusal.ts";

const BINDINGS = `${IAM}/roleBindings`;
const api = await serve();
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

// The switch --unique-role-bindings (docs/contract.md#d19): a second binding of one identity to one role in one group is
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
