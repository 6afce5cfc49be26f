// The rules of repos (docs/contract.md#repos): names unique in a group, values that the registry accepts, a deletion that
// includes the tags.

import { describe, expect, test } from "vitest";
import { REGISTRY, serve } from "../../harness/api-server.ts";
import { createUid, recordOf } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectInvalid, expectNotFound, expectRefusal, resourceInfo, type Violations } from "../../support/refusal.ts";

const PATH = `${REGISTRY}/repos`;
const BUNDLE =
  'only the following keywords are valid "^application$|^base$|^byol$|^ai$|^ai-gpu$|^featured$|^fips$|^commercial$|^emeritoss$"';
const ALIAS = String.raw`each alias must match "^[a-zA-Z0-9_.\-/]*[a-zA-Z0-9_.\-]:[a-zA-Z0-9_.\-]+$"`;
const TAG = 'tag must match "^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$"';
const REPO_NAME = "must be at most 255 characters without white space";
const api = await serve();
const eng: string = await createUid(api, "groups", api.organization, { name: "eng" });

let count = 0;
const create = (body: Body = {}, parent = eng) =>
  api.call("POST", `${PATH}/${parent}`, { body: { name: `repo-${++count}`, ...body } });
const createdRecord = (body: Body = {}) => recordOf(create(body));
const patch = (uid: string, body: Body, updateMask?: string) =>
  api.call("PATCH", `${PATH}/${uid}`, { body, query: { updateMask } });

const OVERLAY = {
  contents: {
    packages: ["curl"],
    runtimeRepositories: ["https://packages.example"],
    runtimeKeyring: [{ name: "k", content: "c" }],
  },
  environment: { HTTP_PROXY: "p", MY_CHAINGUARD_: "x" },
  annotations: { "com.example.team": "x", "org.opencontainer": "x" },
  accounts: {
    runAs: "65532",
    users: [{ username: "u", uid: 7, gid: 7, groupName: "g", shell: "/bin/sh", homeDir: "/" }],
    groups: [{ groupname: "g", gid: 7, members: ["u"] }],
  },
  certificates: { additional: [{ name: "ca", content: "c" }], providers: ["java"] },
};

describe("a repo", () => {
  test("is returned unchanged", async () => {
    const body = {
      name: "nginx",
      description: "A server",
      catalogTier: "CATALOG_TIER_APPLICATION",
      bundles: ["application", "base", "byol", "ai", "ai-gpu", "featured", "fips", "commercial", "emeritoss"],
      aliases: ["nginx:latest", "docker.io/library/nginx:1.27", "a_b.c-d:x"],
      activeTags: ["latest", "1.27", "_x"],
      customOverlay: OVERLAY,
    };
    const answer = await create(body);
    expect(answer.json).toEqual({
      uid: expect.stringMatching(`^${eng}/[0-9a-f]{16}$`),
      ...body,
      createTime: "2026-01-28T12:54:21.189Z",
      updateTime: "2026-01-28T12:54:21.189Z",
    });
    expect(await api.ok("GET", `${PATH}/${answer.json.uid}`)).toEqual(answer.json);
    expect((await api.ok("GET", PATH, { query: { name: "nginx" } })).repos).toEqual([answer.json]);
  });

  test.each<[string, Body, Violations]>([
    ["no name", { name: undefined }, { name: "is required" }],
    ["a name with a space", { name: "a b" }, { name: REPO_NAME }],
    ["a long name", { name: "a".repeat(256) }, { name: REPO_NAME }],
    ["an unknown bundle", { bundles: ["base", "gold"] }, { "bundles[1]": BUNDLE }],
    ["an alias without a tag", { aliases: ["nginx"] }, { "aliases[0]": ALIAS }],
    ["a tag that begins with a dot", { activeTags: [".x"] }, { "activeTags[0]": TAG }],
    [
      "a variable of the platform",
      { customOverlay: { environment: { A: "x", CHAINGUARD_X: "x" } } },
      { "customOverlay.environment": 'must have no key that begins with "CHAINGUARD_"' },
    ],
    [
      "annotations of the platform and of the OCI",
      { customOverlay: { annotations: { "dev.chainguard.x": "x" } } },
      { "customOverlay.annotations": 'must have no key that begins with "dev.chainguard." or "org.opencontainers."' },
    ],
  ])("is refused with %s", async (_, body, violations) => {
    expectInvalid(await create(body), violations, "registry");
  });
});

describe("a name", () => {
  test("is unique in a group: ALREADY_EXISTS names the repo that has it", async () => {
    const { uid, name } = await createdRecord();
    const details = [resourceInfo("Repo", uid)];
    const text = `the group ${eng} has a repo ${name} already`;
    expectRefusal(await create({ name }), "ALREADY_EXISTS", text, { details, domain: "registry" });
    const other = await createdRecord();
    expectRefusal(await patch(other.uid, { name }), "ALREADY_EXISTS", text, { details, domain: "registry" });
    expect(await api.ok("GET", `${PATH}/${other.uid}`)).toEqual(other);
  });

  test("is free in another group, and again once its repo is deleted", async () => {
    const { uid, name } = await createdRecord();
    expect((await create({ name }, api.organization)).status).toBe(200);
    await api.ok("DELETE", `${PATH}/${uid}`);
    expect((await createdRecord({ name })).uid).not.toBe(uid);
  });

  test("may be restated for its own repo", async () => {
    const { uid, name } = await createdRecord();
    expect((await patch(uid, { name, description: "d" })).json).toMatchObject({ name, description: "d" });
  });
});

test("deleting a repo deletes its tags, and no others", async () => {
  const [gone, stays] = [await createdRecord(), await createdRecord()];
  const digest = `sha256:${"a".repeat(64)}`;
  const tag = (repo: Body) => createUid(api, "tags", repo.uid, { name: "latest", digest });
  const [goneTag, staysTag] = [await tag(gone), await tag(stays)];
  expect((await api.call("DELETE", `${PATH}/${gone.uid}`)).text).toBe("");
  expectNotFound(await api.call("GET", `${REGISTRY}/tags/${goneTag}`), "Tag", goneTag, "registry");
  expect((await api.call("GET", `${REGISTRY}/tags/${staysTag}`)).status).toBe(200);
  const { totalCount } = await api.ok("GET", `${REGISTRY}/tags`, { query: { "uidp.childrenOf": gone.uid } });
  expect(totalCount).toBe("0");
});
