// A report for people: Markdown and the terminal; and as JSON.
import { describe, expect, test } from "vitest";
import { documentAsText } from "../../../access/format/document/terminal.ts";
import { reviewAsHtml } from "../../../access/format/html/review.ts";
import { reportAsJson, reviewDocument } from "../../../access/format/review/document.ts";
import { type AccessGraph, type GraphBuilder, newGraph } from "../../../access/graph/graph.ts";
import { Report } from "../../../access/review/report.ts";
import { createRandom } from "../../support/random.ts";
import { addProvider, changed, graphOf, OKTA, ROOT, roleUid, uid } from "../graphs.ts";
import { asMarkdown, asText, EMPTY_REPORT, IDENTITY, inEveryFormat, reviewBetween, smallReview } from "./reviews.ts";

const { report: edit } = smallReview();

describe("Markdown", () => {
  test("says first who gains and loses", () => {
    expect(asMarkdown(edit).split("\n", 1)[0]).toBe(
      "## Change in access of `acme` by this program: 1 identity: who can assume it changes, 2 identities gain access, 1 subject without an identity gains access, 1 identity loses access, 1 subject without an identity loses access, 1 group is deleted, 1 step fails, 1 other error, 1 row differs, 1 record is taken over; 5 findings, 1 denied",
    );
  });

  test("is under 60,000 bytes at any size, and counts what is left out (seed 7)", () => {
    const random = createRandom(7);
    const many = (count: number) => Array.from({ length: count }, (_, i) => `${i} ${random.hex(20)}é|\``);
    const text = asMarkdown({
      ...EMPTY_REPORT,
      identities: many(3_000).map((name) => ({ ...IDENTITY, name })),
      findings: many(2_000).map((name) => ({ rule: "gains-owner", subject: name, name, message: name.repeat(9) })),
      unknown: many(5_000).map((name) => ({ subject: name, message: name })),
      notVisible: many(500).map((name) => ({ kind: "role", group: name, groupName: name, message: name })),
      undeclared: many(10_000).map((name) => ({
        ...{ binding: name, group: name, groupName: name, identity: name, identityName: name, role: name },
      })),
    });
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
});

describe("the terminal", () => {
  test("wraps at its width, and has colours only where they are wanted", () => {
    const narrow = asText(edit, 60).split("\n");
    const long = narrow.filter(
      (line) => line.length > 60 && line.trim().split(" ").length > 3 && !/[0-9a-f]{40}/.test(line),
    );
    expect(long).toEqual([]);
    expect(narrow.join("")).not.toContain("\u001b");
    expect(documentAsText(reviewDocument(edit), { color: true, width: 60 })).toContain("\u001b[");
  });

  test("says that nothing changes, and not so where something cannot be seen", () => {
    expect(asText(EMPTY_REPORT, 80)).toContain("no change; 0 findings");
    const hidden = { ...EMPTY_REPORT, unknown: [{ subject: "", message: "x" }] };
    expect(asText(hidden, 80)).toContain("no change that this review can see");
  });

  test("has the first of what nothing declares, and counts the rest", () => {
    const undeclared = Array.from({ length: 23 }, (_, at) => ({
      ...{ binding: `b${at}`, identity: `i${at}`, identityName: `old-${at}`, role: "viewer" },
      ...{ group: ROOT, groupName: "/" },
    }));
    const text = asText({ ...EMPTY_REPORT, undeclared });
    expect(text.match(/- .*old-\d+/g)).toHaveLength(20);
    expect(text).toContain("- and 3 more (--format json lists all)");
  });
});

test("JSON is the report, as its schema has it, with who can assume each identity before and after", () => {
  const printed = Report.parse(JSON.parse(reportAsJson(edit)));
  const bare = printed.identities.map(({ assumable: _, changed: __, ...identity }) => identity);
  expect({ ...printed, identities: bare }).toEqual(edit);
  const reassumed = printed.identities.filter((one) => one.changed);
  expect(reassumed.map(({ name }) => name)).toEqual(["release"]);
  const [one] = reassumed;
  expect(one?.assumable).toEqual({ before: one?.assumableBefore, after: one?.assumableAfter });
});

test("every format is the same whatever the order of the API's lists (seed 11)", () => {
  const random = createRandom(11);
  const { before, after } = smallReview();
  const shuffled = (graph: AccessGraph): GraphBuilder => {
    const nodesOf = Object.entries(graph) as [string, Map<string, object>][];
    const kinds = nodesOf.map(([kind, nodes]) => [kind, new Map(random.shuffle([...nodes]))]);
    return newGraph(Object.fromEntries(kinds) as AccessGraph);
  };
  const texts = Array.from({ length: 5 }, () => {
    const review = reviewBetween(shuffled(before), shuffled(after));
    return [reportAsJson(review.report), ...inEveryFormat(review, 80)];
  });
  for (const own of texts) expect(own).toEqual(texts[0]);
});

/** The marks of what differs: on the terminal and in Markdown. */
const DIFFERS = /[»«]|`\*\*`/g;

test("every format shows what people gain and lose, who they are, and the lists that are refused", () => {
  const [sso, viewer] = [uid("acme-sso"), roleUid("viewer")];
  const before = graphOf({ roles: { viewer: ["groups.list"] } });
  addProvider(before, sso, "acme-sso", viewer, { ...OKTA, groupsClaim: "" });
  const evil = { ...OKTA, issuer: "https://evil.example", groupsClaim: "" };
  const after = changed(before, (graph) => addProvider(graph, sso, "acme-sso", viewer, evil));
  const message = "the list of group invites cannot be read: UNIMPLEMENTED: not served";
  const notVisible = [{ kind: "groupInvite", group: "", groupName: "/", message }] as const;
  const review = reviewBetween(before, after, { notVisible: [...notVisible] });
  const [text, markdown] = [asText(review.report, 500), asMarkdown(review.report)];
  // The words of the page, without the marks of what differs.
  const page = reviewAsHtml(review).replaceAll(/<[^>]*>/g, "");
  for (const shown of [text, markdown, page, reportAsJson(review.report)])
    for (const part of ["people of acme-sso", "acme.okta.example", "evil.example", "groups.list", message])
      expect(shown.replaceAll(DIFFERS, "")).toContain(part);
  expect(text).toContain("1 subject without an identity gains access");
  expect(text).toContain("people of acme-sso, who it is changes  in /");
  expect(markdown).toContain(
    "<summary><code>people of acme-sso</code>, who it is changes  in <code>/</code>: gains 1 capability; loses 1 capability</summary>",
  );
});

test("the headline counts the groups that go with another one", () => {
  const contents = ["one", "two"].map((name) => ({ kind: "group" as const, name, uid: name }));
  const report = { ...EMPTY_REPORT, deletedGroups: [{ group: ROOT, groupName: "platform", contents }] };
  expect(asMarkdown(report)).toContain("## Change in access by this program: 3 groups are deleted; 0 findings");
});
