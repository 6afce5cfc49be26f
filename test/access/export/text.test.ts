// What a record says is a text of the program, and its name there readable, unique and independent of the order.
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { writerOf } from "../../../access/export/literal.ts";
import type { Export } from "../../../access/export/model.ts";
import { identifier, type Named, slug, uniqueNames } from "../../../access/export/names.ts";
import { presetFor } from "../../../access/export/preset.ts";
import { pulumiYamlProgram, unsayableInYaml } from "../../../access/export/project.ts";
import { pythonProgram, pythonText } from "../../../access/export/python.ts";
import { TYPESCRIPT } from "../../../access/export/typescript.ts";
import { type Entry, Fields, Reference, type Value } from "../../../access/export/value.ts";
import { type Preset, presetProblems } from "../../../access/preset/preset.ts";
import { type PresetName, presets } from "../../../access/preset/presets.ts";
import { yamlText } from "../../../access/text.ts";
import { ODD } from "../../harness/by-hand.ts";

const spelling = { reference: () => "", secret: () => "" };
const textOf = (value: Value): string => writerOf(TYPESCRIPT, spelling).valueText(value, "", 0);

/** Plain maps, for the context of another realm has objects of its own. */
const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return Array.from(value, plain);
  if (typeof value !== "object" || value === null) return value;
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return new Map(entries.map(([key, one]) => [key, plain(one)]));
};
const evaluated = (text: string): unknown => plain(runInNewContext(`"use strict";(${text})`));

test.each([ODD, "__proto__", "constructor", "\n\r\t\0", "\u2028\u2029", "\ud800", "</script>", `\${process.exit()}`])(
  "%j stays the same text",
  (text) => {
    expect(evaluated(textOf(text))).toBe(text);
    expect(evaluated(textOf(new Map([[text, [text]]])))).toEqual(new Map([[text, [text]]]));
  },
);

test("any value evaluates to itself, and no text shows what a reader cannot see, or ends a line", () => {
  expect(textOf("a\u202eb\u200bc\nd")).toBe('"a\\u202eb\\u200bc\\nd"');
  const key = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("__proto__", "toString", "a-b", "valid"));
  const { value } = fc.letrec<{ value: Value }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.string({ unit: "binary" }),
      fc.integer(),
      fc.boolean(),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }).map((entries) => new Map(entries)),
    ),
  }));
  fc.assert(
    fc.property(value, (one) => {
      expect(evaluated(textOf(one))).toEqual(plain(one));
    }),
  );
});

/** A text in Python as JSON has it: Python has one escape more. */
const textIn = (python: string): string =>
  JSON.parse(
    python.replace(/\\U([0-9a-f]{8})|\\./g, (text, code) =>
      code ? String.fromCodePoint(Number.parseInt(code, 16)) : text,
    ),
  );

test("a text in Python is ASCII in double quotes, and means itself", () => {
  const unit = fc.constantFrom(..."abU\\\"'{}$\n\r\t\0\u2028\u202e\ud800é😀".split(""), "😀");
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      const python = pythonText(text);
      expect(python).toMatch(/^"[ -~]*"$/);
      expect(textIn(python)).toBe(text);
    }),
  );
});

const entryOf = (kind: Entry["kind"], name: string, args: [string, Value][], parent?: Value): Entry => ({
  ...{ kind, uid: "a".repeat(40), name, args: new Fields(args), isAdopted: true },
  ...(parent !== undefined && { parent }),
});
const group = entryOf("group", "1-acme", [["name", "acme"]]);
const identity = (claims: ReadonlyMap<string, Value>) => {
  const claimMatch = new Fields([
    ["subjectPattern", ODD],
    ["claims", claims],
  ]);
  return entryOf("identity", "ci", [["claimMatch", claimMatch]], new Reference(group));
};
const all = (...entries: Entry[]): Export => ({
  ...{ title: "acme", top: group.uid, isPart: false, isAdopted: true, entries },
  ...{ leftOut: [], notListed: [], notVisible: [] },
});

test("Python spells fields in its way, and leaves the keys of maps as they are", () => {
  const program = pythonProgram(all(group, identity(new Map([["eventName", "push"]]))));
  const texts = ['_1_acme_group = irm.Group("1-acme", root=True, name="acme")', "parent=_1_acme_group.uid"];
  for (const text of [...texts, '"subject_pattern": ', '"eventName": "push"']) expect(program).toContain(text);
});

test("YAML has no reference that a record has written", () => {
  const claims = new Map([["plain", `\${acme.uid}`]]);
  const text = pulumiYamlProgram(all(group, identity(claims)), { name: "acme" });
  expect(text).not.toMatch(/[\u2028\u202e]/);
  const { properties } = parse(text).resources.ciIdentity;
  expect(properties.parent).toBe(`\${_1AcmeGroup.uid}`);
  expect(properties.claimMatch).toEqual({
    subjectPattern: ODD.replaceAll("$", "$$$$"),
    claims: { plain: `$\${acme.uid}` },
  });
});

test.each(["fn::readFile", "FN::secret", `\${acme.uid}`])("YAML does not declare a record with the key %j", (key) => {
  const fields = (name: string) => ({ name: "ci", claimMatch: { claims: { [name]: "/etc/passwd$" } } });
  expect(unsayableInYaml("identity", fields(key))).toContain(`has the key ${JSON.stringify(key)}, which is code`);
  expect(unsayableInYaml("identity", fields("key"))).toBeUndefined();
});

test("the name of a group does not choose the encoding of a program in Python", () => {
  const program = pythonProgram({ ...all(group), title: "coding: unicode_escape" });
  // PEP 263: the first line that names one counts.
  const [encoding] = program.split("\n").filter((line) => /^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)/.test(line));
  expect(encoding).toBe(program.split("\n")[0]);
  expect(encoding).toBe("# -*- coding: utf-8 -*-");
});

test.each(["1_000", "0b11", "-0x1F", "2001-01-01", "<<", "\u{e0067}", "\uffff", "no"])(
  "%j is a text in YAML 1.1 too",
  (text) => {
    const yaml = yamlText(new Map([[text, text]]));
    expect(parse(yaml, { version: "1.1" })).toEqual({ [text]: text });
    // An escape is a character, and not a unit of UTF-16.
    expect(yaml).toMatch(/^[ -~\n]*$/);
    expect(yaml).not.toMatch(/\\ud[89a-f]/);
  },
);

const root = "a".repeat(40);
const segment = (n: number): string => n.toString(16).padStart(16, "0");
const named = (n: number, words: string, path = "/"): Named => ({
  ...{ uid: `${root}/${segment(n)}`, words: [words], path, fallback: "group" },
});
const namesOf = (...records: Named[]) => records.map(({ uid }) => uniqueNames(records).get(uid));

test.each([
  ["release workflow", "release-workflow"],
  ["Platform / SRE", "platform-sre"],
  ["...", ""],
  ["é😀", ""],
  [`"); process.exit(1); ("`, "process-exit-1"],
  ["a".repeat(300), "a".repeat(80)],
])("%j has the slug %j", (text, expected) => expect(slug(text)).toBe(expected));

test("a name is that of the record; of equal ones, the path of the group decides, then the uid", () => {
  expect(namesOf(named(1, "platform"))).toEqual(["platform"]);
  expect(namesOf(named(1, "registry", "platform"), named(2, "registry", "product"))).toEqual([
    "platform-registry",
    "product-registry",
  ]);
  expect(namesOf(named(1, "a b", "p"), named(2, "a-b", "p"), named(3, "other"))).toEqual([
    `a-b-${segment(1)}`,
    `a-b-${segment(2)}`,
    "other",
  ]);
  expect(namesOf(named(1, "a 1", "p"), named(2, "a1", "q"))).toEqual(["p-a-1", "q-a1"]);
  expect(namesOf(named(1, "..."))).toEqual(["group"]);
});

test("any records have names of their own, in any order of the list", () => {
  const records = fc.uniqueArray(
    fc.record({
      n: fc.nat(50),
      words: fc.constantFrom("a", "a 1", "a1", "1", "", "a-b", "b", `a-${segment(1)}`),
      path: fc.constantFrom("", "/", "a", "a/b"),
    }),
    { selector: ({ n }) => n },
  );
  fc.assert(
    fc.property(records, (all) => {
      const list = all.map(({ n, words, path }) => named(n, words, path));
      const names = uniqueNames(list);
      expect(new Set([...names.values()].map((name) => identifier(name).toLowerCase())).size).toBe(list.length);
      for (const name of names.values()) expect(identifier(name)).toMatch(/^[a-z_][a-zA-Z0-9]*$/);
      expect(new Map(uniqueNames([...list].reverse()))).toEqual(new Map([...names].reverse()));
    }),
  );
});

const uses: [PresetName, Record<string, string | boolean>][] = [
  ["github", { repository: "acme/images", branch: "main" }],
  ["github", { repository: "acme/*", branch: "release/*", audience: "https://irm.example" }],
  ["github", { repository: "acme@12/images@34", tag: "v1.*" }],
  ["github", { repository: "acme/*", ownerId: "12", event: "pull_request" }],
  ["github", { repository: "acme/image.*-x", ownerId: "12", branch: "main" }],
  ["github", { repository: "acme/images", environment: "prod: eu" }],
  ["github", { repository: "acme/*", event: "pull_request" }],
  ["github", { repository: "acme/images", event: "push", issuer: "https://token.actions.acme.ghe.com" }],
  ["gitlab", { project: "acme/platform/images", branch: "main", protected: true }],
  ["gitlab", { project: "acme/*", tag: "v*", issuer: "https://git.acme.example" }],
  ["buildkite", { organization: "acme", pipeline: "images-*", branch: "main" }],
  ["kubernetes", { issuer: "https://oidc.example", namespace: "team-*", serviceAccount: "deployer" }],
  ["google", { uniqueId: "107517467455664443765" }],
  ["google", { email: "deployer-*@acme.iam.gserviceaccount.com", audience: "irm" }],
  ["google", { uniqueId: "107517467455664443765", email: "deployer@acme.iam.gserviceaccount.com" }],
  ["aws", { account: "123456789012", role: "deployer" }],
  ["aws", { account: "123456789012", role: "deploy-*", session: "i-0123", partition: "aws-cn" }],
  ["aws", { account: "123456789012", role: "deployer", session: "ship", uniqueId: "AROA0123ABCD" }],
  ["aws", { account: "123456789012", user: "teams/deployer", uniqueId: "AIDA0123ABCD" }],
];

test.each(uses)("%s %j is found again in what it writes", (name, args) => {
  const preset = presets[name] as unknown as Preset<typeof args>;
  expect(presetProblems(preset as Preset, args)).toEqual([]);
  expect(presetFor(preset.relationship(args) as never)).toEqual({ name, args });
});

const GITHUB = "https://token.actions.githubusercontent.com";
const subject = "repo:acme/images:ref:refs/heads/main";

test.each([
  { issuer: GITHUB, subject, claims: { actor: "ann" } },
  { issuer: GITHUB, subject, audiencePattern: ".*" },
  { issuer: GITHUB, subjectPattern: "repo:acme/.*:ref:refs/heads/main" },
  { issuerPattern: ".*", subject },
  // A star is literal where the claim is compared byte for byte.
  { issuer: GITHUB, subject: "repo:acme/*:ref:refs/heads/main" },
  { issuer: "https://oidc.example", subject: "system:serviceaccount:prod:a:b" },
])("%j is no preset", (claimMatch) => expect(presetFor({ claimMatch })).toBeUndefined());
