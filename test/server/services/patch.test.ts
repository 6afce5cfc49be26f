// PATCH (docs/contract.md#updates, docs/contract.md#d18, AIP-134): which fields change, for groups and roles.

import { beforeEach, describe, expect, test } from "vitest";
import { Group } from "../../../schema/index.ts";
import { parseSeed } from "../../../server/index.ts";
import { changeInput } from "../../../server/services/record.ts";
import { IAM, serve } from "../../harness/api-server.ts";
import { createRecord } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectInvalid, expectRefusal, NO_NAME, type Violations } from "../../support/refusal.ts";

const DESCRIPTION = String.raw`description must match "^[\S ]{0,512}$"`;
const seed = parseSeed("organization: { name: acme, verified: true, kind: ORG_KIND_CUSTOMER }", "seed.yaml");
let group: Body;
const api = await serve({ seed });
beforeEach(async () => {
  group = await createRecord(api, "groups", api.organization, { name: "before", description: "d" });
});

const patch = (body: Body, updateMask?: string, uid = group.uid) =>
  api.call("PATCH", `${IAM}/groups/${uid}`, { body, query: { updateMask } });
const stored = () => api.ok("GET", `${IAM}/groups/${group.uid}`);

describe("without a mask, the keys of the body are the mask", () => {
  test.each<[string, Body, Body]>([
    ["a field that is absent keeps its value (unlike v1)", { name: "after" }, { name: "after" }],
    [
      "snake_case and output-only keys are accepted",
      { create_time: "2001-01-01T00:00:00Z", description: "new" },
      { description: "new" },
    ],
  ])("%s", async (_, body, changed) => {
    const answer = await patch(body);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json).toEqual({ ...group, ...changed });
    expect(await stored()).toEqual(answer.json);
  });
});

describe("with a mask", () => {
  test.each<[string, Body, string, Body]>([
    [
      "a field outside of it is not validated",
      { name: "NOT A NAME", description: "new" },
      "description",
      { description: "new" },
    ],
    [
      "of output-only paths alone nothing changes, not even what the body has",
      { description: "new" },
      "uid,create_time",
      {},
    ],
  ])("%s", async (_, body, mask, changed) => {
    const answer = await patch(body, mask);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json).toEqual({ ...group, ...changed });
    expect(await stored()).toEqual(answer.json);
  });

  test.each<[string, Body, string, Violations]>([
    [
      "every unknown path",
      { name: "x" },
      "name,colour,taste",
      { updateMask: ['"colour" is not a field of the resource', '"taste" is not a field of the resource'] },
    ],
    ["a required field that is cleared", {}, "name", { name: NO_NAME }],
    [
      "all invalid values at once",
      { name: "N", description: "two\nlines" },
      "description,name",
      { name: NO_NAME, description: DESCRIPTION },
    ],
  ])("is refused: %s", async (_, body, mask, violations) => {
    expectInvalid(await patch(body, mask), violations);
    expect(await stored()).toEqual(group);
  });

  test("without a mask the fields of the body are validated", async () => {
    expectInvalid(await patch({ name: "N" }), { name: NO_NAME });
    expectInvalid(await patch({ name: null }), { name: NO_NAME });
    expect(await stored()).toEqual(group);
  });
});

describe("times", () => {
  test("updateTime moves and createTime does not", async () => {
    const own = await serve({ seed });
    const { createTime } = await own.ok("GET", `${IAM}/groups/${own.organization}`);
    own.clock.advance(1500);
    const changed = await own.ok("PATCH", `${IAM}/groups/${own.organization}`, { body: { description: "new" } });
    expect(changed).toMatchObject({ createTime, updateTime: "2026-01-28T12:54:22.689Z" });
  });

  test("a refused request changes no time", async () => {
    await patch({ name: "N" });
    expect((await stored()).updateTime).toBe(group.updateTime);
  });
});

describe("the wildcard on a group", () => {
  test("is full replacement of name, description and verified", async () => {
    const answer = await patch({ name: "after" }, "*");
    expect(answer.json).toEqual({ ...group, name: "after", description: "" });
  });

  test("keeps kind and status, and accepts them restated", async () => {
    for (const kind of [undefined, "ORG_KIND_CUSTOMER"]) {
      const body = { name: "acme", verified: true, kind, status: "ORG_STATUS_SUSPENDED" };
      const { json } = await patch(body, "*", api.organization);
      expect(json).toMatchObject({ name: "acme", kind: "ORG_KIND_CUSTOMER", verified: true });
      expect(json).not.toHaveProperty("status");
    }
  });

  test("must not change the kind", async () => {
    const answer = await patch({ name: "acme", kind: "ORG_KIND_DEV" }, "*", api.organization);
    expectInvalid(answer, { kind: "cannot be changed by this request; name it in updateMask on a root group" });
  });
});

describe("the kind of a group", () => {
  test("takes effect only when it is named, and below the root is inherited", async () => {
    const ignored = await patch({ kind: "ORG_KIND_DEV", description: "x" }, "description", api.organization);
    expect(ignored.json.kind).toBe("ORG_KIND_CUSTOMER");
    const named = await patch({ kind: "ORG_KIND_DEV" }, "kind", api.organization);
    expect(named.json.kind).toBe("ORG_KIND_DEV");
    expect((await stored()).kind).toBe("ORG_KIND_DEV");
    await patch({ kind: "ORG_KIND_CUSTOMER" }, "kind", api.organization);
  });

  test("is not changed below the root", async () => {
    const violation = { kind: "cannot be changed by this request; name it in updateMask on a root group" };
    expectInvalid(await patch({ kind: "ORG_KIND_DEV" }), violation);
    expectInvalid(await patch({ kind: "ORG_KIND_DEV" }, "kind"), violation);
    expect((await patch({ kind: "ORG_KIND_UNSPECIFIED", description: "new" })).status).toBe(200);
  });
});

describe("verified", () => {
  test("is set by the operator only", async () => {
    const answer = await patch({ verified: true });
    expectRefusal(answer, "PERMISSION_DENIED", "verified is set by the operator of the service");
    expect((await stored()).verified).toBe(false);
  });

  test("may be restated", async () => {
    expect((await patch({ verified: true, description: "x" }, undefined, api.organization)).status).toBe(200);
    expect((await patch({ verified: false })).status).toBe(200);
  });

  test("belongs to the name: a rename requires giving it up", async () => {
    const renamed = await patch({ name: "other.example" }, undefined, api.organization);
    expectRefusal(renamed, "PERMISSION_DENIED", "the name of a verified group is set by the operator of the service");
    const own = await serve({ seed });
    const path = `${IAM}/groups/${own.organization}`;
    const both = await own.ok("PATCH", path, { body: { name: "other.example", verified: false } });
    expect(both).toMatchObject({ name: "other.example", verified: false });
  });

  test("outside the mask is ignored", async () => {
    expect((await patch({ verified: true, description: "new" }, "description")).json).toMatchObject({
      verified: false,
    });
  });
});

describe("a role", () => {
  const role = async () =>
    createRecord(api, "roles", api.organization, {
      name: "r",
      description: "d",
      capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST"],
    });

  test("cannot lose all of them", async () => {
    const { uid } = await role();
    for (const [body, query] of [
      [{ capabilities: [] }, {}],
      [{}, { updateMask: "capabilities" }],
      [{ name: "r" }, { updateMask: "*" }],
    ] as const)
      expectInvalid(await api.call("PATCH", `${IAM}/roles/${uid}`, { body, query }), {
        capabilities: "must have at least one capability",
      });
  });

  test("must hold internal when it gets a capability that is internal-only", async () => {
    const { uid } = await role();
    const change = { body: { capabilities: ["CAP_REX_CLASS_USE"] } };
    const answer = await api.call("PATCH", `${IAM}/roles/${uid}`, change);
    const description = "must contain internal, since it contains rex.class.use";
    expectInvalid(answer, { capabilities: description });
  });
});

test("a field that breaks a rule already is refused where the mask names it, and blocks no other change", () => {
  const current = { name: "OF A COPY" };
  const change = { name: "OF A COPY", description: "new" };
  expect(changeInput(Group, current, change, "description").next).toEqual(change);
  expect(() => changeInput(Group, current, change, "name")).toThrow(`name: ${NO_NAME}`);
});
