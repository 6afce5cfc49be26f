// The rules of groups (docs/contract.md#groups, docs/contract.md#values, docs/contract.md#authorization).

import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { countingIds, IAM, serve } from "../../harness/api-server.ts";
import { createRecord, recordOf } from "../../harness/records.ts";
import { temporaryFolder } from "../../support/command.ts";
import type { Body } from "../../support/http.ts";
import { expectDenied, expectInvalid, expectRefusal, NO_NAME } from "../../support/refusal.ts";

const api = await serve();

const create = (parent: string, body: Body, token?: string) =>
  api.call("POST", `${IAM}/groups${parent && `/${parent}`}`, { body, ...(token && { token }) });
const createdUid = async (parent: string, body: Body): Promise<string> => (await recordOf(create(parent, body))).uid;

describe("a root group", () => {
  test("can be created with any token, whose identity owns it at once", async () => {
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

  test("and the binding of its owner are created together or not at all", async () => {
    const folder = temporaryFolder();
    const ids = countingIds();
    let broken = false;
    const segment = () => {
      if (broken) throw new Error("no more ids");
      return ids.segment();
    };
    const server = await serve({ ids: { root: ids.root, segment }, store: folder.path("half.db") });
    broken = true;
    const answer = await server.call("POST", `${IAM}/groups`, { body: { name: "half" } });
    await server.close();
    expectRefusal(answer, "INTERNAL", "the server failed to answer; its log says why");
    // No caller could see a group without an owner, so the test reads the rows.
    const database = new DatabaseSync(folder.path("half.db"));
    expect(database.prepare("SELECT name FROM groups").all()).toEqual([{ name: "dev" }]);
    database.close();
    folder.remove();
  });
});

describe("a group below another", () => {
  test("may have the name of a sibling: names are not unique", async () => {
    const uids = [
      await createdUid(api.organization, { name: "twin" }),
      await createdUid(api.organization, { name: "twin" }),
    ];
    expect(new Set(uids).size).toBe(2);
    expect((await api.ok("GET", `${IAM}/groups`, { query: { name: "twin" } })).totalCount).toBe("2");
  });

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

  test("is refused with all problems at once", async () => {
    const answer = await create(api.organization, { name: "G", description: "a\nb", kind: "ORG_KIND_DEV" });
    expectInvalid(answer, {
      name: NO_NAME,
      description: String.raw`description must match "^[\S ]{0,512}$"`,
      kind: "belongs to the root group; leave it out below",
    });
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
    ["a uid", () => groups.eng as string, "eng"],
    ["the name of one group in scope", () => "eng", "eng"],
    ["a name with a space", () => "my%20team", "my team"],
    ["the name of the root", () => "acme", "acme"],
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
    ["a pattern", "%25", "is not a uid, and no group in scope has that name"],
    ["half a segment", "eng/", "is not a uid, and no group in scope has that name"],
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
