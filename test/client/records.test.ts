// Listing ends, whatever the service answers. The tests count requests, and use a clock that takes no real time.
import { expect, it } from "vitest";
import { listAll, listChildren } from "../../client/records.ts";
import type { HttpAnswer } from "../../client/transport.ts";
import type { Session } from "../../provider/run/session.ts";
import type { Json } from "../../schema/index.ts";
import { GROUP, json, ORG, ROLE, scriptedSession } from "../support/scripted.ts";

const GROUPS = { operation: "ListGroups", plural: "groups" } as const;
const MINUTE_MS = 60_000;

const groups = (from: number, count: number): Json[] =>
  Array.from({ length: count }, (_, at) => ({ uid: `${ORG}/${(from + at).toString(16).padStart(16, "0")}` }));

/** A service whose answer to the page of this number is made by `pageOf`; `tookMs` passes before each. */
const endless = (pageOf: (page: number) => Json, tookMs = 0) => {
  let page = 0;
  const step = (): HttpAnswer => {
    page += 1;
    scripted.clock.advance(tookMs);
    return json(pageOf(page));
  };
  const scripted = scriptedSession(step);
  return scripted;
};

const countListed = async (session: Session, meanwhile?: () => void): Promise<number> => {
  let count = 0;
  for await (const _ of listAll(session, GROUPS, { uidp: { childrenOf: ORG } })) {
    count += 1;
    meanwhile?.();
  }
  return count;
};

it("a list fetches no page before it is needed", async () => {
  const service = endless((page) => ({ groups: groups(page, 1), nextPageToken: `${page}` }));
  const list = listAll(service.session, GROUPS, {});
  expect(service.requests).toHaveLength(0);
  for (const count of [1, 2]) {
    await list.next();
    expect(service.requests).toHaveLength(count);
  }
});

const TWICE = "the service returned the same page token twice";
const threeFull = (page: number) => ({
  groups: page <= 3 ? groups(page * 200, 200) : [],
  nextPageToken: `${page}`,
});
it.each<[string, (page: number) => Json, number, string?]>([
  ["empty pages", (page) => ({ groups: [], nextPageToken: `${page}` }), 11],
  ["pages without the member", (page) => ({ nextPageToken: `${page}` }), 11],
  ["the first page again and again", (page) => ({ groups: groups(0, 2), nextPageToken: `${page}` }), 13],
  ["empty pages after three full ones", threeFull, 17],
  ["the same token for ever", () => ({ groups: [], nextPageToken: "2" }), 2, TWICE],
])("a list whose page tokens never end is soon an error for %s", async (_what, pageOf, requests, text = "") => {
  const service = endless(pageOf);
  await expect(countListed(service.session)).rejects.toThrow(`ListGroups: ${text}`);
  expect(service.requests).toHaveLength(requests);
});

it("a list whose page tokens never end reports which list it was, how far it came, and what to do", async () => {
  const { session } = endless((page) => ({ groups: groups(0, 2), nextPageToken: `${page}` }));
  await expect(countListed(session)).rejects.toThrow(
    `ListGroups: 12 of 13 pages contained nothing new, and the service names another one ` +
      `(uidp {"childrenOf":"${ORG}"}; 2 records so far). The list is incomplete, so it is not used. ` +
      "Run it again; if it happens again, the service, or a proxy or cache before it, gives wrong answers: " +
      "is irm:baseUrl (IRM_BASE_URL) the right address?",
  );
});

it("a list whose page tokens never end stops at a bound when new records never end", async () => {
  const { session, requests } = endless((page) => ({ groups: groups(page * 200, 200), nextPageToken: `${page}` }));
  const list = listAll(session, GROUPS, {}, 1_000);
  const all = async () => {
    for await (const _ of list);
  };
  await expect(all()).rejects.toThrow("ListGroups: more than 1000 records (1200 records so far)");
  expect(requests).toHaveLength(6);
});

it("a list without progress is given up after five minutes without a new record", async () => {
  const service = endless((page) => ({ groups: [], nextPageToken: `${page}` }), MINUTE_MS);
  await expect(countListed(service.session)).rejects.toThrow(
    "ListGroups: no new record for 300 seconds, and the service names another page",
  );
  expect(service.requests).toHaveLength(5);
});

it("a list without progress is given up after an hour, even if a record arrives now and then", async () => {
  const service = endless((page) => ({ groups: groups(page, 1), nextPageToken: `${page}` }), 4 * MINUTE_MS);
  await expect(countListed(service.session)).rejects.toThrow("ListGroups: not complete after 3600 seconds of waiting");
  expect(service.requests).toHaveLength(15);
});

it("a long list with progress is read to its end when an expired token restarts it in the middle", async () => {
  // Three days later each page is served once more, with nothing new until the walk is where it was.
  const numbers = [...Array.from({ length: 40 }, (_, at) => at), ...Array.from({ length: 60 }, (_, at) => at)];
  const service = endless((page) => ({
    groups: groups((numbers[page - 1] as number) * 10, 10),
    nextPageToken: page < numbers.length ? `${page}` : "",
  }));
  expect(await countListed(service.session)).toBe(600);
});

it("a long list with progress accepts a few empty pages between others (AIP-158)", async () => {
  const service = endless((page) => ({
    groups: page % 10 === 0 ? groups(page, 1) : [],
    nextPageToken: page < 10 ? `${page}` : "",
  }));
  expect(await countListed(service.session)).toBe(1);
});

it("a long list with progress does not count the time that the program spends on a record", async () => {
  const service = endless((page) => ({ groups: groups(page, 1), nextPageToken: page < 5 ? `${page}` : "" }));
  expect(await countListed(service.session, () => service.clock.advance(60 * MINUTE_MS))).toBe(5);
});

it.each([
  ["of a group", ORG, [GROUP]],
  ["of the root", "", [ROLE]],
])("where a filter is ignored, a list of children %s has them alone", async (_where, parent, expected) => {
  const uids = [GROUP, `${GROUP}/1111111111111111`, ROLE, `${ROLE}/1111111111111111`];
  const { session } = scriptedSession(() => json({ roles: uids.map((uid) => ({ uid, name: "viewer" })) }));
  const found: string[] = [];
  for await (const { uid } of listChildren(session, { operation: "ListRoles", plural: "roles" }, parent))
    found.push(uid);
  expect(found).toEqual(expected);
});
