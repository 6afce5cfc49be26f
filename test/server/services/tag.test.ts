// The rules of tags (docs/contract.md#tags): an upsert by name, and three kinds that a list leaves out.
import { describe, expect, test } from "vitest";
import { REGISTRY, serve, shuffledIds } from "../../harness/api-server.ts";
import { createUid, recordOf } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";

const PATH = `${REGISTRY}/tags`;
const digest = (letter: string) => `sha256:${letter.repeat(64)}`;

const newRepo = (parent: string, name: string): Promise<string> => createUid(api, "repos", parent, { name });
let count = 0;
const create = (body: Body = {}, parent = repo) =>
  api.call("POST", `${PATH}/${parent}`, { body: { name: `v${++count}`, digest: digest("a"), ...body } });
const createdRecord = (body: Body = {}, parent = repo) => recordOf(create(body, parent));

const api = await serve({ ids: shuffledIds(31) });
const repo: string = await newRepo(api.organization, "nginx");

test("a tag that exists is moved: it keeps its uid, and gets the new fields and a new updateTime", async () => {
  const before = await createdRecord({ deprecated: true, bundles: ["ai"] });
  api.clock.advance(1000);
  const after = await createdRecord({ name: before.name, digest: digest("c") });
  const { uid, name } = before;
  expect(after).toEqual({ uid, name, digest: digest("c"), updateTime: new Date(api.clock()).toISOString() });
  expect(await api.ok("GET", `${PATH}/${uid}`)).toEqual(after);
  const { totalCount } = await api.ok("GET", PATH, { query: { name } });
  expect(totalCount).toBe("1");
});

test("a tag has a unique name in its repo: the same name in another repo is another tag", async () => {
  const other = await newRepo(api.organization, "curl");
  const [here, there] = [
    await createdRecord({ name: "same" }),
    await createdRecord({ name: "same", digest: digest("d") }, other),
  ];
  expect(here.uid).not.toBe(there.uid);
  expect((await api.ok("GET", `${PATH}/${here.uid}`)).digest).toBe(digest("a"));
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
  const busy: string = await newRepo(eng, "busy");
  for (const name of [...SHOWN, ...Object.values(HIDDEN).flat(), TWICE]) {
    api.clock.advance(1);
    await createdRecord({ name, digest: digest(name.includes("dev") ? "e" : "f") }, busy);
  }
  const names = async (query: Body): Promise<string[]> => {
    const page = await api.ok("GET", PATH, { query: { "uidp.childrenOf": busy, page_size: 200, ...query } });
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
  ])("by %s", async (_, query, expected) => {
    expect((await names(query)).toSorted()).toEqual(expected);
  });

  test("of tags updated after a time leaves out those of exactly that time", async () => {
    const { tags } = await api.ok("GET", PATH, {
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
    expect((await api.ok("GET", PATH, { query })).totalCount).toBe(found ? "1" : "0");
  });
});
