// Query parameters (docs/contract.md#parameters): spellings, encodings, repeated keys, unknown and malformed ones.
import { describe, expect, test } from "vitest";
import { IAM, REGISTRY } from "../harness/api-server.ts";
import { expectInvalid } from "../support/refusal.ts";
import type { Fixture } from "./fixture.ts";
import { startFixture } from "./operation-case.ts";

const fixture: Fixture = await startFixture();

const names = async (target: string) => {
  const { repos } = await fixture.api.ok("GET", `${REGISTRY}/repos?${target}`);
  return repos.map(({ name }: { name: string }) => name);
};

describe("the hierarchy filter is accepted in both spellings", () => {
  test.each([
    ["uidp.descendants_of", ["nginx", "curl", "ruby"]],
    ["uidp.descendantsOf", ["nginx", "curl", "ruby"]],
    ["uidp.children_of", ["nginx", "curl", "ruby"]],
    ["uidp.childrenOf", ["nginx", "curl", "ruby"]],
    ["uidp.ancestors_of", []],
    ["uidp.ancestorsOf", []],
  ])("%s", async (key, expected) => {
    expect(await names(`${key}=${fixture.eng}&order_by=uid`)).toEqual(expected);
    expect(await names(`${key}=${encodeURIComponent(fixture.eng)}&order_by=uid`)).toEqual(expected);
  });

  test.each([
    ["uidp.in_root=true", []],
    ["uidp.inRoot=true", []],
    ["uidp.inRoot=false", ["nginx", "curl", "ruby"]],
  ])("%s", async (target, expected) => {
    expect(await names(target)).toEqual(expected);
  });
});

describe("order_by accepts a space as", () => {
  test.each([
    ["%20", "order_by=name%20desc"],
    ["+", "order_by=name+desc"],
    ["several of them", "orderBy=%20name++desc%20"],
  ])("%s", async (_, target) => {
    expect(await names(target)).toEqual(["ruby", "nginx", "curl"]);
  });
});

test("a repeated key is a list, and a comma does not separate", async () => {
  const { api, eng, platform } = fixture;
  const path = `${IAM}/groups?`;
  const { totalCount } = await api.ok("GET", `${path}uidp.ids=${eng}&uidp.ids=${platform}`);
  expect(totalCount).toBe("2");
  const text = `${eng},${platform}`;
  expectInvalid(await api.call("GET", `${path}uidp.ids=${text}`), { "uidp.ids[0]": "must be a uid" });
});

test("a key that is not a list must be given once, in either spelling", async () => {
  const twice = [`${IAM}/groups?page_size=1&page_size=2`, `${IAM}/groups?pageSize=1&pageSize=1`];
  for (const target of twice) expectInvalid(await fixture.api.call("GET", target), { pageSize: "must be given once" });
});

test("unknown keys are ignored", async () => {
  expect(
    await names("colour=blue&uidp=x&uidp.colour=x&pagesize=1&__proto__=x&constructor.name=x&order_by=name"),
  ).toEqual(["curl", "nginx", "ruby"]);
});

test("an empty value counts as absent", async () => {
  const target = "page_size=&skip=&name=&order_by=&page_token=&uidp.descendants_of=&uidp.children_of=";
  expect(await names(target)).toEqual(["nginx", "curl", "ruby"]);
});

test("values may hold raw slashes and colons", async () => {
  const { api, identity } = fixture;
  const target = `${IAM}/identities:lookupIdentity?issuer=https://issuer.example&subject=ci`;
  expect(await api.ok("GET", target)).toEqual({ uid: identity });
});

test.each([
  ["page_size=ten", "pageSize", "must be an integer of 32 bits"],
  ["page_size=1.5", "pageSize", "must be an integer of 32 bits"],
  ["page_size=2147483648", "pageSize", "must be an integer of 32 bits"],
  ["skip=-1.0x", "skip", "must be an integer of 32 bits"],
  ["uidp.in_root=maybe", "uidp.inRoot", "must be a boolean"],
  ["uidp.descendants_of=x", "uidp.descendantsOf", "must be a uid"],
  ["uidp.childrenOf=*", "uidp.childrenOf", "must be a uid"],
  ["uidp.ancestors_of=/", "uidp.ancestorsOf", "must be a uid"],
])("a malformed value of a known field is refused: %s", async (target, field, description) => {
  expectInvalid(await fixture.api.call("GET", `${IAM}/groups?${target}`), { [field]: description });
});

test("all malformed values are reported at once", async () => {
  const answer = await fixture.api.call("GET", `${IAM}/groups?page_size=-1&skip=-2&order_by=colour&uidp.children_of=x`);
  expectInvalid(answer, {
    orderBy: "must be one of uid, name, create_time, update_time, optionally followed by asc or desc",
    pageSize: "must not be negative",
    skip: "must not be negative",
    "uidp.childrenOf": "must be a uid",
  });
});

test("an enum of a query is accepted by name and by number", async () => {
  const { api, eng } = fixture;
  for (const relationship of ["RELATIONSHIP_TYPE_CLAIM_MATCH", "1"]) {
    const query = { relationship_type: relationship, "uidp.children_of": eng };
    expect((await api.ok("GET", `${IAM}/identities`, { query })).totalCount).toBe("1");
  }
  const none = { relationshipType: "RELATIONSHIP_TYPE_STATIC", "uidp.children_of": eng };
  expect((await api.ok("GET", `${IAM}/identities`, { query: none })).totalCount).toBe("0");
  const unset = { relationshipType: "RELATIONSHIP_TYPE_UNSPECIFIED", "uidp.children_of": eng };
  expect((await api.ok("GET", `${IAM}/identities`, { query: unset })).totalCount).toBe("1");
  const answer = await api.call("GET", `${IAM}/identities?relationshipType=COLOUR`);
  expectInvalid(answer, { relationshipType: "is not a known value of its enum" });
});

test("a mask is accepted in both spellings of its key, with commas between its paths", async () => {
  const { api, platform } = fixture;
  for (const key of ["updateMask", "update_mask"]) {
    const body = { name: "platform", description: key, verified: true };
    const target = `${IAM}/groups/${platform}?${key}=name,description`;
    expect(await api.ok("PATCH", target, { body })).toMatchObject({ description: key, verified: false });
  }
});
