// What a token may do (docs/contract.md#d28): the caller's current bindings, intersected with the capabilities and scopes that
// the exchange requested. A revoked binding ends at once; the `cap` claim informs clients. narrowed.test.ts: every method with such a token.
import { describe, expect, test } from "vitest";
import { IAM, serve } from "../harness/api-server.ts";
import { HOUR_MS } from "../harness/clock.ts";
import { createRecord, createUid } from "../harness/records.ts";
import type { Body } from "../support/http.ts";
import { expectDenied, expectInvalid } from "../support/refusal.ts";
import { WAYS } from "../support/way.ts";

const api = await serve();
const left = await createUid(api, "groups", api.organization, { name: "left" });

const list = (token: string) => api.ok("GET", `${IAM}/groups`, { token });
const bind = async (identityUid: string, role: string, at: string): Promise<string> => {
  const body = { identityUid, roleUid: role.length >= 40 ? role : await api.role(role) };
  return await createUid(api, "roleBindings", at, body);
};

describe("a token follows the current bindings", () => {
  test("a revoked binding ends at once", async () => {
    const { uid, token } = await api.actor("revoked");
    const binding = await bind(uid, "viewer", left);
    expect((await list(token)).totalCount).toBe("1");
    await api.ok("DELETE", `${IAM}/roleBindings/${binding}`);
    expect((await list(token)).totalCount).toBe("0");
    expectDenied(await api.call("GET", `${IAM}/groups/${left}`, { token }), "groups.list", left);
  });

  test("a changed role counts at once for the identities that are bound to it", async () => {
    const body = { name: "changing", capabilities: ["CAP_IAM_GROUPS_LIST"] };
    const { uid: role } = await createRecord(api, "roles", api.organization, body);
    const { uid, token } = await api.actor("bound");
    await bind(uid, role, left);
    expect((await list(token)).totalCount).toBe("1");
    await api.ok("PATCH", `${IAM}/roles/${role}`, { body: { capabilities: ["CAP_REPO_LIST"] } });
    expect((await list(token)).totalCount).toBe("0");
  });
});

describe("a limited token cannot create an organization, which would grant its identity everything", () => {
  test.each([
    ["a capability", () => ({ cap: ["groups.list"] })],
    ["a scope", () => ({ scopes: [left] })],
    ["a scope that is no uid", () => ({ scopes: ["*"] })],
  ])("%s", async (_, limits) => {
    const token = await api.token(api.identity, { subject: "owner", ...limits() });
    for (const version of ["v2beta1", "v2"])
      for (const [wire, way] of Object.entries(WAYS)) {
        const request = { group: { name: "new root" } };
        const { code, message } = await way(api, { operation: "CreateGroup", request, token, version });
        expect([wire, code, message]).toEqual([
          wire,
          "PERMISSION_DENIED",
          "Permission denied: a token that was narrowed cannot create an organization; exchange again without cap and scopes",
        ]);
      }
    expect((await api.ok("GET", `${IAM}/groups`, { query: { name: "new root" } })).totalCount).toBe("0");
  });

  test("and a token without limits can", async () => {
    expect(await createRecord(api, "groups", "", { name: "a root" })).toMatchObject({ name: "a root" });
  });
});

test("the exchange moves lastSeenTime and no other field", async () => {
  const own = await serve();
  const claimMatch = { issuer: own.issuer, subject: "seen" };
  const before = await createRecord(own, "identities", own.organization, { name: "seen", claimMatch });
  own.clock.advance(HOUR_MS / 2);
  await own.token(before.uid, { subject: "seen" });
  const after = await own.ok("GET", `${IAM}/identities/${before.uid}`);
  expect(after).toEqual({ ...before, lastSeenTime: "2026-01-28T13:24:21.189Z" });
});

describe("the identity that anyone may assume", () => {
  const token = async (subject = "any-subject") => api.token(api.anyone, { subject });

  test("holds nothing: it reads built-in roles, and all other lists are empty", async () => {
    const own = await token();
    expect((await list(own)).totalCount).toBe("0");
    expectDenied(await api.call("GET", `${IAM}/groups/${left}`, { token: own }), "groups.list", left);
    expect((await api.ok("GET", `${IAM}/roles`, { token: own })).roles.length).toBeGreaterThan(2);
  });

  test("cannot get a binding, by a create, a batch or a change", async () => {
    const description = "is the identity that anyone may assume, which holds no bindings";
    const link = { identityUid: api.anyone, roleUid: await api.role("viewer") };
    expectInvalid(await api.call("POST", `${IAM}/roleBindings/${left}`, { body: link }), { identityUid: description });
    const batch = { parent: left, requests: [{ roleBinding: link }] };
    expectInvalid(await api.call("POST", `${IAM}/roleBindings:batchCreate`, { body: batch }), {
      "requests[0].roleBinding.identityUid": description,
    });
    const { uid } = await api.actor("someone");
    const binding = await bind(uid, "viewer", left);
    const change = { body: { identityUid: api.anyone } };
    expectInvalid(await api.call("PATCH", `${IAM}/roleBindings/${binding}`, change), { identityUid: description });
  });

  test("cannot create an organization, which anyone would own", async () => {
    const answer = await api.call("POST", `${IAM}/groups`, { token: await token(), body: { name: "everybody's" } });
    expect(answer.status).toBe(403);
    expect(answer.json).toMatchObject({
      code: 7,
      message:
        "Permission denied: the identity that anyone may assume cannot own an organization; assume an identity of your own",
    });
    expect((await api.ok("GET", `${IAM}/groups`, { query: { name: "everybody's" } })).totalCount).toBe("0");
  });

  test("is in no list, and cannot be changed or deleted", async () => {
    const { identities } = await api.ok("GET", `${IAM}/identities`, { query: { page_size: 200 } });
    expect(identities.map(({ uid }: Body) => uid)).not.toContain(api.anyone);
    const root = await api.ok("GET", `${IAM}/identities`, { query: { "uidp.in_root": true } });
    expect(root.totalCount).toBe("0");
    const path = `${IAM}/identities/${api.anyone}`;
    expectDenied(await api.call("GET", path), "identity.list", api.anyone);
    expectDenied(await api.call("DELETE", path), "identity.delete", api.anyone);
    expectDenied(await api.call("PATCH", path, { body: { name: "x" } }), "identity.update", api.anyone);
  });
});
