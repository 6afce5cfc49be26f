// The rules of role bindings (docs/contract.md#role-bindings) and of their batch (AIP-233).

import { describe, expect, test } from "vitest";
import { type Actor, countingIds, IAM, serve } from "../../harness/api-server.ts";
import { createRecord, createUid } from "../../harness/records.ts";
import type { Answer, Body } from "../../support/http.ts";
import {
  expectDenied,
  expectInvalid,
  expectRefusal,
  NO_UID,
  resourceInfo,
  type Violations,
} from "../../support/refusal.ts";

const BINDINGS = `${IAM}/roleBindings`;
const api = await serve();
const identity: string = (await api.actor("bound")).uid;
const [viewer, editor] = [await api.role("viewer"), await api.role("editor")];

const create = (body: Body, parent = api.organization) => api.call("POST", `${IAM}/roleBindings/${parent}`, { body });
const all = async (): Promise<Body[]> =>
  (await api.ok("GET", `${IAM}/roleBindings`, { query: { page_size: 200, identity } })).roleBindings;

describe("a role binding", () => {
  test("can be created twice for the same triple, so that two owners each manage their own", async () => {
    const body = { identityUid: identity, roleUid: viewer };
    const [one, two] = [await create(body), await create(body)];
    expect([one.status, two.status]).toEqual([200, 200]);
    expect(one.json.uid).not.toBe(two.json.uid);
    const { uid: _one, ...left } = one.json;
    const { uid: _two, ...right } = two.json;
    expect(left).toEqual(right);
  });

  test.each<[string, () => Body, Violations]>([
    ["neither uid", () => ({}), { identityUid: NO_UID, roleUid: NO_UID }],
    ["no role", () => ({ identityUid: identity }), { roleUid: NO_UID }],
    ["a role by its name", () => ({ identityUid: identity, roleUid: "viewer" }), { roleUid: NO_UID }],
    [
      "hydrated objects for uids, which are output only",
      () => ({ identity: { uid: identity }, role: { uid: viewer } }),
      { identityUid: NO_UID, roleUid: NO_UID },
    ],
  ])("is refused with %s", async (_, body, violations) => {
    expectInvalid(await create(body()), violations);
  });

  test("is refused with a missing identity and role, both at once", async () => {
    const missing = `${api.organization}/ffffffffffffffff`;
    expectInvalid(await create({ identityUid: missing, roleUid: missing }), {
      identityUid: `identity ${missing} does not exist`,
      roleUid: `role ${missing} does not exist at ${api.organization} or above`,
    });
  });

  test("is refused with a uid of another kind", async () => {
    const group = api.organization;
    expectInvalid(await create({ identityUid: group, roleUid: identity }), {
      identityUid: `identity ${group} does not exist`,
      roleUid: `role ${identity} does not exist at ${group} or above`,
    });
  });

  test("is refused with another organization's identity, with the error of a missing one", async () => {
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

  test("has the current values of its identity, role and group", async () => {
    const { uid: group } = await createRecord(api, "groups", api.organization, { name: "before" });
    const { json } = await create({ identityUid: identity, roleUid: viewer }, group);
    await api.ok("PATCH", `${IAM}/groups/${group}`, { body: { name: "after", description: "now" } });
    const { group: shown } = await api.ok("GET", `${IAM}/roleBindings/${json.uid}`);
    expect(shown).toEqual({ uid: group, name: "after", description: "now" });
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

  test.each([0, 26])("refuses %i", async (count) => {
    const before = (await all()).length;
    const answer = await batch({ requests: requests(count) });
    expectInvalid(answer, { requests: `must have 1 to 25 requests; got ${count}` });
    expect((await all()).length).toBe(before);
  });

  test("gives its roleUid to the requests that have none, or the same", async () => {
    const both = [...requests(1, ""), ...requests(1, editor)];
    const { json } = await batch({ roleUid: editor, requests: both });
    expect(json.roleBindings.map(({ role }: Body) => role.uid)).toEqual([editor, editor]);
  });

  test("accepts a parent in a request that is empty or its own", async () => {
    const [one, two] = requests(2);
    const body = {
      requests: [
        { ...one, parent: "" },
        { ...two, parent: api.organization },
      ],
    };
    expect((await batch(body)).status).toBe(200);
  });

  test.each<[string, () => Body, Violations]>([
    [
      "another role than the batch's",
      () => ({ roleUid: editor, requests: requests(2) }),
      {
        "requests[0].roleBinding.roleUid": "must be empty or equal to the roleUid of the batch",
        "requests[1].roleBinding.roleUid": "must be empty or equal to the roleUid of the batch",
      },
    ],
    [
      "another parent than the batch's",
      () => ({ requests: [...requests(1), { ...requests(1)[0], parent: identity }] }),
      { "requests[1].parent": "must be empty or equal to the parent of the batch" },
    ],
    ["no role at all", () => ({ requests: requests(1, "") }), { "requests[0].roleBinding.roleUid": NO_UID }],
    [
      "no role binding",
      () => ({ requests: [{}, ...requests(1)] }),
      { "requests[0].roleBinding.identityUid": NO_UID, "requests[0].roleBinding.roleUid": NO_UID },
    ],
    [
      "violations in several requests",
      () => ({
        requests: [
          { roleBinding: { identityUid: "x", roleUid: viewer } },
          ...requests(1),
          { roleBinding: { identityUid: identity, roleUid: "y" } },
        ],
      }),
      { "requests[0].roleBinding.identityUid": NO_UID, "requests[2].roleBinding.roleUid": NO_UID },
    ],
  ])("is refused as a whole with %s", async (_, body, violations) => {
    const before = (await all()).length;
    expectInvalid(await batch(body()), violations);
    expect((await all()).length).toBe(before);
  });

  test("is refused as a whole with one missing identity", async () => {
    const before = (await all()).length;
    const missing = `${api.organization}/ffffffffffffffff`;
    const answer = await batch({
      requests: [...requests(3), { roleBinding: { identityUid: missing, roleUid: viewer } }],
    });
    expectInvalid(answer, { "requests[3].roleBinding.identityUid": `identity ${missing} does not exist` });
    expect((await all()).length).toBe(before);
  });

  test("is written as a whole or not at all, also when the database refuses the last one", async () => {
    const ids = countingIds();
    let repeated: string | undefined;
    const server = await serve({ ids: { root: ids.root, segment: () => repeated ?? ids.segment() } });
    const link = { identityUid: server.identity, roleUid: await server.role("viewer") };
    const before = (await server.ok("GET", `${IAM}/roleBindings`)).totalCount;
    // Two records of one uid: the first is written, the second is refused.
    repeated = "00000000000000ff";
    const body = { parent: server.organization, requests: [{ roleBinding: link }, { roleBinding: link }] };
    const answer = await server.call("POST", `${IAM}/roleBindings:batchCreate`, { body });
    expectRefusal(answer, "INTERNAL", "the server failed to answer; its log says why");
    expect((await server.ok("GET", `${IAM}/roleBindings`)).totalCount).toBe(before);
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

  test("is created once: the second is ALREADY_EXISTS, names the first, and creates nothing", async () => {
    const parent = await group();
    const { json: first } = await bind(parent);
    expectTaken(await bind(parent), parent, first.uid);
    expect(await count(parent)).toBe("1");
  });

  test("differs by role, group or identity", async () => {
    const parent = await group();
    const other = await api.actor("other");
    for (const answer of [
      await bind(parent),
      await bind(parent, editor),
      await bind(parent, viewer, other.uid),
      await bind(await group()),
    ])
      expect(answer.status, answer.text).toBe(200);
  });

  test("can be created again once the first is deleted", async () => {
    const parent = await group();
    const { json: first } = await bind(parent);
    await api.ok("DELETE", `${BINDINGS}/${first.uid}`);
    expect((await bind(parent)).status).toBe(200);
  });

  test("cannot be changed into an existing one, and may be restated", async () => {
    const parent = await group();
    const [{ json: one }, { json: two }] = [await bind(parent), await bind(parent, editor)];
    const patch = (uid: string, body: Body) => api.call("PATCH", `${BINDINGS}/${uid}`, { body });
    expectTaken(await patch(two.uid, { roleUid: viewer }), parent, one.uid);
    expect((await api.ok("GET", `${BINDINGS}/${two.uid}`)).role.uid).toBe(editor);
    expect((await patch(one.uid, { roleUid: viewer, identityUid: bound.uid })).status).toBe(200);
  });

  test("is searched only for callers that may create one: others are denied first", async () => {
    const parent = await group();
    await bind(parent);
    const body = { identityUid: bound.uid, roleUid: viewer };
    expectDenied(
      await api.call("POST", `${BINDINGS}/${parent}`, { token: bound.token, body }),
      "role_bindings.create",
      parent,
    );
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

  test("that made its creator owner of a new organization counts", async () => {
    const { json: root } = await api.call("POST", `${IAM}/groups`, { token: bound.token, body: { name: "own" } });
    const owner = await api.role("owner");
    const { roleBindings } = await api.ok("GET", BINDINGS, { token: bound.token, query: { group: root.uid } });
    const body = { identityUid: bound.uid, roleUid: owner };
    const answer = await api.call("POST", `${BINDINGS}/${root.uid}`, { token: bound.token, body });
    expectTaken(answer, root.uid, roleBindings[0].uid, owner);
  });
});
