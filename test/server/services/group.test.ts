// The rules of groups (docs/contract.md#groups, docs/contract.md#values, docs/contract.md#authorization).

import { describe, expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { IAM, serve } from "../../harness/api-server.ts";
import { createRecord } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectDenied, expectInvalid, expectRefusal } from "../../support/refusal.ts";

const api = await serve();

const create = (parent: string, body: Body, token?: string) =>
  api.call("POST", `${IAM}/groups${parent && `/${parent}`}`, { body, ...(token && { token }) });

test("a root group can be created with any token, whose identity owns it at once", async () => {
  const founder = await api.actor("founder");
  const { json: root } = await create("", { name: "new org", kind: "ORG_KIND_STARTER" }, founder.token);
  expect(root.uid).toMatch(/^[0-9a-f]{40}$/);
  expect(root.kind).toBe("ORG_KIND_STARTER");
  const { roleBindings } = await api.ok("GET", `${IAM}/roleBindings`, {
    token: founder.token,
    query: { group: root.uid },
  });
  expect(roleBindings).toHaveLength(1);
  expect(roleBindings[0]).toMatchObject({
    identity: { uid: founder.uid },
    role: { name: "owner" },
    group: { name: "new org" },
  });
  expect((await create(root.uid, { name: "below" }, founder.token)).status).toBe(200);
  expectDenied(await api.call("GET", `${IAM}/groups/${root.uid}`), "groups.list", root.uid);
});

describe("a group below another", () => {
  test("inherits kind and status from its root", async () => {
    const answer = await create(api.organization, { name: "g", kind: "ORG_KIND_DEV" });
    expectInvalid(answer, { kind: "belongs to the root group; leave it out below" });
    const seeded = await serve({ seed: parseSeed("organization: { name: a, kind: ORG_KIND_DEV }", "s") });
    const below = await createRecord(seeded, "groups", seeded.organization, { name: "g" });
    expect(below.kind).toBe("ORG_KIND_DEV");
  });

  test.each(["ORG_KIND_UNSPECIFIED", 0])(
    "may have the kind %j, which is the zero of the enum and so unset",
    async (kind) => {
      const answer = await create(api.organization, { name: "g", kind });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.json).not.toHaveProperty("kind");
    },
  );

  test("cannot be verified by its creator", async () => {
    const text = "verified is set by the operator of the service";
    expectRefusal(await create(api.organization, { name: "g", verified: true }), "PERMISSION_DENIED", text);
    expectRefusal(await create("", { name: "g", verified: true }), "PERMISSION_DENIED", text);
    expect((await create(api.organization, { name: "g", verified: false })).status).toBe(200);
  });
});

describe("the parent of a new group may be", async () => {
  const groups: Record<string, string> = {};
  const server = await serve({
    seed: parseSeed(
      "{ organization: { name: acme }, groups: [{ name: eng }, { name: my team, parent: eng }, { name: dup }, { name: dup, parent: eng }] }",
      "s",
    ),
  });
  for (const { name, uid } of (await server.ok("GET", `${IAM}/groups`)).groups) groups[name] = uid;
  const under = (parent: string, token = server.owner.token) =>
    server.call("POST", `${IAM}/groups/${parent}`, { body: { name: "new" }, token });

  test.each<[string, () => string, string]>([
    ["the name of one group in scope", () => "eng", "eng"],
    ["the last segment of a uid", () => (groups.eng as string).split("/")[1] as string, "eng"],
    ["the last segments of a uid", () => (groups["my team"] as string).split("/").slice(1).join("/"), "my team"],
  ])("%s", async (_, parent, expected) => {
    const answer = await under(parent());
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json.uid.replace(/\/[^/]+$/, "")).toBe(groups[expected]);
  });

  test.each([
    ["the name of no group", "nobody", "is not a uid, and no group in scope has that name"],
    ["the name of two groups", "dup", "is the name of several groups; use the uid"],
    ["the suffix of no group", "ffffffffffffffff", "is not a uid, and no group in scope has that name"],
  ])("but not %s", async (_, parent, description) => {
    expectInvalid(await under(parent), { parent: description });
  });

  test("a name that the caller may not see counts as unknown", async () => {
    const viewer = await server.actor("viewer", { role: "viewer", at: groups["my team"] as string });
    expectInvalid(await under("eng", viewer.token), { parent: "is not a uid, and no group in scope has that name" });
    // It may see the group, but may not create in it.
    expectDenied(await under("my%20team", viewer.token), "groups.create", groups["my team"] as string);
  });
});
