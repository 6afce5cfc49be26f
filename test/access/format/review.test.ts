// A report for people: Markdown and the terminal; and as JSON.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { documentAsText } from "../../../access/format/document/terminal.ts";
import { reviewAsHtml } from "../../../access/format/html/review.ts";
import { reportAsJson, reviewDocument } from "../../../access/format/review/document.ts";
import { type AccessGraph, type GraphBuilder, newGraph, type RoleNode } from "../../../access/graph/graph.ts";
import { type Finding, Report, type Review, RULES } from "../../../access/review/report.ts";
import type { Json } from "../../../schema/index.ts";
import { createRandom } from "../../support/random.ts";
import { addGroup, addIdentity, addProvider, bind, changed, graphOf, OKTA, ROOT, roleUid, uid } from "../graphs.ts";
import { asMarkdown, asText, EMPTY_REPORT, IDENTITY, inEveryFormat, reviewBetween, smallReview } from "./reviews.ts";

const { report: edit } = smallReview();

test("Markdown says first who gains and loses", () => {
  expect(asMarkdown(edit).split("\n", 1)[0]).toBe(
    "## Change in access of `acme` by this program: 1 identity: who can assume it changes, 2 identities gain access, 1 subject without an identity gains access, 1 identity loses access, 1 subject without an identity loses access, 1 group is deleted, 1 step fails, 1 other error, 1 row differs, 1 record is adopted; 5 findings, 1 denied",
  );
});

test("Markdown is under 60,000 bytes (seed 7), counts what is left out, and folds what cannot be seen", () => {
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
  const unknown = [{ subject: "ci", message: "which role it gets is secret" }];
  const notVisible = [{ kind: "role", group: "g", groupName: "platform", message: "roles cannot be listed" }];
  const folded = asMarkdown({ ...EMPTY_REPORT, unknown, notVisible });
  expect(folded).toContain("### Not known (1)\n\n- `which role it gets is secret`\n");
  expect(folded).toContain("<details><summary>Not visible to the caller");
});

test("the terminal wraps at its width, has colours only on request, and does not claim what it cannot see", () => {
  const narrow = asText(edit, 60).split("\n");
  const long = narrow.filter(
    (line) => line.length > 60 && line.trim().split(" ").length > 3 && !/[0-9a-f]{40}/.test(line),
  );
  expect(long).toEqual([]);
  expect(narrow.join("")).not.toContain("\u001b");
  expect(documentAsText(reviewDocument(edit), { color: true, width: 60 })).toContain("\u001b[");
  expect(asText(EMPTY_REPORT, 80)).toContain("no change; 0 findings");
  const hidden = { ...EMPTY_REPORT, unknown: [{ subject: "", message: "x" }] };
  expect(asText(hidden, 80)).toContain("no change that this review can see");
});

test("the terminal has the first of what nothing declares, and counts the rest", () => {
  const undeclared = Array.from({ length: 23 }, (_, at) => ({
    ...{ binding: `b${at}`, identity: `i${at}`, identityName: `old-${at}`, role: "viewer" },
    ...{ group: ROOT, groupName: "/" },
  }));
  const text = asText({ ...EMPTY_REPORT, undeclared });
  expect(text.match(/- .*old-\d+/g)).toHaveLength(20);
  expect(text).toContain("- and 3 more (--format json lists all)");
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

const MATCH = { issuer: "https://token.actions.githubusercontent.com", subject: "repo:acme/shop:ref:refs/heads/main" };

/** One identity gains `viewer` on many groups, and `editor` on one whose name sorts late. */
const editorAmongViewers = (count: number): Review => {
  const names = Array.from({ length: count }, (_, i) => `${String(i).padStart(5, "0")}-sandbox`);
  const before = graphOf({
    groups: [...names, "production"],
    roles: { viewer: ["groups.list", "repo.list"], editor: ["groups.list", "repo.list", "repo.create", "repo.delete"] },
    identities: { release: MATCH },
  });
  const after = changed(before, (graph) => {
    for (const name of names) bind(graph, uid(name), uid("release"), roleUid("viewer"));
    bind(graph, uid("production"), uid("release"), roleUid("editor"));
  });
  return reviewBetween(before, after);
};
const { report } = editorAmongViewers(1);

test("Markdown shows groups with the same gain in one line, and editor on production first", () => {
  expect(asMarkdown(editorAmongViewers(41).report).match(/^.*gains at.*$/gm)).toEqual([
    "- **+** gains at `production` and below, through `editor`: `repo.create`, `repo.delete`, `groups.list`, `repo.list`",
    expect.stringMatching(
      /^- \*\*\+\*\* gains at `00000-sandbox`, .*`00019-sandbox` and 21 more and below, through `viewer`/,
    ),
  ]);
});

test("Markdown cuts the lines of one identity from the harmless end, and says what is cut", () => {
  const gains = Array.from({ length: 2_000 }, (_, i) => ({
    ...{ group: `g${i}`, groupName: `${"x".repeat(60)}${i}`, role: `role-${i}`, capability: "repo.list" },
  }));
  const text = asMarkdown({ ...report, identities: report.identities.map((one) => ({ ...one, gains })) });
  const lines = text.match(/^.*gains at.*$/gm) ?? [];
  expect(lines.length).toBeGreaterThan(200);
  expect(lines[0]).toContain("through `role-0`");
  expect(Buffer.byteLength(text)).toBeLessThan(60_000);
  expect(text).toContain(`- ${2_000 - lines.length} lines left out here\n`);
});

const reviewOfNewMatch = (match: Json, next: Json): Review => {
  const roles = { editor: ["repo.create"] };
  const before = graphOf({ roles, identities: { release: match }, access: { "/": { editor: ["release"] } } });
  return reviewBetween(
    before,
    changed(before, (graph) => addIdentity(graph, uid("release"), "release", ROOT, next)),
  );
};
const [text, markdown, page] = inEveryFormat(
  reviewOfNewMatch(MATCH, { ...MATCH, subject: "repo:evil/shop:ref:refs/heads/main" }),
);

test("who can assume an identity is in every headline, and what differs is marked behind any number of claims", () => {
  const headline = "1 identity: who can assume it changes";
  expect(markdown).toContain(`## Change in access of \`acme\` by this program: ${headline}; `);
  expect(text).toContain(`Change in access of acme by this program: ${headline}; `);
  expect(page).toContain('<li class="alert"><b>1</b> identity: who can assume it changes</li>');
  expect(markdown).toContain("<details open><summary><code>release</code>, who can assume it changes");
  for (const owner of ["acme", "evil"])
    expect(markdown).toContain(`subject "repo:\`**\`${owner}\`**\`/shop:ref:refs/heads/main"\``);
  expect(page).toContain('repo:<del class="differs">acme</del>/shop');
  expect(page).toContain('repo:<ins class="differs">evil</ins>/shop');
  expect(text).toContain('subject "repo:»evil«/shop');
  const claims = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`claim_${i}`, `${i} ${"v".repeat(30)}`]));
  const of = (zz: string): Json => ({ ...MATCH, claims: { ...claims, zz } });
  expect(asMarkdown(reviewOfNewMatch(of("acme"), of("evil")).report)).toContain('zz "`**`evil`**`"`');
});

const [commit, time] = ["a".repeat(40), "2026-11-23T07:00:00Z"];
const origin = { stack: "access/production", service: "https://irm.example.com", commit, time };

test("the head names stack, service, commit and time in every format, and what a review cannot promise", () => {
  const shown = inEveryFormat({ ...editorAmongViewers(1), report: { ...report, origin } }, 1_000);
  for (const one of shown)
    for (const value of [...Object.values(origin), "it can act differently on a copy than in the update"])
      expect(one).toContain(value);
  const title = "Change in access of acme by access/production";
  const [text, markdown, page] = shown;
  expect(page).toContain(`<h1>${title}</h1>`);
  expect(text).toContain(`${title}: `);
  expect(markdown).toContain(`${title.replace(/(acme|access\/production)/g, "`$1`")}: `);
});

test("the head of a review says that files differ from the commit", () => {
  const text = asMarkdown({ ...report, origin: { ...origin, isModified: true } });
  expect(text).toContain(`${commit}, with changes that are not committed`);
});

test("what is renamed stands with both names, and what was lost in a renamed group with its new name", () => {
  const before = graphOf({
    groups: ["crew"],
    roles: { reader: ["repo.list"], "/publisher": ["repo.create"] },
    identities: { "crew/release": MATCH },
    access: { crew: { reader: ["crew/release"] } },
  });
  const [team, release, role] = [uid("crew"), uid("crew/release"), uid("publisher")];
  const after = changed(before, (graph) => {
    addGroup(graph, team, "team", ROOT);
    graph.roles.set(role, { ...(before.roles.get(role) as RoleNode), name: "pusher" });
    addIdentity(graph, release, "publish", team, MATCH);
    graph.bindings.clear();
    bind(graph, team, release, role);
  });
  const review = reviewBetween(before, after);
  const [{ gains, losses } = {}] = review.report.identities;
  expect([gains, losses].map((rows) => rows?.map(({ groupName }) => groupName))).toEqual([["team"], ["team"]]);
  const [text, markdown, page] = inEveryFormat(review, 80);
  for (const renamed of ["publish, renamed from release", "crew → team", "publisher → pusher"])
    expect(page.replace(/<[^>]+>/g, "")).toContain(renamed);
  expect(markdown).toContain("<code>publish</code>, renamed from <code>release</code>");
  expect(text).toContain("publish, renamed from release");
});

test("a finding of several parts is a sentence with a list in every format, and links to its rule", () => {
  const lead = "platform/review, which repo:acme/x can assume, can";
  const items = ["repo.create at platform, by its binding to editor", "tag.create at /, by its binding to pusher"];
  const finding: Finding = {
    ...{ rule: "test-fails", subject: "t", name: "t", denied: true, message: `${lead} ${items.join("; ")}` },
    list: { lead: `${lead}:`, items },
  };
  const review = { ...editorAmongViewers(1), report: { ...report, findings: [finding] } };
  const [text, markdown, page] = inEveryFormat(review);
  const address = /https:\/\/github\.com\/[^)"]+\/docs\/change\.md#test-fails/;
  for (const line of [`    ${lead}:`, ...items.map((item) => `        ${item}`), "    docs/change.md#test-fails"])
    expect(text.split("\n")).toContain(line);
  expect(markdown).toContain([`- \`${lead}:\``, ...items.map((item) => `  - \`${item}\``)].join("\n  "));
  expect(markdown).toMatch(address);
  expect(page).toContain(
    `${lead}:</bdi><ul class="parts">${items.map((item) => `<li><bdi>${item}</bdi></li>`).join("")}</ul>`,
  );
  expect(page).toMatch(address);
});

test("each rule has its section on the page that findings link to", () => {
  const page = readFileSync(new URL("../../../docs/change.md", import.meta.url), "utf8");
  for (const rule of RULES) expect(page).toMatch(new RegExp(`^### ${rule}$|<a id="${rule}"></a>`, "m"));
});
