// What a reader sees first, and what is cut where there is no room: in Markdown, on the terminal and on the page.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { newGraph, type RoleNode } from "../../../access/graph/graph.ts";
import { type Finding, type Review, RULES } from "../../../access/review/report.ts";
import { addGroup, addIdentity, addRole, bind, ROOT, uidIn } from "../graphs.ts";
import { asMarkdown, inEveryFormat, reviewBetween } from "./reviews.ts";

const GITHUB = "https://token.actions.githubusercontent.com";

/** One identity gains `viewer` on many groups, and `editor` on one whose name sorts late. */
const editorAmongViewers = (groups: number, width = 0): Review => {
  const before = newGraph();
  addGroup(before, ROOT, "acme", null);
  const viewer = addRole(before, "viewer", ["groups.list", "repo.list"]);
  const editor = addRole(before, "editor", ["groups.list", "repo.list", "repo.create", "repo.delete"], ROOT);
  const places = Array.from({ length: groups }, (_, i) =>
    addGroup(before, uidIn(ROOT, i + 1), `${String(i).padStart(5, "0")}-sandbox${"x".repeat(width)}`, ROOT),
  );
  const production = addGroup(before, uidIn(ROOT, groups + 1), "production", ROOT);
  const release = addIdentity(before, uidIn(ROOT, 90_000), "release", ROOT, { issuer: GITHUB, subject: "s" });
  const after = newGraph(before);
  for (const place of places) bind(after, place, release, viewer);
  bind(after, production, release, editor);
  return reviewBetween(before, after);
};

const markdownOf = ({ report }: Review): string => asMarkdown(report);

describe("Markdown", () => {
  test("shows the groups of an identity where it gains the same in one line, and editor on production first", () => {
    const lines = markdownOf(editorAmongViewers(41))
      .split("\n")
      .filter((line) => line.includes("gains at"));
    expect(lines).toEqual([
      "- **+** gains at `production` and below, through `editor`: `repo.create`, `repo.delete`, `groups.list`, `repo.list`",
      expect.stringMatching(
        /^- \*\*\+\*\* gains at `00000-sandbox`, .*`00019-sandbox` and 21 more and below, through `viewer`/,
      ),
    ]);
  });

  test("cuts the lines of one identity from the harmless end, and says what is cut", () => {
    const { report } = editorAmongViewers(1);
    const identities = report.identities.map((one) => ({
      ...one,
      gains: Array.from({ length: 2_000 }, (_, i) => ({
        ...{ group: `g${i}`, groupName: `${"x".repeat(60)}${i}`, role: `role-${i}`, capability: "repo.list" },
      })),
    }));
    const text = markdownOf({ ...editorAmongViewers(1), report: { ...report, identities } });
    const lines = text.split("\n").filter((line) => line.includes("gains at"));
    expect(lines.length).toBeGreaterThan(200);
    expect(lines[0]).toContain("through `role-0`");
    expect(Buffer.byteLength(text)).toBeLessThan(60_000);
    expect(text).toContain(`- ${2_000 - lines.length} lines left out here\n`);
  });

  test("of many identities leaves out those that only read, and says so", () => {
    const before = newGraph();
    addGroup(before, ROOT, "acme", null);
    const [viewer, owner] = [addRole(before, "viewer", ["repo.list"]), addRole(before, "own", ["roles.update"])];
    const after = newGraph(before);
    for (let i = 0; i < 3_000; i += 1) {
      const name = `ci-${String(i).padStart(4, "0")}`;
      bind(after, ROOT, addIdentity(before, uidIn(ROOT, i + 1), name, ROOT, { issuer: GITHUB }), viewer);
    }
    const last = addIdentity(before, uidIn(ROOT, 9_000), "zz-owner", ROOT, { issuer: GITHUB });
    bind(after, ROOT, last, owner);
    for (const [id, node] of before.identities) after.identities.set(id, node);
    const text = markdownOf(reviewBetween(before, after));
    expect(/<summary><code>(.*?)<\/code>/.exec(text)?.[1]).toBe("zz-owner");
    const shown = text.split("<details><summary><code>").length - 1;
    expect(text).toContain(`\n${3_001 - shown} entries left out here; \`--format json\` has all`);
  });
});

describe("who can assume an identity", () => {
  const reviewOfNewMatch = (): Review => {
    const before = newGraph();
    addGroup(before, ROOT, "acme", null);
    const match = { issuer: GITHUB, subject: "repo:acme/shop:ref:refs/heads/main" };
    const release = addIdentity(before, uidIn(ROOT, 16), "release", ROOT, match);
    bind(before, ROOT, release, addRole(before, "editor", ["repo.create"]));
    const after = newGraph(before);
    addIdentity(after, release, "release", ROOT, { ...match, subject: "repo:evil/shop:ref:refs/heads/main" });
    return reviewBetween(before, after);
  };

  test("is in the headline of every format, although no capability changes", () => {
    const headline = "1 identity: who can assume it changes";
    const [text, markdown, page] = inEveryFormat(reviewOfNewMatch());
    expect(markdown).toContain(`## Change in access of \`acme\` by this program: ${headline}; `);
    expect(text).toContain(`Change in access of acme by this program: ${headline}; `);
    expect(page).toContain('<li class="alert"><b>1</b> identity: who can assume it changes</li>');
  });

  test("stands open in Markdown, with what differs in bold inside the text", () => {
    const text = markdownOf(reviewOfNewMatch());
    expect(text).toContain("<details open><summary><code>release</code>, who can assume it changes");
    expect(text).toContain('subject "repo:`**`acme`**`/shop:ref:refs/heads/main"`');
    expect(text).toContain('subject "repo:`**`evil`**`/shop:ref:refs/heads/main"`');
  });

  test("stands on the page with what differs marked, and on a terminal with arrows", () => {
    const [text, , page] = inEveryFormat(reviewOfNewMatch());
    expect(page).toContain('repo:<del class="differs">acme</del>/shop');
    expect(page).toContain('repo:<ins class="differs">evil</ins>/shop');
    expect(text).toContain('subject "repo:»evil«/shop');
  });

  test("shows what differs behind any number of claims", () => {
    const before = newGraph();
    addGroup(before, ROOT, "acme", null);
    const claims = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`claim_${i}`, `${i} ${"v".repeat(30)}`]));
    const match = { issuer: GITHUB, subject: "s", claims: { ...claims, zz: "acme" } };
    const release = addIdentity(before, uidIn(ROOT, 16), "release", ROOT, match);
    const after = newGraph(before);
    addIdentity(after, release, "release", ROOT, { ...match, claims: { ...claims, zz: "evil" } });
    expect(markdownOf(reviewBetween(before, after))).toContain('zz "`**`evil`**`"`');
  });
});

describe("the head of a review", () => {
  const [commit, time] = ["a".repeat(40), "2026-11-23T07:00:00Z"];
  const origin = { stack: "access/production", service: "https://irm.example.com", commit, time };

  test("names stack, service, commit and time in every format for people", () => {
    const review = editorAmongViewers(1);
    const shown = inEveryFormat({ ...review, report: { ...review.report, origin } });
    for (const text of shown) for (const value of Object.values(origin)) expect(text).toContain(value);
    const title = "Change in access of acme by access/production";
    const [text, markdown, page] = shown;
    expect(page).toContain(`<h1>${title}</h1>`);
    expect(text).toContain(`${title}: `);
    expect(markdown).toContain(`${title.replace(/(acme|access\/production)/g, "`$1`")}: `);
  });

  test("says that files differ from the commit", () => {
    const { report } = editorAmongViewers(1);
    const text = asMarkdown({ ...report, origin: { ...origin, isModified: true } });
    expect(text).toContain(`${origin.commit}, with changes that are not committed`);
  });
});

test("every format says what a review cannot promise", () => {
  for (const text of inEveryFormat(editorAmongViewers(1), 1_000))
    expect(text).toContain("it can act differently on a copy than in the update");
});

test("renamed records stand with both names on the page, and an identity in every format", () => {
  const before = newGraph();
  addGroup(before, ROOT, "acme", null);
  const team = addGroup(before, uidIn(ROOT, 1), "crew", ROOT);
  const role = addRole(before, "publisher", ["repo.create"], ROOT);
  const release = addIdentity(before, uidIn(team, 16), "release", team, { issuer: GITHUB, subject: "s" });
  bind(before, team, release, role);
  const after = newGraph(before);
  addGroup(after, team, "team", ROOT);
  after.roles.set(role, { ...(before.roles.get(role) as RoleNode), name: "pusher" });
  addIdentity(after, release, "publish", team, { issuer: GITHUB, subject: "s" });
  const [shown, markdown, page] = inEveryFormat(reviewBetween(before, after), 80);
  for (const text of ["publish, renamed from release", "crew → team", "publisher → pusher"])
    expect(page.replace(/<[^>]+>/g, "")).toContain(text);
  expect(markdown).toContain("<code>publish</code>, renamed from <code>release</code>");
  expect(shown).toContain("publish, renamed from release");
});

test("what is lost in a renamed group is shown with its new name, as what is gained there", () => {
  const before = newGraph();
  addGroup(before, ROOT, "acme", null);
  const team = addGroup(before, uidIn(ROOT, 1), "crew", ROOT);
  const [reader, creator] = [addRole(before, "reader", ["repo.list"]), addRole(before, "creator", ["repo.create"])];
  const release = addIdentity(before, uidIn(team, 16), "release", team, { issuer: GITHUB, subject: "s" });
  const after = newGraph(before);
  bind(before, team, release, reader);
  addGroup(after, team, "team", ROOT);
  bind(after, team, release, creator);
  const [{ gains, losses } = {}] = reviewBetween(before, after).report.identities;
  expect([gains, losses].map((rows) => rows?.map(({ groupName }) => groupName))).toEqual([["team"], ["team"]]);
});

describe("a finding of several parts", () => {
  const lead = "platform/review, which repo:acme/x can assume, can";
  const items = ["repo.create at platform, by its binding to editor", "tag.create at /, by its binding to pusher"];
  const { report } = editorAmongViewers(1);
  const findings: Finding[] = [
    {
      ...{ rule: "test-fails", subject: "t", name: "t", denied: true },
      message: `${lead} ${items.join("; ")}`,
      list: { lead: `${lead}:`, items },
    },
  ];

  test("is a sentence with a list in every format, and links to its rule", () => {
    const [text, markdown, page] = inEveryFormat({ ...editorAmongViewers(1), report: { ...report, findings } });
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

  test("each rule has its section on the page that it links to", () => {
    const page = readFileSync(new URL("../../../docs/review.md", import.meta.url), "utf8");
    for (const rule of RULES) expect(page).toMatch(new RegExp(`^### ${rule}$|<a id="${rule}"></a>`, "m"));
  });
});
