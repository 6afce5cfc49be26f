// The page of a review: what it contains, that it loads nothing, and that names cannot add to it.
import { hash } from "node:crypto";
import { DomUtils, parseDocument } from "htmlparser2";
import { expect, test } from "vitest";
import { reviewAsHtml } from "../../../access/format/html/review.ts";
import { reviewOf } from "../../../access/review/index.ts";
import type { Finding } from "../../../access/review/report.ts";
import { addGroup, addIdentity, addRole, bind, changed, graphOf, proposalBetween, roleUid, uid } from "../graphs.ts";
import { largeReview, reviewBetween, smallReview } from "./reviews.ts";

interface Element {
  name: string;
  attributes: Record<string, string>;
  text: string;
}

/** Every element of a page with its own text and that of what it contains. */
const elementsOf = (page: string): Element[] =>
  DomUtils.findAll(() => true, parseDocument(page).children).map((element) => ({
    ...{ name: element.name, attributes: element.attribs, text: DomUtils.textContent(element) },
  }));

const LINK = /^#|^https:\/\/github\.com\/[\w-]+\/[\w-]+\/blob\/v[\d.]+\/docs\/change\.md#[a-z-]+$/;

const textOf = (page: string): string => (elementsOf(page).find(({ name }) => name === "main") as Element).text;

const page = reviewAsHtml(smallReview());
const elements = elementsOf(page);
const headings = elements.filter(({ name }) => name === "h2").map(({ text }) => text);

test("the page has a section for each part of the report", () => {
  expect(headings).toEqual([
    "Who may do what where",
    "Access that is not as it was recorded",
    "Steps that fail",
    "What else fails",
    "Not known",
    "Not visible to the caller, so in neither gains nor losses",
    "Findings",
    "What each of them gains and loses",
    "Roles that change",
    "Deleted groups, and what disappears with them",
    "forceDestroy",
    "Adopted: existing records that the program adopts",
    "Live access that nothing declares",
    "Static keys that end within 30 days",
    "Steps that go through",
    "Changes of other providers, which a review does not run",
    "What the copy lacks",
    "Capabilities",
  ]);
});

const entryOf = (start: string) => elements.find(({ name, text }) => name === "li" && text.startsWith(start))?.text;

test("the page names the property that is not known, and the uids that disappear with a group", () => {
  expect(entryOf("is not known before the update")).toBe("is not known before the updateclusters identity");
  expect(entryOf("legacy: repo")).toMatch(/^legacy: repo old-images.*repo old-images has the uid [0-9a-f/]{50,}$/s);
});

test("the page folds many findings by rule, and says how many of each are denied", () => {
  const finding = (i: number) => ({ subject: `s${i}`, name: `n${i}`, message: "m" });
  const many = (rule: Finding["rule"]): Finding[] => Array.from({ length: 15 }, (_, i) => ({ ...finding(i), rule }));
  const findings: Finding[] = [
    ...[...many("gains-owner"), { ...finding(0), rule: "last-owner-goes" as const }],
    ...many("root-binding").map((one, i) => ({ ...one, ...(i < 2 && { denied: true as const }) })),
  ];
  const report = { ...smallReview().report, findings };
  const shown = elementsOf(reviewAsHtml({ ...smallReview(), report }));
  const summaries = shown.filter(({ name, text }) => name === "summary" && / findings?\b/.test(text));
  expect(summaries.map(({ text }) => text)).toEqual([
    "gains-owner 15 findings",
    "last-owner-goes 1 finding",
    "root-binding 15 findings 2 denied",
  ]);
  const folds = shown.filter(({ name, text }) => name === "details" && /^\S+ \d+ finding/.test(text));
  expect(folds.map(({ attributes }) => "open" in attributes)).toEqual([false, true, false]);
});

test("the page shows what an identity gains and loses, and who can assume it before and after", () => {
  const block = elements.find(({ attributes }) => attributes.id === "identities-1")?.text;
  expect(block).toMatch(
    /^release, who can assume it changes {2}in platform .*: gains 155 capabilities; loses 4 capabilities\n/,
  );
  expect(block).toContain("gains at platform and below, through owner: 155 capabilities, 92 of which change records");
  expect(block).toMatch(/loses at legacy and below, through publisher: manifest\.create/);
  expect(block).toMatch(
    /− can be assumed by .*subject "repo:acme\/images:ref:refs\/heads\/main"As JSON\{\n {2}"claimMatch"/s,
  );
  expect(block).toMatch(/\+ can be assumed by .*matching subject: repo:acme\/.*not matching: .*repo:acme/s);
});

test("the page marks what differs in who people are, and strikes nothing through that holds", () => {
  const [people] = elements.filter(({ name, text }) => name === "details" && text.startsWith("people of acme-sso"));
  for (const [verb, role] of [
    ["gains", "editor"],
    ["loses", "viewer"],
  ])
    expect(people?.text).toContain(`${verb} at / (the organization) and below, through ${role}`);
  const marked = elements.flatMap(({ attributes, name, text }) =>
    attributes.class === "differs" ? `${name} ${text}` : [],
  );
  expect(marked).toEqual(expect.arrayContaining(["del okta", "ins login"]));
  expect(elements.filter(({ name, text }) => name === "del" && text === "loses")).toEqual([]);
});

test("the page marks groups that are new or gone, and findings, and says so when nothing changes", () => {
  const map = elements.find(({ attributes }) => attributes.class === "map")?.text.replace(/\s+/g, " ");
  for (const text of ["legacy deleted", "platform/clusters new", "deploy new"]) expect(map).toContain(text);
  const lists = elements.filter(({ name, attributes }) => name === "ul" && attributes.class === "rows find");
  const items = lists.find(({ text }) => text.includes("gains-owner"))?.text;
  for (const text of ["denied gains-owner  release", "allowed matches-many  release"]) expect(items).toContain(text);
  const targets = new Set(elements.map(({ attributes }) => attributes.id));
  const links = elements.filter(({ name }) => name === "a").map(({ attributes }) => attributes.href as string);
  expect(links.length).toBeGreaterThan(10);
  for (const link of links.filter((one) => !one.startsWith("https:"))) expect(targets).toContain(link.slice(1));
  const graph = graphOf({});
  expect(textOf(reviewAsHtml(reviewBetween(graph, graph)))).toContain("Nobody gains or loses anything.");
});

test("the page loads nothing: its policy admits style and script by hash, and nothing refers elsewhere", () => {
  const policy = elements.find(({ attributes }) => attributes["http-equiv"] === "Content-Security-Policy");
  const hashes = ["style", "script"].map((name) => {
    const [own, ...others] = elements.filter((element) => element.name === name);
    expect(others).toEqual([]);
    return `'sha256-${hash("sha256", own?.text ?? "", "base64")}'`;
  });
  expect(policy?.attributes.content).toBe(
    `default-src 'none'; img-src data:; style-src ${hashes[0]}; script-src ${hashes[1]}; base-uri 'none'; form-action 'none'`,
  );
  for (const { name, attributes } of elements)
    for (const [attribute, value] of Object.entries(attributes)) {
      expect(["src", "srcset", "style", "action", "data", "poster"]).not.toContain(attribute);
      expect(attribute).not.toMatch(/^on/);
      if (attribute === "href") expect(value).toMatch(name === "link" ? /^data:,$/ : LINK);
    }
});

test("names add neither markup nor attributes nor scripts, and what cannot be seen is written out", () => {
  const attacks = [
    `</script><script>alert(1)</script>`,
    ...[`<img src=x onerror=alert(1)>`, `" onmouseover="alert(1)`, `'><svg/onload=alert(1)>`],
    `</details></ul><style>*{display:none}</style>`,
    ...[`&lt;b&gt;`, `<!--`, `\${alert(1)}`, `\u202egpj.exe`, `rel\u200bease`, `\u001b[31mred`],
  ];
  const before = graphOf({});
  const after = changed(before, (graph) => {
    for (const text of attacks) {
      const group = addGroup(graph, `urn:${text}`, text, uid("/"));
      bind(
        graph,
        group,
        addIdentity(graph, uid(hash("sha1", text)), text, group, { issuer: text, subject: text }),
        addRole(graph, text, [text, ...Array.from({ length: 9 }, (_, n) => `${text}.${n}`)], group),
      );
    }
  });
  const [first] = attacks as [string];
  const named = { kind: first, uid: first, name: first };
  const place = { group: first, groupName: first };
  const page = reviewAsHtml(
    reviewBetween(before, after, {
      findings: attacks.map((text) => ({ rule: "gains-owner", subject: text, name: text, message: text })),
      deletedGroups: [{ ...place, contents: [named] }],
      adopted: [{ ...named, resource: first, deletedLater: true }],
      forceDestroy: [{ ...named, resource: first, deletes: true, contents: [named] }],
      undeclared: [{ ...place, binding: first, identity: first, identityName: first, role: first }],
      expiringKeys: [{ ...place, uid: first, name: first, expirationTime: first }],
      unknown: [{ subject: first, property: first, message: first }],
      notVisible: [{ ...place, kind: first, message: first }],
    }),
  );
  const elements = elementsOf(page);
  const names = new Set(elements.map(({ name }) => name));
  for (const name of ["img", "svg"]) expect(names).not.toContain(name);
  expect(elements.filter(({ name }) => name === "script" || name === "style")).toHaveLength(2);
  for (const { attributes } of elements)
    for (const name of Object.keys(attributes)) expect(name).not.toMatch(/^on|[^a-z-]/);
  const text = textOf(page);
  for (const attack of attacks.slice(0, 8)) expect(text).toContain(attack);
  for (const written of ["\\u202egpj.exe", "rel\\u200bease", "\\u001b[31mred"]) expect(text).toContain(written);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  expect(page).not.toMatch(/[\u202e\u200b\u001b]/);
});

const MATCH = { issuer: "https://issuer.example", subjectPattern: "repo:.*" };

test("identities of one name are distinguished", () => {
  const paths = ["ci", "tools/ci", "tools/twin"];
  const graph = graphOf({
    groups: ["tools"],
    roles: { viewer: ["groups.list"] },
    identities: Object.fromEntries(paths.map((path) => [path, MATCH])),
    access: { "/": { viewer: paths } },
  });
  const [twin, second] = [uid("tools/twin"), `${uid("tools")}/${"f".repeat(16)}`];
  bind(graph, uid("/"), addIdentity(graph, second, "twin", uid("tools"), MATCH), roleUid("viewer"));
  const rows = elementsOf(reviewAsHtml(reviewBetween(graph, graph))).filter((one) => one.attributes.scope === "row");
  expect(rows.map(({ text }) => text)).toEqual([
    ...["ci (in /)", "ci (in tools)"],
    ...[`twin (${twin})`, `twin (${second})`].sort(),
  ]);
});

test("the title names the organizations where an identity that changes has access, and all where it could be any", () => {
  const roots = { acme: "1".repeat(40), tools: "2".repeat(40), other: "3".repeat(40) };
  const role = { roles: { viewer: ["groups.list"] } };
  const reader = { identities: { reader: MATCH }, access: { "/": { viewer: ["reader"] } } };
  const before = graphOf({ name: "acme", root: roots.acme, ...role, ...reader });
  graphOf({ name: "tools", root: roots.tools }, before);
  graphOf({ name: "other", root: roots.other, ...reader }, before);
  const after = changed(before, (graph) => bind(graph, roots.tools, uid("reader", roots.acme), roleUid("viewer")));
  const elements = elementsOf(reviewAsHtml(reviewBetween(before, after)));
  expect(elements.find(({ name }) => name === "h1")?.text).toBe("Change in access of acme and tools by this program");
  expect(
    elements.find(({ text }) => /^can be assumed, before and after, by .*matching subject: /s.test(text)),
  ).toBeDefined();
  const hidden = { kind: "role" as const, group: roots.acme, message: "roles of this group cannot be listed" };
  const made = reviewOf(proposalBetween(before, after), { deny: [], allow: [], nowMs: 0, notVisible: [hidden] });
  expect(reviewAsHtml(made)).toContain("<h1>Change in access of acme, other and tools by this program</h1>");
});

test("a page of 500 identities, 250 groups and 5,000 bindings, 300 of which change, stays below 0.9 MB", () => {
  const review = largeReview(7, { groups: 250, identities: 500, bindings: 5_000, changes: 150 });
  expect(Buffer.byteLength(reviewAsHtml(review))).toBeLessThan(900_000);
});
