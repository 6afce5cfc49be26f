// Paths (docs/contract.md#paths): wildcards of several segments, `/` and `%2F`, and the empty parent. Verb suffixes and
// sub-paths win over the wildcard, and the path wins over the body.
import { describe, expect, test } from "vitest";
import { IAM, REGISTRY } from "../harness/api-server.ts";
import { expectInvalid, expectNotFound, expectRefusal } from "../support/refusal.ts";
import type { Fixture } from "./fixture.ts";
import { startFixture } from "./operation-case.ts";

const fixture: Fixture = await startFixture();

const NO_UID = "must be a uid: 40 hexadecimal digits, then / and 16 more for each level below";

describe("a wildcard takes several segments", () => {
  test.each([
    ["raw slashes", (uid: string) => uid],
    ["%2F for every slash", (uid: string) => uid.replaceAll("/", "%2F")],
    ["%2f in lower case", (uid: string) => uid.replaceAll("/", "%2f")],
    ["one slash of each kind", (uid: string) => uid.replace("/", "%2F")],
    ["digits that are percent-encoded", (uid: string) => uid.replace("0", "%30")],
  ])("with %s on every method", async (_, encode) => {
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
    ["half a percent sign", "%"],
    ["an encoded newline after a uid", "720909c9f5279097d847ad02a2f24ba8f59de36a%0A"],
    ["an encoded NUL", "720909c9f5279097d847ad02a2f24ba8f59de36a%00"],
    ["an empty segment at the end", "720909c9f5279097d847ad02a2f24ba8f59de36a/"],
    ["two slashes", "720909c9f5279097d847ad02a2f24ba8f59de36a//a033a6fabe0bfa0d"],
    ["a path with `..`", "720909c9f5279097d847ad02a2f24ba8f59de36a/.."],
    ["SQL", "x'%20OR%201=1--"],
  ])("refuses as a uid %s", async (_, text) => {
    expectInvalid(await fixture.api.call("GET", `${IAM}/groups/${text}`), { uid: NO_UID });
    expectInvalid(await fixture.api.call("DELETE", `${IAM}/identities/${text}`), { uid: NO_UID });
    expectInvalid(await fixture.api.call("POST", `${IAM}/roles/${text}`, { body: {} }), { parent: NO_UID });
  });
});

describe("the parent of a create", () => {
  test.each(["", "/"])("may be empty for a group: POST …/groups%s creates a root", async (slash) => {
    const { uid } = await fixture.api.ok("POST", `${IAM}/groups${slash}`, { body: { name: "root" } });
    expect(uid).toMatch(/^[0-9a-f]{40}$/);
  });

  test.each(["identities", "roles", "roleBindings"])("must not be empty for %s", async (kind) => {
    for (const slash of ["", "/"])
      expectInvalid(await fixture.api.call("POST", `${IAM}/${kind}${slash}`, { body: {} }), { parent: "is required" });
  });

  test("must not be empty for a batch", async () => {
    const answer = await fixture.api.call("POST", `${IAM}/roleBindings:batchCreate`, { body: { requests: [] } });
    expectInvalid(answer, { parent: "is required" });
  });
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

  test("a name that only begins like a collection is not found", async () => {
    const text = `there is no ${IAM}/groupsx`;
    expectRefusal(await fixture.api.call("GET", `${IAM}/groupsx`), "NOT_FOUND", text);
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
