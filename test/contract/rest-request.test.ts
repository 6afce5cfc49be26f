// Requests of REST (docs/internals/contract.md#paths, docs/internals/contract.md#parameters). Paths: wildcards of several segments, `/` and
// `%2F`, the empty parent; verb suffixes and sub-paths win over the wildcard, and the path wins over the body. Query
// parameters: spellings, encodings, repeated keys, unknown and malformed ones. Bodies: no field twice, which another
// reader would read otherwise.
import { describe, expect, test } from "vitest";
import { type Operation, operations } from "../../schema/index.ts";
import { IAM, REGISTRY } from "../harness/api-server.ts";
import { badRequest, expectInvalid, expectNotFound, expectRefusal, NO_UID } from "../support/refusal.ts";
import { startFixture } from "./operation-case.ts";

const fixture = await startFixture();

test.each([
  ["raw slashes", (uid: string) => uid],
  ["%2F for every slash", (uid: string) => uid.replaceAll("/", "%2F")],
  ["one slash of each kind", (uid: string) => uid.replace("/", "%2F")],
  ["digits that are percent-encoded", (uid: string) => uid.replace("0", "%30")],
])("a wildcard takes several segments with %s on every method", async (_, encode) => {
  const { api, platform } = fixture;
  const path = `${IAM}/groups/${encode(platform)}`;
  expect((await api.ok("GET", path)).uid).toBe(platform);
  expect((await api.ok("PATCH", path, { body: {} })).uid).toBe(platform);
  const { uid } = await api.ok("POST", path, { body: { name: "below" } });
  expect(uid.startsWith(`${platform}/`)).toBe(true);
  expect((await api.call("DELETE", `${IAM}/groups/${encode(uid)}`)).status).toBe(200);
  expectNotFound(await api.call("GET", `${IAM}/groups/${uid}`), "Group", uid);
});

test.each([
  ["a uid of another kind of text", "not-a-uid"],
  ["broken percent-encoding", "%ff"],
  ["an encoded newline after a uid", "720909c9f5279097d847ad02a2f24ba8f59de36a%0A"],
  ["an empty segment at the end", "720909c9f5279097d847ad02a2f24ba8f59de36a/"],
  ["a path with `..`", "720909c9f5279097d847ad02a2f24ba8f59de36a/.."],
])("a wildcard refuses as a uid %s", async (_, text) => {
  expectInvalid(await fixture.api.call("GET", `${IAM}/groups/${text}`), { uid: NO_UID });
  expectInvalid(await fixture.api.call("DELETE", `${IAM}/identities/${text}`), { uid: NO_UID });
  expectInvalid(await fixture.api.call("POST", `${IAM}/roles/${text}`, { body: {} }), { parent: NO_UID });
});

test.each(["", "/"])(
  "the parent of a create may be empty for a group: POST …/groups%s creates a root",
  async (slash) => {
    const { uid } = await fixture.api.ok("POST", `${IAM}/groups${slash}`, { body: { name: "root" } });
    expect(uid).toMatch(/^[0-9a-f]{40}$/);
  },
);

test.each(["identities", "roles", "roleBindings"])("the parent of a create must not be empty for %s", async (kind) => {
  for (const slash of ["", "/"])
    expectInvalid(await fixture.api.call("POST", `${IAM}/${kind}${slash}`, { body: {} }), { parent: "is required" });
});

describe("what wins", () => {
  test("a verb of a collection wins over the wildcard", async () => {
    const { api, identity } = fixture;
    const query = { issuer: "https://issuer.example", subject: "ci" };
    expect(await api.ok("GET", `${IAM}/identities:lookupIdentity`, { query })).toEqual({ uid: identity });
  });

  test("a verb of a record wins over the wildcard, but not for its other methods", async () => {
    const { api, eng } = fixture;
    expectRefusal(
      await api.call("POST", `${IAM}/groups/${eng}:requestGroupAccess`, { body: { name: "x" } }),
      "UNIMPLEMENTED",
      "RequestGroupAccess is not served here",
    );
    const get = await api.call("GET", `${IAM}/groups/${eng}:requestGroupAccess`);
    const text = "GET is not a method of this path; it takes POST";
    expectRefusal(get, "UNIMPLEMENTED", text, { http: 405 });
  });

  test("a sub-path wins over the wildcard", async () => {
    const { api, repo } = fixture;
    expect(await api.ok("GET", `${REGISTRY}/repos/${repo}/readme`)).toMatchObject({ uid: repo });
    const size = await api.call("GET", `${REGISTRY}/repos/${repo}/digests/sha256:ab/size`);
    expectRefusal(size, "UNIMPLEMENTED", "GetSize is not served here", { domain: "registry" });
  });

  test("the uid of the path wins over a uid in the body", async () => {
    const { api, platform, eng } = fixture;
    const changed = await api.ok("PATCH", `${IAM}/groups/${platform}`, { body: { uid: eng, description: "mine" } });
    expect(changed).toMatchObject({ uid: platform, description: "mine" });
    expect(await api.ok("GET", `${IAM}/groups/${eng}`)).toMatchObject({ description: "" });
  });

  test("the parent of the path wins over one in the query", async () => {
    const { api, platform, eng } = fixture;
    const query = { parent: eng };
    const made = await api.ok("POST", `${IAM}/groups/${platform}`, { query, body: { name: "here" } });
    expect(made.uid.startsWith(`${platform}/`)).toBe(true);
    const root = await api.ok("POST", `${IAM}/groups`, { query, body: { name: "root" } });
    expect(root.uid).toMatch(/^[0-9a-f]{40}$/);
  });

  test("a field of the resource in the query does not change the body", async () => {
    const { api, platform } = fixture;
    const before = await api.ok("GET", `${IAM}/groups/${platform}`);
    const query = { "group.name": "hijacked", "group.description": "hijacked" };
    expect(await api.ok("PATCH", `${IAM}/groups/${platform}`, { query, body: {} })).toEqual(before);
  });
});

const names = async (target: string) => {
  const { repos } = await fixture.api.ok("GET", `${REGISTRY}/repos?${target}`);
  return repos.map(({ name }: { name: string }) => name);
};

test.each([
  ["%20", "order_by=name%20desc"],
  ["+", "order_by=name+desc"],
  ["several of them", "orderBy=%20name++desc%20"],
])("order_by accepts a space as %s", async (_, target) => {
  expect(await names(target)).toEqual(["ruby", "nginx", "curl"]);
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

test.each([
  ["an unknown key is ignored", "colour=blue&uidp=x&uidp.colour=x&pagesize=1&__proto__=x&constructor.name=x"],
  ["an empty value counts as absent", "page_size=&skip=&name=&page_token=&uidp.descendants_of=&uidp.children_of="],
])("%s", async (_, query) => {
  expect(await names(`${query}&order_by=name`)).toEqual(["curl", "nginx", "ruby"]);
  expect(await names(`${query}&order_by=`)).toEqual(["nginx", "curl", "ruby"]);
});

test.each([
  ["page_size=ten", "pageSize", "must be an integer of 32 bits"],
  ["page_size=2147483648", "pageSize", "must be an integer of 32 bits"],
  ["uidp.in_root=maybe", "uidp.inRoot", "must be a boolean"],
  ["uidp.childrenOf=*", "uidp.childrenOf", "must be a uid"],
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

const withBody = Object.entries(operations as Record<string, Operation>).filter(([, row]) => row.body);

const targetOf = ({ path }: Operation) =>
  path.replace("{version}", "v2beta1").replace(/\{[^}]+\}/g, () => fixture.organization);

const domain = ({ service }: Operation) => (service.startsWith("registry.") ? "registry" : "iam");

test.each(withBody)("%s refuses a duplicate name, known or not, at any depth", async (_, row) => {
  const body = '{"x":1,"x":2,"y":[{"z":null,"z":null}]}';
  const answer = await fixture.api.call(row.method, targetOf(row), { body });
  const details = [badRequest({ x: "must be given once", "y[0].z": "must be given once" })];
  expectRefusal(answer, "INVALID_ARGUMENT", "x: must be given once", { details, domain: domain(row) });
});

test("a body with a field in both spellings is refused", async () => {
  const body = { name: "a", servicePrincipal: null, service_principal: 1 };
  const answer = await fixture.api.call("POST", `${IAM}/identities/${fixture.organization}`, { body });
  expectInvalid(answer, { servicePrincipal: "must be given once" });
});

test("a body over 64 KiB is refused without the path of the duplicate name", async () => {
  const body = `{"name":"a","name":"b","description":"${"x".repeat(64 * 1024)}"}`;
  const answer = await fixture.api.call("POST", `/iam/v2beta1/groups/${fixture.organization}`, { body });
  expectInvalid(answer, { "": "the body gives a field twice" });
});

test("each service has methods with a body", () => {
  expect(new Set(withBody.map(([, row]) => domain(row)))).toEqual(new Set(["iam", "registry"]));
});
