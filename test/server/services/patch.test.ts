// PATCH (docs/contract.md#updates, docs/contract.md#d18, AIP-134): which fields change. test/schema/update-mask.test.ts has the masks.
import { beforeEach, describe, expect, test } from "vitest";
import { Group } from "../../../schema/index.ts";
import { parseSeed } from "../../../server/index.ts";
import { changeInput } from "../../../server/services/record.ts";
import { IAM, ownKeys, serve } from "../../harness/api-server.ts";
import { createRecord, recordOf } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectInvalid, expectRefusal, NO_NAME } from "../../support/refusal.ts";

const seed = parseSeed("organization: { name: acme, verified: true, kind: ORG_KIND_CUSTOMER }", "seed.yaml");
let group: Body;
const api = await serve({ seed });
const root = api.organization;
beforeEach(async () => {
  group = await createRecord(api, "groups", api.organization, { name: "before", description: "d" });
});

const patch = (body: Body, updateMask?: string, uid = group.uid) =>
  api.call("PATCH", `${IAM}/groups/${uid}`, { body, query: { updateMask } });
const ok = (...change: Parameters<typeof patch>): Promise<Body> => recordOf(patch(...change));
const stored = () => api.ok("GET", `${IAM}/groups/${group.uid}`);

test("a field outside of a mask is neither applied nor validated", async () => {
  const json = await ok({ name: "NOT A NAME", description: "new" }, "description");
  expect(json).toEqual({ ...group, description: "new" });
  expect(await stored()).toEqual(json);
});

const KIND = { kind: "cannot be changed by this request; name it in updateMask on a root group" };

test("the wildcard on a group is full replacement of name, description and verified", async () => {
  expect(await ok({ name: "after" }, "*")).toEqual({ ...group, name: "after", description: "" });
});

test("the wildcard on a group keeps kind and status, accepts them restated, and does not change the kind", async () => {
  for (const kind of [undefined, "ORG_KIND_CUSTOMER"]) {
    const json = await ok({ name: "acme", verified: true, kind, status: "ORG_STATUS_SUSPENDED" }, "*", root);
    expect(json).toMatchObject({ name: "acme", kind: "ORG_KIND_CUSTOMER", verified: true });
    expect(json).not.toHaveProperty("status");
  }
  expectInvalid(await patch({ name: "acme", kind: "ORG_KIND_DEV" }, "*", root), KIND);
});

test("the kind of a group takes effect only when it is named, and below the root is inherited", async () => {
  const ignored = await ok({ kind: "ORG_KIND_DEV", description: "x" }, "description", root);
  expect(ignored.kind).toBe("ORG_KIND_CUSTOMER");
  expect((await ok({ kind: "ORG_KIND_DEV" }, "kind", root)).kind).toBe("ORG_KIND_DEV");
  expect((await stored()).kind).toBe("ORG_KIND_DEV");
  await ok({ kind: "ORG_KIND_CUSTOMER" }, "kind", root);
});

test("the kind of a group is not changed below the root", async () => {
  expectInvalid(await patch({ kind: "ORG_KIND_DEV" }), KIND);
  expectInvalid(await patch({ kind: "ORG_KIND_DEV" }, "kind"), KIND);
  await ok({ kind: "ORG_KIND_UNSPECIFIED", description: "new" });
});

test("verified is set by the operator only, and may be restated", async () => {
  const answer = await patch({ verified: true });
  expectRefusal(answer, "PERMISSION_DENIED", "verified is set by the operator of the service");
  expect((await stored()).verified).toBe(false);
  await ok({ verified: true, description: "x" }, undefined, root);
  await ok({ verified: false });
});

test("verified belongs to the name: a rename requires giving it up", async () => {
  const renamed = await patch({ name: "other.example" }, undefined, root);
  expectRefusal(renamed, "PERMISSION_DENIED", "the name of a verified group is set by the operator of the service");
  const own = await serve({ seed });
  const path = `${IAM}/groups/${own.organization}`;
  const both = await own.ok("PATCH", path, { body: { name: "other.example", verified: false } });
  expect(both).toMatchObject({ name: "other.example", verified: false });
});

test("a field that breaks a rule already is refused where the mask names it, and blocks no other change", () => {
  const current = { name: "OF A COPY" };
  const change = { name: "OF A COPY", description: "new" };
  expect(changeInput(Group, current, change, "description").next).toEqual(change);
  expect(() => changeInput(Group, current, change, "name")).toThrow(`name: ${NO_NAME}`);
});

describe("an identity", () => {
  const AWS = { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/r", userId: "u" };
  const ONE = { claimMatch: "one of claimMatch, staticKeys, awsIdentity, servicePrincipal must be set" };
  const identity = (fields?: Body) => createRecord(api, "identities", root, fields);
  const change = (uid: string, body: Body, updateMask?: string) =>
    api.call("PATCH", `${IAM}/identities/${uid}`, { body, query: { updateMask } });
  const shown = (uid: string) => api.ok("GET", `${IAM}/identities/${uid}`);

  test("switches its relationship to AWS, to keys and back, and the exchange follows", async () => {
    const { claimMatch: _, ...rest } = await identity({ description: "d" });
    expect((await change(rest.uid, { awsIdentity: AWS })).json).toEqual({ ...rest, awsIdentity: AWS });
    const staticKeys = { issuer: "https://keys.example", subject: "k", issuerKeys: ownKeys() };
    const keyed = { staticKeys: { ...staticKeys, expirationTime: "2027-01-28T12:54:21.189Z" } };
    expect((await change(rest.uid, { staticKeys })).json).toEqual({ ...rest, ...keyed });
    const claimMatch = { issuer: api.issuer, subject: "back" };
    expect((await change(rest.uid, { claimMatch })).json).toEqual({ ...rest, claimMatch });
    expect(await api.token(rest.uid, { subject: "back" })).toMatch(/^ey/);
  });

  test("cannot lose a member that it needs, whichever of a oneof is set", async () => {
    const byPattern = { issuerPattern: "https://.*", subjectPattern: "s" };
    const { uid } = await identity({ claimMatch: byPattern });
    const text = "one of issuer, issuerPattern must be set";
    expectInvalid(await change(uid, {}, "claimMatch.issuerPattern"), { "claimMatch.issuer": text });
    expect((await shown(uid)).claimMatch).toEqual(byPattern);
    const aws = await identity({ awsIdentity: AWS });
    expectInvalid(await change(aws.uid, {}, "awsIdentity"), ONE);
    expectInvalid(await change(aws.uid, { awsIdentity: null }), ONE);
    expect(await shown(aws.uid)).toEqual(aws);
  });

  test("is changed by the rules by which it is created", async () => {
    const own = await identity();
    const text = "must not be the issuer of this service";
    expectInvalid(await change(own.uid, { claimMatch: { issuer: api.baseUrl } }), { "claimMatch.issuer": text });
    const { json } = await change(own.uid, { claimMatch: { subjectPattern: "(" } });
    expect(json.message).toMatch(/^Invalid argument: claimMatch\.subjectPattern: must be an RE2 pattern: /);
    expect(await shown(own.uid)).toEqual(own);
  });
});

test("a role binding changes its role and keeps its identity, and the other way round", async () => {
  const link = { identityUid: api.identity, roleUid: await api.role("viewer") };
  const binding = await createRecord(api, "roleBindings", root, link);
  const change = (body: Body) => api.ok("PATCH", `${IAM}/roleBindings/${binding.uid}`, { body });
  const roleUid = await api.role("editor");
  const role = { uid: roleUid, name: "editor", description: "Built-in role: editor" };
  expect(await change({ roleUid })).toEqual({ ...binding, role });
  const identityUid = (await api.actor("other")).uid;
  expect(await change({ identityUid })).toMatchObject({ identity: { uid: identityUid }, role });
});
