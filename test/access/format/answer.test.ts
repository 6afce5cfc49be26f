// An answer of `irm access` in the formats for people.
import { expect, test } from "vitest";
import { answerAsHtml, answerDocument, answerJson } from "../../../access/format/answer.ts";
import { documentAsMarkdown } from "../../../access/format/document/markdown.ts";
import { documentAsText } from "../../../access/format/document/terminal.ts";
import { type DriftReport, driftDocument } from "../../../access/format/drift.ts";
import { answerOf } from "../../../access/query/answer.ts";
import { SECRET } from "../../../pulumi/value.ts";
import { DRIFT, NO_DRIFT, PULL_TOKEN, UNDECLARED } from "../drift/report.ts";
import { addInvite, addProvider, graphOf, mapGroup, ROOT, roleUid, uid } from "../graphs.ts";

const MATCH = { issuer: "https://issuer.example", subject: "s" };

const answerFor = (count = 1, capabilities = ["groups.list", "repo.list", "tag.list"]) => {
  const names = Array.from({ length: count }, (_, i) => `ci${i + 1}`);
  const identities = Object.fromEntries(names.map((name) => [name, MATCH]));
  const graph = graphOf({ roles: { ci: capabilities }, identities, access: { "/": { ci: names } } });
  return answerOf({ graph, notVisible: [] }, {});
};

type Answer = ReturnType<typeof answerOf>;
const asText = (answer: Answer, width = 80) => documentAsText(answerDocument(answer), { color: false, width });
const asMarkdown = (answer: Answer) => documentAsMarkdown(answerDocument(answer));

test("the terminal has colours only where they are wanted, wraps and cuts lists, and counts the rest", () => {
  expect(documentAsText(answerDocument(answerFor()), { color: true, width: 80 })).toContain("\u001b[1mci1\u001b[22m");
  expect(asText(answerFor())).not.toContain("\u001b");
  expect(asText(answerFor(), 30)).toContain("      groups.list, repo.list,\n      tag.list\n");
  const many = Array.from({ length: 30 }, (_, i) => `a${i + 10}.list`);
  expect(asText(answerFor(1, many)).replace(/\n +/g, " ")).toContain("and 6 more (--format json lists all)");
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

test("Markdown has an open block for each identity and counts those without room; a page has each long list of capabilities once", () => {
  const text = asMarkdown(answerFor(5000));
  expect(text).toContain("<summary><code>ci1</code>  in <code>/</code></summary>\n\n- assumed by ");
  expect(text).toContain("- `/`  through `ci`: `groups.list`");
  const shown = text.split("<details open><summary>").length - 1;
  expect(shown).toBeGreaterThan(100);
  expect(text).toContain(`\n${5000 - shown} entries left out here; \`--format json\` has all.\n`);
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

const CI = uid("ci");
const BINDING = UNDECLARED.uid;
const revoke = `npx pulumi-irm revoke --binding ${BINDING}`;

const markdown = (report: Partial<DriftReport>) => documentAsMarkdown(driftDocument({ ...NO_DRIFT, ...report }));
const linesOf = (report: Partial<DriftReport>) =>
  documentAsText(driftDocument({ ...NO_DRIFT, ...report }), { color: false }).split("\n");

test("nothing is one line, and what cannot be seen is said", () => {
  expect(linesOf({})).toEqual(["Drift: no difference", ""]);
  const notVisible = [{ kind: "role", group: ROOT, groupName: "/", message: "roles cannot be listed" }];
  expect(linesOf({ notVisible })).toEqual([
    "Drift: no difference that you can see",
    "",
    "Not visible to the caller, so access may be missing here",
    "- /: roles cannot be listed",
    "",
    "docs/access.md#drift says what to do about each.",
    "",
  ]);
});

test("each list has its heading, and each record its resource, its uid and its values", () => {
  const names = { [CI]: "ci" };
  const lines = linesOf({
    origin: {
      ...{ stack: "access/dev", service: "https://irm.example.com", time: "2026-11-22T00:00:00Z" },
      organizations: ["acme", "tools"],
    },
    drift: [
      DRIFT,
      {
        ...{ ...DRIFT, kind: "role binding", name: "ci as viewer", names },
        differences: [{ path: "role", program: "editor", live: CI }],
      },
      {
        ...{ ...DRIFT, kind: "role binding set", name: null, names },
        differences: [{ path: "bindings", program: null, live: { identity: CI, role: "viewer" } }],
      },
      { ...DRIFT, change: "gone", differences: [] },
      { ...DRIFT, change: "new", uid: null, differences: [] },
      { ...DRIFT, change: "new", differences: [] },
      { ...DRIFT, name: "idp", differences: [{ path: "oidc.clientSecret", program: SECRET, live: SECRET }] },
    ],
    undeclared: [
      { ...UNDECLARED, command: revoke },
      { ...UNDECLARED, own: true },
      { ...UNDECLARED, allowed: true },
      { ...UNDECLARED, kind: "group invite", name: "invite key", identity: null, role: "viewer" },
    ],
    keys: [{ resource: null, uid: CI, name: "ci", groupName: "/", expirationTime: "2026-11-30T00:00:00Z" }],
    pending: [
      {
        ...{ resource: null, logicalName: "x", kind: "group", uid: null, name: null, group: null, groupName: null },
        ...{ time: null, source: "state" },
      },
    ],
    unknown: [{ subject: "", message: "a step cannot be read" }],
  });
  for (const line of [
    "Drift of access/dev in acme and tools: 4 records differ, 1 record is gone, 2 records are not in the stack yet, 2 grants that nothing declares, 1 static key ends, 1 create is open, 1 part is not known",
    "Stack: access/dev",
    "- group team at platform/team has other values",
    `    urn:pulumi:dev::access::irm:index:Group::team, ${DRIFT.uid}`,
    '    description: the program has "a", the service "b"; changed at the service',
    `    role: the program has "editor", the service ci ${CI}`,
    "- role binding set of platform/team has other values",
    "    bindings: only the service has ci as viewer",
    "- group team at platform/team is gone, and an update that refreshes creates it again",
    "- group team at platform/team is not created yet",
    "- group team at platform/team exists, and the next update adopts it",
    "    oidc.clientSecret: a secret, which may differ",
    `- ci is owner at / by role binding ${BINDING}`,
    `    to remove it: ${revoke}`,
    `- ci is owner at / by role binding ${BINDING}; your own access, and no difference`,
    `- ci is owner at / by role binding ${BINDING}; allowed, and no difference`,
    `- invite key gives viewer at / by group invite ${BINDING}`,
    "- ci in /: 2026-11-30T00:00:00Z",
    "- group x, in the state of the engine",
    "    the program does not declare it any more",
    "- a step cannot be read",
    "An update repairs what differs if it refreshes: with options: { refresh: always } in Pulumi.yaml, or as pulumi up --refresh. docs/access.md#drift says what to do about each.",
  ])
    expect(lines).toContain(line);
});

test("pull tokens have a list of their own, where those that are allowed stand alone", () => {
  const [own, far] = [uid("own"), uid("far")];
  const lines = linesOf({
    pullTokens: [
      { ...PULL_TOKEN, role: "registry.pull", more: ["roles.create", "tag.create"], binding: own },
      { ...PULL_TOKEN, name: "far", state: "valid", lastSeen: "2026-11-20T00:00:00Z", binding: far },
      { ...PULL_TOKEN, name: "gone", state: "expired", complete: false, binding: null, role: null },
    ],
    undeclared: [
      { ...UNDECLARED, uid: own, role: "registry.pull" },
      { ...UNDECLARED, uid: far, name: "far", role: "apk.pull", allowed: true, removedBy: "urn:set" },
    ],
  });
  expect(lines).toEqual([
    "Drift: 1 grant that nothing declares; 1 pull token ends within 30 days; 1 pull token has expired",
    "",
    "Access that nothing declares",
    `- ci is registry.pull at / by role binding ${own}`,
    "",
    "Pull tokens",
    "- x is registry.pull at team; 1 day old, not used yet, ends 2026-12-01T00:00:00Z, within 30 days; it holds more than pulls: roles.create, tag.create",
    `    ${PULL_TOKEN.uid}`,
    "- far is apk.pull at team; 1 day old, last seen 2026-11-20T00:00:00Z, ends 2026-12-01T00:00:00Z; an update that refreshes removes this role binding by urn:set; allowed, and no difference",
    `    ${PULL_TOKEN.uid}`,
    "- gone has no role, in team; 1 day old, not used yet, expired 2026-12-01T00:00:00Z; you cannot see all that it holds, so it may hold more",
    `    ${PULL_TOKEN.uid}`,
    "",
    "docs/access.md#drift says what to do about each.",
    "",
  ]);
});

test("Markdown has the difference and the command that removes a grant, and counts those for which there is no room", () => {
  const many = Array.from({ length: 2_000 }, (_, i) => ({ ...UNDECLARED, name: `ci-${i}`, command: revoke }));
  const text = markdown({ drift: [DRIFT], undeclared: many });
  expect(text).toContain("## Drift: 1 record differs, 2000 grants that nothing declares\n");
  expect(text).toContain("- group `team` at `platform/team` has other values\n");
  expect(text).toContain('  - `description`: the program has `"a"`, the service `"b"`; changed at the service\n');
  expect(text).toContain(`\n  - to remove it: \`${revoke}\`\n`);
  expect(text).toMatch(/\n[\d,]+ entries left out here; `--format json` has all\.\n/);
});
