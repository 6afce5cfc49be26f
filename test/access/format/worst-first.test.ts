// What a reader sees first, and what is cut where there is no room: in Markdown, on the terminal and on the page.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { RoleNode } from "../../../access/graph/graph.ts";
import { type Finding, type Review, RULES } from "../../../access/review/report.ts";
import type { Json } from "../../../schema/index.ts";
import { addGroup, addIdentity, bind, changed, graphOf, ROOT, roleUid, uid } from "../graphs.ts";
import { asMarkdown, inEveryFormat, reviewBetween } from "./reviews.ts";

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

describe("Markdown", () => {
  test("shows the groups of an identity where it gains the same in one line, and editor on production first", () => {
    const lines = asMarkdown(editorAmongViewers(41).report).match(/^.*gains at.*$/gm);
    expect(lines).toEqual([
      "- **+** gains at `production` and below, through `editor`: `repo.create`, `repo.delete`, `groups.list`, `repo.list`",
      expect.stringMatching(
        /^- \*\*\+\*\* gains at `00000-sandbox`, .*`00019-sandbox` and 21 more and below, through `viewer`/,
      ),
    ]);
  });

  test("cuts the lines of one identity from the harmless end, and says what is cut", () => {
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
});

describe("who can assume an identity", () => {
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

  test("is in the headline of every format, although no capability changes", () => {
    const headline = "1 identity: who can assume it changes";
    expect(markdown).toContain(`## Change in access of \`acme\` by this program: ${headline}; `);
    expect(text).toContain(`Change in access of acme by this program: ${headline}; `);
    expect(page).toContain('<li class="alert"><b>1</b> identity: who can assume it changes</li>');
  });

  test("shows what differs: open and in bold in Markdown, marked on the page, with arrows on a terminal", () => {
    expect(markdown).toContain("<details open><summary><code>release</code>, who can assume it changes");
    for (const owner of ["acme", "evil"])
      expect(markdown).toContain(`subject "repo:\`**\`${owner}\`**\`/shop:ref:refs/heads/main"\``);
    expect(page).toContain('repo:<del class="differs">acme</del>/shop');
    expect(page).toContain('repo:<ins class="differs">evil</ins>/shop');
    expect(text).toContain('subject "repo:»evil«/shop');
  });

  test("shows what differs behind any number of claims", () => {
    const claims = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`claim_${i}`, `${i} ${"v".repeat(30)}`]));
    const of = (zz: string): Json => ({ ...MATCH, claims: { ...claims, zz } });
    expect(asMarkdown(reviewOfNewMatch(of("acme"), of("evil")).report)).toContain('zz "`**`evil`**`"`');
  });
});

describe("the head of a review", () => {
  const [commit, time] = ["a".repeat(40), "2026-11-23T07:00:00Z"];
  const origin = { stack: "access/production", service: "https://irm.example.com", commit, time };

  test("names stack, service, commit and time in every format for people, and what a review cannot promise", () => {
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

  test("says that files differ from the commit", () => {
    const text = asMarkdown({ ...report, origin: { ...origin, isModified: true } });
    expect(text).toContain(`${commit}, with changes that are not committed`);
  });
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
  const address = /https:\/\/github\.com\/[^)"]+\/docs\/review\.md#test-fails/;
  for (const line of [`    ${lead}:`, ...items.map((item) => `        ${item}`), "    docs/review.md#test-fails"])
    expect(text.split("\n")).toContain(line);
  expect(markdown).toContain([`- \`${lead}:\``, ...items.map((item) => `  - \`${item}\``)].join("\n  "));
  expect(markdown).toMatch(address);
  expect(page).toContain(
    `${lead}:</bdi><ul class="parts">${items.map((item) => `<li><bdi>${item}</bdi></li>`).join("")}</ul>`,
  );
  expect(page).toMatch(address);
});

test("each rule has its section on the page that findings link to", () => {
  const page = readFileSync(new URL("../../../docs/review.md", import.meta.url), "utf8");
  for (const rule of RULES) expect(page).toMatch(new RegExp(`^### ${rule}$|<a id="${rule}"></a>`, "m"));
});
