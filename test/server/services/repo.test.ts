// The rules of repos (docs/internals/contract.md#repos): names unique in a group, values that the registry accepts, a deletion
// that includes the tags. And of tags (docs/internals/contract.md#tags): an upsert by name, and three kinds that a list leaves
// out.
import { describe, expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { IAM, REGISTRY, serve, shuffledIds } from "../../harness/api-server.ts";
import { createRecord, createUid, recordOf } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectInvalid, expectNotFound, expectRefusal, resourceInfo } from "../../support/refusal.ts";

const PATH = `${REGISTRY}/repos`;
// Only a seed can create and bind a role with capabilities that no caller holds.
const seed = parseSeed(
  `
organization: { name: acme }
roles: [{ name: writer, capabilities: [internal, repo.internal.admin, repo.update, repo.list] }]
identities: [{ name: writer, claimMatch: { issuer: dev-issuer, subject: writer } }]
bindings: [{ identity: writer, role: writer }]
`,
  "seed.yaml",
);
const api = await serve({ seed, ids: shuffledIds(31) });
const { identities } = await api.ok("GET", `${IAM}/identities`, { query: { name: "writer" } });
const token: string = await api.token(identities[0].uid, { subject: "writer" });
const eng: string = await createUid(api, "groups", api.organization, { name: "eng" });

let count = 0;
const create = (body: Body = {}, parent = eng) =>
  api.call("POST", `${PATH}/${parent}`, { body: { name: `repo-${++count}`, ...body } });
const createdRecord = (body: Body = {}, parent = eng) => recordOf(create(body, parent));
const patch = (uid: string, body: Body, updateMask?: string) =>
  api.call("PATCH", `${PATH}/${uid}`, { body, query: { updateMask } });

test("a name is unique in a group: ALREADY_EXISTS names the repo that has it", async () => {
  const { uid, name } = await createdRecord();
  const details = [resourceInfo("Repo", uid)];
  const text = `the group ${eng} has a repo ${name} already`;
  expectRefusal(await create({ name }), "ALREADY_EXISTS", text, { details, domain: "registry" });
  const other = await createdRecord();
  expectRefusal(await patch(other.uid, { name }), "ALREADY_EXISTS", text, { details, domain: "registry" });
  expect(await api.ok("GET", `${PATH}/${other.uid}`)).toEqual(other);
});

test("a name is free in another group, and again once its repo is deleted", async () => {
  const { uid, name } = await createdRecord();
  expect((await create({ name }, api.organization)).status).toBe(200);
  await api.ok("DELETE", `${PATH}/${uid}`);
  expect((await createdRecord({ name })).uid).not.toBe(uid);
});

test("a name may be restated for its own repo", async () => {
  const { uid, name } = await createdRecord();
  expect((await patch(uid, { name, description: "d" })).json).toMatchObject({ name, description: "d" });
});

test("deleting a repo deletes its tags, and no others", async () => {
  const [gone, stays] = [await createdRecord(), await createdRecord()];
  const tag = (repo: Body) => createUid(api, "tags", repo.uid);
  const [goneTag, staysTag] = [await tag(gone), await tag(stays)];
  expect((await api.call("DELETE", `${PATH}/${gone.uid}`)).text).toBe("");
  expectNotFound(await api.call("GET", `${REGISTRY}/tags/${goneTag}`), "Tag", goneTag, "registry");
  expect((await api.call("GET", `${REGISTRY}/tags/${staysTag}`)).status).toBe(200);
  const { totalCount } = await api.ok("GET", `${REGISTRY}/tags`, { query: { "uidp.childrenOf": gone.uid } });
  expect(totalCount).toBe("0");
});

// The readme of a repo (docs/internals/contract.md#readme): who may change it, which Markdown is refused, and that a repo that syncs
// shows its source's.
const repo = async (body: Body = {}, parent = eng): Promise<string> => (await createdRecord(body, parent)).uid;
const write = (uid: string, body: Body, updateMask?: string) =>
  api.call("PATCH", `${PATH}/${uid}/readme`, { body, query: { updateMask }, token });
const read = (uid: string) => api.ok("GET", `${PATH}/${uid}/readme`);

describe("a readme", () => {
  test("is changed, which changes the repo", async () => {
    const uid = await repo();
    api.clock.advance(1000);
    const answer = await write(uid, { content: "# new\n\n*text*\n" });
    expect(answer.json).toEqual({ uid, content: "# new\n\n*text*\n" });
    expect(await read(uid)).toEqual(answer.json);
    const { updateTime } = await api.ok("GET", `${PATH}/${uid}`);
    expect(updateTime).toBe(new Date(api.clock()).toISOString());
  });

  test("is kept by an empty body, an empty mask and other fields", async () => {
    const uid = await repo();
    await write(uid, { content: "kept" });
    const before = await api.ok("GET", `${PATH}/${uid}`);
    api.clock.advance(1000);
    for (const answer of [
      await write(uid, {}),
      await write(uid, { content: "x" }, "uid"),
      await write(uid, { title: "x" }),
    ])
      expect(answer.json).toEqual({ uid, content: "kept" });
    expect(await api.ok("GET", `${PATH}/${uid}`)).toEqual(before);
  });

  test("is cleared by an empty text, by a mask and by full replacement", async () => {
    const uid = await repo();
    for (const [body, mask] of [
      [{ content: "" }, undefined],
      [{}, "content"],
      [{}, "*"],
    ] as const) {
      await write(uid, { content: "x" });
      expect((await write(uid, body, mask)).json).toEqual({ uid });
    }
  });

  test("survives a change of its repo, and is deleted with it", async () => {
    const uid = await repo();
    await write(uid, { content: "x" });
    await api.ok("PATCH", `${PATH}/${uid}`, { body: { description: "d" } });
    expect(await read(uid)).toEqual({ uid, content: "x" });
    const { items } = await api.ok("GET", "/registry/v1/repos", { query: { id: uid } });
    expect(items[0].readme).toBe("x");
    await api.ok("DELETE", `${PATH}/${uid}`);
    expectNotFound(await write(uid, { content: "x" }), "Repo", uid, "registry");
  });

  test("of a repo that syncs is its source's, and is changed there", async () => {
    const source = await repo();
    const uid = await repo({ sync_config: { source } });
    await write(source, { content: "theirs" });
    expect(await read(uid)).toEqual({ uid, content: "theirs" });
    expect((await write(uid, { content: "theirs" })).status).toBe(200);
    const description = "is inherited from the repo that this one syncs from and cannot be changed";
    expectInvalid(await write(uid, { content: "ours" }), { content: description }, "registry");
  });
});

describe("Markdown", () => {
  test.each<[string, string]>([
    ["text, lists, tables, code", "# a\n\n- b\n- [x] c\n\n| d | e |\n|:-:|---|\n| 1 | 2 |\n\n```c++\nint f();\n```\n"],
    ["HTML in code, which is text", "```html\n<script>alert(1)</script>\n```\n\n`<style>`"],
    ["angle brackets that are text", "a < b, c > d, x<y"],
    ["comments, which are places", "<!--monopod:start-->\ntext\n<!-- was: <script> -->\n<!--monopod:end-->"],
    ["what folds", "<details><summary>more</summary>\n\ntext\n\n</details>"],
    ["harmless elements in any spelling", "<BR><kbd title='x'>k</kbd> H<sub>2</sub>O &copy; &lt;script&gt;"],
    ["an element that its parent ends", "<p>one<p>two"],
    [
      "the published example of a safe one",
      '<!--testing:start-->\n# safe\n\n<img src="logo.png" width="36px" height="36px"/>\n\n[click here](./other.md)\n<!--testing:end-->\n\n---\n\n```go\nHello <STYLE>.XSS{background-image:url("javascript:alert(1)");}</STYLE><A CLASS=XSS></A>World\n```',
    ],
  ])("with %s is accepted, and stored unchanged", async (_, content) => {
    const uid = await repo();
    expect((await write(uid, { content })).json).toEqual({ uid, content });
  });

  test.each<[string, string, string]>([
    ["a script", "# x\n\n<script>alert(1)</script>", "<script>"],
    ["a script in upper case, cut in two", "<SCR<script>IPT>alert(1)</SCRIPT>", "<script>"],
    ["a style", 'Hello <STYLE>.XSS{background-image:url("javascript:x");}</STYLE><A CLASS=XSS></A>', "<style>"],
    ["a handler", "<img src=x onerror=alert(1)>", "onerror of <img>"],
    ["a style attribute", "<p style='x'>y</p>", "style of <p>"],
    ["vectors, which have elements of their own", "<svg><a href=x>y</a></svg>", "<svg>"],
    ["an unknown element", "<x-y>z</x-y>", "<x-y>"],
    ["a link to a script", "[x](javascript:alert(1))", "href of <a>"],
    ["a link to a script, in letters of code", "<a href='&#106;avascript&colon;alert(1)'>x</a>", "href of <a>"],
    ["a link to a script, with a line end in it", "<a href='java&#10;script:alert(1)'>x</a>", "href of <a>"],
    ["a link to data", "[x](data:text/html;base64,PHNjcmlwdD4=)", "href of <a>"],
    ["an image of data", "![x](data:image/svg+xml;base64,AAAA)", "src of <img>"],
    ["a link that is not a URL", "<a href='https://['>x</a>", "href of <a>"],
    ["a script after a comment that has ended for a browser", "<!--> <script>alert(1)</script> -->", "<script>"],
    ["a script after a comment that ends with a bang", "<!-- x --!> <script>alert(1)</script> -->", "<script>"],
    ["a comment that never ends", "text\n\n<!-- x", "an element or a comment that never ends"],
    ["an element that never ends", '<div>\ntext <b title="x', "an element or a comment that never ends"],
    ["a document type", "<!DOCTYPE html>", "<!doctype>"],
    ["a link to a script, with a tab that browsers drop", "[x](<java\tscript:alert(1)>)", "href of <a>"],
    ["a link to a script by reference", "[x]\n\n[x]: javascript:alert(1)", "href of <a>"],
  ])("with %s is refused", async (_, content, found) => {
    const uid = await repo();
    const answer = await write(uid, { content });
    const description = `readme contained unsafe html content: ${found}`;
    expectInvalid(answer, { content: description }, "registry");
    expect(await read(uid)).toEqual({ uid });
  });

  test.each<[string, string, string]>([
    ["quotes in quotes", "> ", ""],
    ["elements in elements", "<b>", ""],
    ["quotes in quotes, below which a script is out of sight", ">", "<script>alert(1)</script>"],
  ])("of %s is refused, however deep", async (_, step, end) => {
    const uid = await repo();
    const description = "must not be nested in 100 levels or more";
    for (const levels of [100, 40_000]) {
      const answer = await write(uid, { content: step.repeat(levels) + end });
      expectInvalid(answer, { content: description }, "registry");
    }
    expect((await write(uid, { content: step.repeat(40) })).status).toBe(200);
  });

  test.each([
    ["emphasis that never ends", "**a*b ", 200],
    ["brackets", "[", 200],
    ["images", "![", 200],
    ["comments that never end", "<!--", 400],
  ])("of four thousand of %s gets an answer", async (_, step, status) => {
    expect((await write(await repo(), { content: step.repeat(4000) })).status).toBe(status);
  });

  test("is at most 262144 characters", async () => {
    const uid = await repo();
    expect((await write(uid, { content: "x ".repeat(131_072) })).status).toBe(200);
    const answer = await write(uid, { content: "x ".repeat(131_073) });
    expect(answer.json.message).toBe("Invalid argument: content: must be at most 262144 characters");
  });
});

const TAGS = `${REGISTRY}/tags`;
const digest = (letter: string) => `sha256:${letter.repeat(64)}`;

const nginx = await repo({}, api.organization);
const createdTag = (fields: Body = {}, parent = nginx) =>
  createRecord(api, "tags", parent, { name: `v${++count}`, ...fields });

test("a tag that exists is moved: it keeps its uid, and gets the new fields and a new updateTime", async () => {
  const before = await createdTag({ deprecated: true, bundles: ["ai"] });
  api.clock.advance(1000);
  const after = await createdTag({ name: before.name, digest: digest("c") });
  const { uid, name } = before;
  expect(after).toEqual({ uid, name, digest: digest("c"), updateTime: new Date(api.clock()).toISOString() });
  expect(await api.ok("GET", `${TAGS}/${uid}`)).toEqual(after);
  const { totalCount } = await api.ok("GET", TAGS, { query: { name } });
  expect(totalCount).toBe("1");
});

test("a tag has a unique name in its repo: the same name in another repo is another tag", async () => {
  const other = await repo({}, api.organization);
  const [here, there] = [
    await createdTag({ name: "same" }),
    await createdTag({ name: "same", digest: digest("d") }, other),
  ];
  expect(here.uid).not.toBe(there.uid);
  expect((await api.ok("GET", `${TAGS}/${here.uid}`)).digest).toBe(digest("a"));
});

describe("a list of tags", async () => {
  const SHOWN =
    "latest 1.27 1.27-dev r1 20240131 1.27-2024013 1.27-19991231 1.27-r 1.27-r0-dev sha256 xsha256-ab".split(" ");
  const HIDDEN: Record<string, string[]> = {
    include_referrers: ["sha256-ab", "sha256-ab.sig"],
    include_dates: ["1.27-20240131", "latest-20991231"],
    include_epochs: ["1.27-r0", "1.27.1-r12"],
  };
  // Of two kinds at once: shown when both are requested.
  const TWICE = "sha256-ab-r1";
  const eng: string = await createUid(api, "groups", api.organization, { name: "eng" });
  const busy = await repo({}, eng);
  for (const name of [...SHOWN, ...Object.values(HIDDEN).flat(), TWICE]) {
    api.clock.advance(1);
    await createdTag({ name, digest: digest(name.includes("dev") ? "e" : "f") }, busy);
  }
  const names = async (query: Body): Promise<string[]> => {
    const page = await api.ok("GET", TAGS, { query: { "uidp.childrenOf": busy, page_size: 200, ...query } });
    expect(page.totalCount).toBe(String(page.tags.length));
    return page.tags.map(({ name }: Body) => name);
  };
  const sorted = (...lists: string[][]) => lists.flat().toSorted();

  test("leaves out referrers, dates and epochs, but not tags that only look like them", async () => {
    expect((await names({})).toSorted()).toEqual(sorted(SHOWN));
  });

  test.each(Object.entries(HIDDEN))("shows only those with %s", async (flag, hidden) => {
    expect((await names({ [flag]: true })).toSorted()).toEqual(sorted(SHOWN, hidden));
    expect((await names({ [flag]: false })).toSorted()).toEqual(sorted(SHOWN));
  });

  test("shows with all three everything", async () => {
    const all = { includeReferrers: true, includeDates: true, includeEpochs: true };
    expect((await names(all)).toSorted()).toEqual(sorted(SHOWN, ...Object.values(HIDDEN), [TWICE]));
    expect(await names({ includeReferrers: true, includeEpochs: true, name: TWICE })).toEqual([TWICE]);
  });

  test.each<[string, Body, string[]]>([
    ["an exact name", { name: "1.27" }, ["1.27"]],
    ["a digest", { digest: digest("e") }, ["1.27-dev", "1.27-r0-dev"]],
  ])("by %s", async (_, query, expected) => expect((await names(query)).toSorted()).toEqual(expected));

  test("of tags updated after a time leaves out those of exactly that time", async () => {
    const { tags } = await api.ok("GET", TAGS, {
      query: { "uidp.childrenOf": busy, order_by: "updated_at", page_size: 200 },
    });
    for (const i of [0, 4, tags.length - 1]) {
      const updated_since = tags[i].updateTime;
      const expected = tags.slice(i + 1).map(({ name }: Body) => name);
      expect(await names({ updated_since, order_by: "updated_at" })).toEqual(expected);
    }
    const offset = tags[4].updateTime.replace("Z", "+00:00");
    expect(await names({ updatedSince: offset })).toHaveLength(tags.length - 5);
  });

  test.each<[string, () => Body, boolean]>([
    ["everything below the group of the repo", () => ({ "uidp.descendantsOf": eng }), true],
    ["what is directly in a group: no tag is", () => ({ "uidp.childrenOf": eng }), false],
  ])("by place: %s", async (_, place, found) => {
    const query = { name: "1.27-dev", digest: digest("e"), ...place() };
    expect((await api.ok("GET", TAGS, { query })).totalCount).toBe(found ? "1" : "0");
  });
});
