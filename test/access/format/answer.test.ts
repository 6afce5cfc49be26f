// An answer of `irm access` in the formats for people.
import { describe, expect, test } from "vitest";
import { answerAsHtml, answerDocument, answerJson } from "../../../access/format/answer.ts";
import { documentAsMarkdown } from "../../../access/format/document/markdown.ts";
import { documentAsText } from "../../../access/format/document/terminal.ts";
import { newGraph } from "../../../access/graph/graph.ts";
import { answerOf } from "../../../access/query/answer.ts";
import { addGroup, addIdentity, addInvite, addProvider, addRole, bind, mapGroup, ROOT, uidIn } from "../graphs.ts";

const MATCH = { issuer: "https://issuer.example", subject: "s" };

const answerFor = (name: string, count = 1, capabilities = ["groups.list", "repo.list", "tag.list"]) => {
  const graph = newGraph();
  addGroup(graph, ROOT, "acme", null);
  const role = addRole(graph, name, capabilities);
  for (let i = 1; i <= count; i += 1)
    bind(graph, ROOT, addIdentity(graph, uidIn(ROOT, i), `${name}${i}`, ROOT, MATCH), role);
  return answerOf({ graph, notVisible: [] }, {});
};

type Answer = ReturnType<typeof answerOf>;
const asText = (answer: Answer, width = 80) => documentAsText(answerDocument(answer), { color: false, width });
const asMarkdown = (answer: Answer) => documentAsMarkdown(answerDocument(answer));

describe("on a terminal", () => {
  test("has colours only where they are wanted", () => {
    const coloured = documentAsText(answerDocument(answerFor("ci")), { color: true, width: 80 });
    expect(coloured).toContain("\u001b[1mci1\u001b[22m");
    expect(asText(answerFor("ci"))).not.toContain("\u001b");
  });

  test("wraps lists of capabilities at the width", () => {
    expect(asText(answerFor("ci"), 30)).toContain("      groups.list, repo.list,\n      tag.list\n");
  });

  test("cuts a long list, and counts the rest", () => {
    const many = Array.from({ length: 30 }, (_, i) => `a${i + 10}.list`);
    const text = asText(answerFor("ci", 1, many)).replace(/\n +/g, " ");
    expect(text).toContain("and 6 more (--format json lists all)");
  });

  test("escapes what would control the terminal", () => {
    expect(asText(answerFor("\u001b[31m\u202e"))).toContain("through \\u001b[31m\\u202e");
  });
});

test("of several organizations, each place names its own", () => {
  const answer = answerFor("ci");
  const other = "b".repeat(40);
  const graph = newGraph(answer.graph);
  addGroup(graph, other, "other", null);
  const team = addGroup(graph, `${other}/1111111111111111`, "team", other);
  const [holder, role] = [[...graph.identities.keys()][0] as string, [...graph.roles.keys()][0] as string];
  for (const group of [team, other]) bind(graph, group, holder, role);
  const both = answerOf({ graph, notVisible: [] }, {});
  const lines = asText(both).match(/^ {2}\S.*through/gm);
  expect(lines).toEqual(["  / of acme  through", "  / of other  through", "  team of other  through"]);
  expect(asMarkdown(both)).toContain("- `team of other`  through");
  expect(answerAsHtml(both)).toContain("in <bdi>/ of acme</bdi>");
});

describe("as Markdown", () => {
  test("stays below 60,000 bytes at any size, and counts what is left out", () => {
    const text = asMarkdown(answerFor("ci", 5000));
    expect(Buffer.byteLength(text)).toBeLessThan(60_000);
    const shown = text.split("<details open><summary>").length - 1;
    expect(shown).toBeGreaterThan(100);
    expect(text).toContain(`\n${5000 - shown} entries left out here; \`--format json\` has all.\n`);
  });

  test("keeps the markup and mentions of names from taking effect", () => {
    const text = asMarkdown(answerFor("a|b`@acme<br>"));
    expect(text).toContain("<summary><code>a|b`@acme&lt;br&gt;1</code>  in <code>/</code></summary>");
    expect(text).toContain("- `/`  through ``a|b`@acme<br>``: `groups.list`");
  });
});

test("a page of thousands of bindings has each long list of capabilities once", () => {
  const many = Array.from({ length: 150 }, (_, i) => `a${i}.list`);
  const page = answerAsHtml(answerFor("ci", 1000, many));
  expect(page.split("<b>a149</b>")).toHaveLength(2);
  expect(Buffer.byteLength(page)).toBeLessThan(600_000);
});

describe("of each identity", () => {
  const twins = () => {
    const graph = newGraph();
    addGroup(graph, ROOT, "acme", null);
    const tools = addGroup(graph, uidIn(ROOT, 1), "tools", ROOT);
    const role = addRole(graph, "pusher", ["repo.list", "repo.create", "roles.update"]);
    const [alone, one, other] = [
      addIdentity(graph, uidIn(ROOT, 7), "alone", ROOT, MATCH),
      addIdentity(graph, uidIn(ROOT, 8), "twin", ROOT, MATCH),
      addIdentity(graph, uidIn(tools, 9), "twin", tools, { ...MATCH, subject: "other" }),
    ];
    for (const identity of [alone, one, other]) bind(graph, ROOT, identity, role);
    return { alone, one, other, answer: answerOf({ graph, notVisible: [] }, {}) };
  };
  const formats = ({ answer }: ReturnType<typeof twins>) => [
    asText(answer, 200),
    asMarkdown(answer),
    answerAsHtml(answer).replaceAll("&quot;", '"'),
  ];

  test("says who can assume it", () => {
    for (const text of formats(twins()))
      expect(text).toContain('a workload whose token has issuer "https://issuer.example" and subject "other"');
    const { identities } = answerJson(twins().answer);
    expect(identities).toHaveLength(3);
    expect(identities.find(({ name }) => name === "alone")).toEqual({
      identity: twins().alone,
      name: "alone",
      group: ROOT,
      assumable: { claimMatch: MATCH },
      assumedBy: 'a workload whose token has issuer "https://issuer.example" and subject "s"',
    });
  });

  test("shows the uid only where another one has its name", () => {
    const { alone, one, other } = twins();
    for (const text of formats(twins())) {
      expect(text).not.toContain(alone);
      for (const uid of [one, other]) expect(text).toContain(uid);
    }
  });

  test("lists what gives access first, then what changes things, then what reads", () => {
    const [text, markdown, page] = formats(twins());
    for (const list of [text, markdown?.replaceAll("`", "")])
      expect(list).toContain("roles.update, repo.create, repo.list");
    expect(page).toContain("<li>roles.update</li><li>repo.create</li><li>repo.list</li>");
  });
});

test("every format shows who has access without an identity, after the identities", () => {
  const graph = newGraph();
  addGroup(graph, ROOT, "acme", null);
  const owner = addRole(graph, "owner", ["role_bindings.create"]);
  const sso = addProvider(graph, uidIn(ROOT, 5), "sso", null);
  const sre = uidIn(sso, 6);
  mapGroup(graph, sre, sso, "SRE", owner);
  const invite = uidIn(ROOT, 7);
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
  expect(asMarkdown(answer)).toContain("<code>external group SRE of sso</code>  in <code>/</code></summary>");
  expect(answerAsHtml(answer)).toContain(
    '<th scope="row"><a href="#identities-1"><bdi>external group SRE of sso</bdi></a><td class="O">O',
  );
  expect(answerJson(answer).people).toEqual([
    {
      subject: "external group SRE of sso",
      uid: sre,
      who,
      grants: [{ group: ROOT, capability: "role_bindings.create", role: "owner" }],
      unknown: [],
    },
    expect.objectContaining({ subject: "invite ab12", uid: invite }),
  ]);
  const later = at("2026-01-02T00:00:00Z", { capability: "role_bindings.create" });
  expect(answerJson(later).people).toMatchObject([{ subject: "external group SRE of sso" }]);
  expect(asText(at("2026-01-02T00:00:00Z", { capability: "repo.list" }))).not.toContain("SRE");
});
