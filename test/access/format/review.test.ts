// A report for people: Markdown and the terminal.
import { describe, expect, test } from "vitest";
import { documentAsText } from "../../../access/format/document/terminal.ts";
import { reviewAsHtml } from "../../../access/format/html/review.ts";
import { reportAsJson, reviewDocument } from "../../../access/format/review/document.ts";
import { type AccessGraph, type GraphBuilder, newGraph } from "../../../access/graph/graph.ts";
import { type IdentityReview, Report } from "../../../access/review/report.ts";
import { createRandom } from "../../support/random.ts";
import { addGroup, addProvider, addRole, OKTA, ROOT, uidIn } from "../graphs.ts";
import { asMarkdown, asText, EMPTY_REPORT, inEveryFormat, reviewBetween, smallReview } from "./reviews.ts";

const edit = (): Report => smallReview().report;

const identity = (name: string, capability = "repo.list"): IdentityReview => ({
  uid: null,
  name,
  groupName: "team",
  change: "created",
  gains: [{ group: null, groupName: "team", capability, role: "viewer" }],
  losses: [],
  assumableBefore: null,
  assumableAfter: null,
  before: null,
  after: null,
});

const ATTACK = 'x`|<img src=x onerror=alert(1)>\n@everyone [a](http://evil) \u001b[31m\u202e\u200b </details> #1"';

const hostileReport = (): Report => ({
  ...EMPTY_REPORT,
  identities: [
    {
      ...identity(ATTACK),
      groupName: ATTACK,
      after: { text: ATTACK, patterns: [{ claim: ATTACK, pattern: ATTACK, matches: [ATTACK], differs: [ATTACK] }] },
      assumableAfter: { a: 1 },
    },
  ],
  findings: [{ rule: "gains-owner", subject: ATTACK, name: ATTACK, message: ATTACK }],
  unknown: [{ subject: ATTACK, message: ATTACK }],
  undeclared: [
    { binding: ATTACK, group: ATTACK, groupName: ATTACK, identity: ATTACK, identityName: ATTACK, role: ATTACK },
  ],
});

/** Markdown without its code. */
const outsideCode = (text: string): string =>
  text.replace(/<code>.*?<\/code>/g, "").replace(/(`+)(?!`)[^\n]*?[^`]\1(?!`)/g, "");

const controlsIn = (text: string): string[] => ["\u001b", "\u202e", "\u200b"].filter((one) => text.includes(one));

describe("Markdown", () => {
  test("is the same for the same report, and says first who gains and loses", () => {
    const text = asMarkdown(edit());
    expect(asMarkdown(edit())).toBe(text);
    expect(text.split("\n", 1)[0]).toBe(
      "## Change in access of `acme` by this program: 1 identity: who can assume it changes, 2 identities gain access, 1 subject without an identity gains access, 1 identity loses access, 1 subject without an identity loses access, 1 group is deleted, 1 step fails, 1 other error, 1 row differs, 1 record is taken over; 5 findings, 1 denied",
    );
  });

  test("keeps texts of others in code, where they are neither markup nor mention", () => {
    const text = asMarkdown(hostileReport());
    const outside = outsideCode(text);
    for (const part of ["<img", "@everyone", "http://evil", "\u001b", "\u202e", "</details> #1"])
      expect(outside).not.toContain(part);
    expect(controlsIn(text)).toEqual([]);
    // Each finding stays one item.
    expect(text.split("\n").filter((line) => line.startsWith("- :warning:"))).toHaveLength(1);
  });

  test.each([1, 7, 42])("is under 60,000 bytes at any size, and counts what is left out (seed %i)", (seed) => {
    const random = createRandom(seed);
    const many = (count: number) => Array.from({ length: count }, (_, i) => `${i} ${random.hex(20)}é|\``);
    const report: Report = {
      ...EMPTY_REPORT,
      identities: many(3_000).map((name) => identity(name)),
      findings: many(2_000).map((name) => ({ rule: "gains-owner", subject: name, name, message: name.repeat(9) })),
      unknown: many(5_000).map((name) => ({ subject: name, message: name })),
      notVisible: many(500).map((name) => ({ kind: "role", group: name, groupName: name, message: name })),
      undeclared: many(10_000).map((name) => ({
        ...{ binding: name, group: name, groupName: name, identity: name, identityName: name, role: name },
      })),
    };
    const text = asMarkdown(report);
    expect(Buffer.byteLength(text)).toBeLessThan(60_000);
    const shown = text.split("<details><summary><code>").length - 1;
    const omitted = Array.from(text.matchAll(/(\d+) entries left out here; `--format json` has all/g), (one) =>
      Number(one[1]),
    );
    expect(omitted).toHaveLength(5);
    expect(omitted).toContain(3_000 - shown);
  });

  test("what is not known stands open, and what the caller cannot see is folded", () => {
    const unknown = [{ subject: "ci", message: "which role it gets is secret" }];
    const notVisible = [{ kind: "role", group: "g", groupName: "platform", message: "roles cannot be listed" }];
    const text = asMarkdown({ ...EMPTY_REPORT, unknown, notVisible });
    expect(text).toContain("### Not known (1)\n\n- `which role it gets is secret`\n");
    expect(text).toContain("<details><summary>Not visible to the caller");
  });

  test("one identity that is too large is left out, and counted", () => {
    const long = {
      ...identity("long"),
      gains: Array.from({ length: 400 }, (_, i) => ({
        group: null,
        groupName: `g${i} ${"é".repeat(2000)}`,
        capability: "repo.list",
        role: "viewer",
      })),
    };
    const text = asMarkdown({
      ...EMPTY_REPORT,
      identities: [long, ...Array.from({ length: 999 }, (_, i) => ({ ...long, name: `n${i}` }))],
    });
    expect(Buffer.byteLength(text)).toBeLessThan(60_000);
  });
});

describe("the terminal", () => {
  test("wraps at its width, and has colours only where they are wanted", () => {
    const report = edit();
    const narrow = asText(report, 60).split("\n");
    const long = narrow.filter(
      (line) => line.length > 60 && line.trim().split(" ").length > 3 && !/[0-9a-f]{40}/.test(line),
    );
    expect(long).toEqual([]);
    expect(narrow.join("")).not.toContain("\u001b");
    expect(documentAsText(reviewDocument(report), { color: true, width: 60 })).toContain("\u001b[");
  });

  test("shows no control characters of others", () => {
    expect(controlsIn(asText(hostileReport(), 80))).toEqual([]);
  });

  test("says that nothing changes, and not so where something cannot be seen", () => {
    expect(asText(EMPTY_REPORT, 80)).toContain("no change; 0 findings");
    const hidden = { ...EMPTY_REPORT, unknown: [{ subject: "", message: "x" }] };
    expect(asText(hidden, 80)).toContain("no change that this review can see");
  });
});

test("JSON is the report, as its schema has it, with who can assume each identity before and after", () => {
  const report = edit();
  const printed = Report.parse(JSON.parse(reportAsJson(report)));
  const bare = printed.identities.map(({ assumable: _, changed: __, ...identity }) => identity);
  expect({ ...printed, identities: bare }).toEqual(report);
  const reassumed = printed.identities.filter(({ changed }) => changed);
  expect(reassumed.map(({ name }) => name)).toEqual(["release"]);
  const [one] = reassumed;
  expect(one?.assumable).toEqual({ before: one?.assumableBefore, after: one?.assumableAfter });
});

test("every format is the same whatever the order of the API's lists (seed 11)", () => {
  const random = createRandom(11);
  const { before, after } = smallReview();
  const shuffled = (graph: AccessGraph): GraphBuilder =>
    newGraph(
      Object.fromEntries(
        Object.entries(graph).map(([kind, nodes]: [string, Iterable<[string, object]>]) => [
          kind,
          new Map(random.shuffle([...nodes])),
        ]),
      ) as unknown as AccessGraph,
    );
  const texts = Array.from({ length: 5 }, () => {
    const review = reviewBetween(shuffled(before), shuffled(after));
    return [reportAsJson(review.report), ...inEveryFormat(review, 80)];
  });
  for (const own of texts) expect(own).toEqual(texts[0]);
});

/** The marks of what differs: on the terminal and in Markdown. */
const DIFFERS = /[»«]|`\*\*`/g;

test("every format shows what people gain and lose, who they are, and the lists that are refused", () => {
  const before = newGraph();
  addGroup(before, ROOT, "acme", null);
  const viewer = addRole(before, "viewer", ["groups.list"]);
  const sso = addProvider(before, uidIn(ROOT, 5), "acme-sso", viewer, { ...OKTA, groupsClaim: "" });
  const after = newGraph(before);
  addProvider(after, sso, "acme-sso", viewer, { ...OKTA, issuer: "https://evil.example", groupsClaim: "" });
  const message = "the list of group invites cannot be read: UNIMPLEMENTED: not served";
  const review = reviewBetween(before, after, {
    notVisible: [{ kind: "groupInvite", group: "", groupName: "/", message }],
  });
  const texts = [
    asText(review.report, 500),
    asMarkdown(review.report),
    // Its words, without the marks of what differs.
    reviewAsHtml(review).replaceAll(/<[^>]*>/g, ""),
    reportAsJson(review.report),
  ];
  for (const text of texts)
    for (const part of ["people of acme-sso", "acme.okta.example", "evil.example", "groups.list", message])
      expect(text.replaceAll(DIFFERS, "")).toContain(part);
  expect(texts[0]).toContain("1 subject without an identity gains access");
  expect(texts[0]).toContain("people of acme-sso, who it is changes  in /");
  expect(texts[1]).toContain(
    "<summary><code>people of acme-sso</code>, who it is changes  in <code>/</code>: gains 1 capability; loses 1 capability</summary>",
  );
});

test("a terminal has the first of what nothing declares, and counts the rest", () => {
  const undeclared = Array.from({ length: 23 }, (_, at) => ({
    ...{ binding: `b${at}`, identity: `i${at}`, identityName: `old-${at}`, role: "viewer" },
    ...{ group: ROOT, groupName: "/" },
  }));
  const text = asText({ ...EMPTY_REPORT, undeclared });
  expect(text.match(/- .*old-\d+/g)).toHaveLength(20);
  expect(text).toContain("- and 3 more (--format json lists all)");
});

test("the headline counts the groups that go with another one", () => {
  const contents = ["one", "two"].map((name) => ({ kind: "group" as const, name, uid: name }));
  const report = { ...EMPTY_REPORT, deletedGroups: [{ group: ROOT, groupName: "platform", contents }] };
  expect(asMarkdown(report)).toContain("## Change in access by this program: 3 groups are deleted; 0 findings");
});
