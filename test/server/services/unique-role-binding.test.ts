// The switch --unique-role-bindings (docs/contract.md#d19): a second binding of one identity to one role in one group is
// ALREADY_EXISTS, one by one and in a batch. Without the switch it is created.

import { describe, expect, test } from "vitest";
import { type Actor, IAM, serve } from "../../harness/api-server.ts";
import { createUid } from "../../harness/records.ts";
import type { Answer, Body } from "../../support/http.ts";
import { expectDenied, expectRefusal, resourceInfo } from "../../support/refusal.ts";

const PATH = `${IAM}/roleBindings`;
let bound: Actor;
const api = await serve({ uniqueRoleBindings: true });
const [viewer, editor] = [await api.role("viewer"), await api.role("editor")];

const group = (): Promise<string> => createUid(api, "groups", api.organization, { name: "g" });
const bind = (parent: string, roleUid = viewer, identityUid = bound.uid) =>
  api.call("POST", `${PATH}/${parent}`, { body: { identityUid, roleUid } });
const count = async (parent: string): Promise<string> =>
  (await api.ok("GET", PATH, { query: { group: parent } })).totalCount;
const expectTaken = (answer: Answer, parent: string, uid: string, roleUid = viewer) =>
  expectRefusal(answer, "ALREADY_EXISTS", `identity ${bound.uid} is bound to role ${roleUid} at ${parent} already`, {
    details: [resourceInfo("RoleBinding", uid)],
  });

describe("with the switch, a binding", async () => {
  bound = await api.actor("bound");

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
    await api.ok("DELETE", `${PATH}/${first.uid}`);
    expect((await bind(parent)).status).toBe(200);
  });

  test("cannot be changed into an existing one, and may be restated", async () => {
    const parent = await group();
    const [{ json: one }, { json: two }] = [await bind(parent), await bind(parent, editor)];
    const patch = (uid: string, body: Body) => api.call("PATCH", `${PATH}/${uid}`, { body });
    expectTaken(await patch(two.uid, { roleUid: viewer }), parent, one.uid);
    expect((await api.ok("GET", `${PATH}/${two.uid}`)).role.uid).toBe(editor);
    expect((await patch(one.uid, { roleUid: viewer, identityUid: bound.uid })).status).toBe(200);
  });

  test("is searched only for callers that may create one: others are denied first", async () => {
    const parent = await group();
    await bind(parent);
    const body = { identityUid: bound.uid, roleUid: viewer };
    expectDenied(
      await api.call("POST", `${PATH}/${parent}`, { token: bound.token, body }),
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
    const { roleBindings } = await api.ok("GET", PATH, { token: bound.token, query: { group: root.uid } });
    const body = { identityUid: bound.uid, roleUid: owner };
    const answer = await api.call("POST", `${PATH}/${root.uid}`, { token: bound.token, body });
    expectTaken(answer, root.uid, roleBindings[0].uid, owner);
  });
});

test("without the switch, the same binding can be created repeatedly", async () => {
  const plain = await serve();
  const body = { identityUid: plain.identity, roleUid: await plain.role("viewer") };
  const uids = new Set<string>();
  for (const _ of [1, 2]) uids.add((await plain.ok("POST", `${PATH}/${plain.organization}`, { body })).uid);
  const requests = [{ roleBinding: body }, { roleBinding: body }];
  const { roleBindings } = await plain.ok("POST", `${IAM}/roleBindings:batchCreate`, {
    body: { parent: plain.organization, requests },
  });
  for (const { uid } of roleBindings) uids.add(uid);
  expect(uids.size).toBe(4);
});
