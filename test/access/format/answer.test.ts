// An answer of `irm access` in the formats for people.
import { describe, expect, test } from "vitest";
import { answerAsHtml, answerDocument, answerJson } from "../../../access/format/answer.ts";
import { documentAsMarkdown } from "../../../access/format/document/markdown.ts";
import { documentAsText } from "../../../access/format/document/terminal.ts";
import { answerOf } from "../../../access/query/answer.ts";
import { addInvite, addProvider, graphOf, mapGroup, ROOT, roleUid, uid } from "../graphs.ts";

const MATCH = { issuer: "https://issuer.example", subject: "s" };

/** `count` identities with this role in the organization. */
const answerFor = (count = 1, capabilities = ["groups.list", "repo.list", "tag.list"]) => {
  const names = Array.from({ length: count }, (_, i) => `ci${i + 1}`);
  const identities = Object.fromEntries(names.map((name) => [name, MATCH]));
  const graph = graphOf({ roles: { ci: capabilities }, identities, access: { "/": { ci: names } } });
  return answerOf({ graph, notVisible: [] }, {});
};

type Answer = ReturnType<typeof answerOf>;
const asText = (answer: Answer, width = 80) => documentAsText(answerDocument(answer), { color: false, width });
const asMarkdown = (answer: Answer) => documentAsMarkdown(answerDocument(answer));

describe("on a terminal", () => {
  test("has colours only where they are wanted", () => {
    const coloured = documentAsText(answerDocument(answerFor()), { color: true, width: 80 });
    expect(coloured).toContain("\u001b[1mci1\u001b[22m");
    expect(asText(answerFor())).not.toContain("\u001b");
  });

  test("wraps lists of capabilities at the width, cuts a long one, and counts the rest", () => {
    expect(asText(answerFor(), 30)).toContain("      groups.list, repo.list,\n      tag.list\n");
    const many = Array.from({ length: 30 }, (_, i) => `a${i + 10}.list`);
    expect(asText(answerFor(1, many)).replace(/\n +/g, " ")).toContain("and 6 more (--format json lists all)");
  });
});

test("of several organizations, each place names its own", () => {
  const other = { name: "other", root: "b".repeat(40), groups: ["team"] };
  const graph = graphOf({
    roles: { ci: ["groups.list"] },
    identities: { ci1: MATCH },
    access: { "/": { ci: ["ci1"] } },
  });
  graphOf(other, graph);
  for (const group of [uid("team", other.root), other.root]) {
    const id = `${group}/b`;
    graph.bindings.set(id, { id, uid: id, group, identity: uid("ci1"), role: roleUid("ci") });
  }
  const both = answerOf({ graph, notVisible: [] }, {});
  const lines = asText(both).match(/^ {2}\S.*through/gm);
  expect(lines).toEqual(["  / of acme  through", "  / of other  through", "  team of other  through"]);
  expect(asMarkdown(both)).toContain("- `team of other`  through");
  expect(answerAsHtml(both)).toContain("in <bdi>/ of acme</bdi>");
});

test("Markdown has an open block for each identity, and counts those for which there is no room", () => {
  const text = asMarkdown(answerFor(5000));
  expect(text).toContain("<summary><code>ci1</code>  in <code>/</code></summary>\n\n- assumed by ");
  expect(text).toContain("- `/`  through `ci`: `groups.list`");
  const shown = text.split("<details open><summary>").length - 1;
  expect(shown).toBeGreaterThan(100);
  expect(text).toContain(`\n${5000 - shown} entries left out here; \`--format json\` has all.\n`);
});

test("a page of thousands of bindings has each long list of capabilities once", () => {
  const many = Array.from({ length: 150 }, (_, i) => `a${i}.list`);
  const page = answerAsHtml(answerFor(1000, many));
  expect(page.split("<b>a149</b>")).toHaveLength(2);
  expect(Buffer.byteLength(page)).toBeLessThan(600_000);
});

test("says who can assume each identity, its uid only where another one has its name, and the worst it may do first", () => {
  const names = ["alone", "twin", "tools/twin"];
  const graph = graphOf({
    groups: ["tools"],
    roles: { pusher: ["repo.list", "repo.create", "roles.update"] },
    identities: { alone: MATCH, twin: MATCH, "tools/twin": { ...MATCH, subject: "other" } },
    access: { "/": { pusher: names } },
  });
  const answer = answerOf({ graph, notVisible: [] }, {});
  const [text, markdown, page] = [asText(answer, 200), asMarkdown(answer), answerAsHtml(answer)];
  for (const shown of [text, markdown, page.replaceAll("&quot;", '"')]) {
    expect(shown).toContain('a workload whose token has issuer "https://issuer.example" and subject "other"');
    expect(names.map((path) => shown.includes(uid(path)))).toEqual([false, true, true]);
  }
  for (const list of [text, markdown.replaceAll("`", "")])
    expect(list).toContain("roles.update, repo.create, repo.list");
  expect(page).toContain("<li>roles.update</li><li>repo.create</li><li>repo.list</li>");
  const { identities } = answerJson(answer);
  expect(identities).toHaveLength(3);
  expect(identities.find(({ name }) => name === "alone")).toEqual({
    ...{ identity: uid("alone"), name: "alone", group: ROOT, assumable: { claimMatch: MATCH } },
    assumedBy: 'a workload whose token has issuer "https://issuer.example" and subject "s"',
  });
});

test("every format shows who has access without an identity, after the identities", () => {
  const graph = graphOf({ roles: { owner: ["role_bindings.create"] } });
  const sso = addProvider(graph, uid("sso"), "sso", null);
  const [sre, invite, owner] = [uid("sso/SRE"), uid("invite"), roleUid("owner")];
  mapGroup(graph, sre, sso, "SRE", owner);
  const expirationTime = "2026-01-01T00:00:00Z";
  addInvite(graph, invite, "ab12", ROOT, owner, { email: "new@acme.example", singleUse: false, expirationTime });
  const at = (time: string, question = {}) => answerOf({ graph, notVisible: [] }, question, Date.parse(time));
  const answer = at("2025-12-31T00:00:00Z");
  const who = 'people who sign in at issuer "https://acme.okta.example" as client "irm", with "SRE" in claim "groups"';
  expect(asText(answer, 500).split("\n")).toEqual([
    "Access in acme",
    "",
    "external group SRE of sso  in /",
    `  ${who}`,
    "  /  through owner",
    "      role_bindings.create",
    "",
    "invite ab12  in /",
    '  the person with the address "new@acme.example", until 2026-01-01T00:00:00Z',
    "  /  through owner",
    "      role_bindings.create",
    "",
    "0 identities, 0 bindings; 2 subjects without an identity",
    "",
  ]);
  expect(answerAsHtml(answer)).toContain(
    '<th scope="row"><a href="#identities-1"><bdi>external group SRE of sso</bdi></a><td class="O">O',
  );
  const grants = [{ group: ROOT, capability: "role_bindings.create", role: "owner" }];
  expect(answerJson(answer).people).toEqual([
    { subject: "external group SRE of sso", uid: sre, who, grants, unknown: [] },
    expect.objectContaining({ subject: "invite ab12", uid: invite }),
  ]);
  const later = at("2026-01-02T00:00:00Z", { capability: "role_bindings.create" });
  expect(answerJson(later).people).toMatchObject([{ subject: "external group SRE of sso" }]);
  expect(asText(at("2026-01-02T00:00:00Z", { capability: "repo.list" }))).not.toContain("SRE");
});
