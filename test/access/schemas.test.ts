// The JSON Schemas of the package: what they are published for is valid by them, and what is not is refused.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { type ChangeContent, changeText } from "../../access/change/change.ts";
import type { Write } from "../../access/change/write.ts";
import { reportAsJson } from "../../access/format/review/document.ts";
import { starterPolicy } from "../../access/policy/starter.ts";
import { EMPTY_REPORT, smallReview } from "./format/reviews.ts";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const packaged = JSON.parse(read("package.json")).exports as Record<string, string>;
const schemaOf = (name: string) => z.fromJSONSchema(JSON.parse(read(packaged[name] as string)));

const schema = schemaOf("./access.schema.json");
const isValid = (text: string): boolean => schema.safeParse(parse(text)).success;

test("access.schema.json accepts the first file of irm init, the examples, and that of the docs", () => {
  const [first = ""] = [...read("docs/policy.md").matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text);
  const examples = ["policy/access.yaml", "environments/production.yaml", "environments/teams/platform.yaml"];
  for (const text of [starterPolicy("acme"), ...examples.map((file) => read(`examples/${file}`)), first])
    expect(isValid(text), text).toBe(true);
});

test.each<[isAccepted: boolean, what: string, text: string]>([
  [true, "empty sections, and an include", "include: [a.yaml]\ngroups:\nidentities:\nroles:\naccess:\n"],
  [true, "a preset", "identities: { a: { github: { repository: a/b, tag: v* } } }"],
  [false, "a preset without its choice", "identities: { a: { github: { repository: a/b } } }"],
  [false, "a preset with two of it", "identities: { a: { github: { repository: a/b, tag: v1, branch: b } } }"],
  [false, "an unknown argument", "identities: { a: { gitlab: { projct: a/b, branch: b } } }"],
  [false, "one of several", "identities: { a: { google: {} } }"],
  [false, "an unknown claim", "identities: { a: { claimMatch: { issuer: https://i.example, subjct: s } } }"],
  [false, "an unknown capability", "roles: { a: { can: [repo.lst] } }"],
  [false, "an empty can", "roles: { a: { can: [] } }"],
  [false, "an unknown section", "identites: {}"],
])("access.schema.json accepts (%s) %s", (isAccepted, _, text) => {
  expect(isValid(`organization: acme\n${text}`)).toBe(isAccepted);
});

const testsSchema = schemaOf("./access.tests.schema.json");
const areValid = (text: string): boolean => testsSchema.safeParse(parse(text)).success;

test("access.tests.schema.json accepts the file of the example, and those of the docs", () => {
  const files = [...read("docs/policy.md").matchAll(/```yaml\n(tests:.*?)```/gs)].map(([, text]) => text as string);
  expect(files.length).toBeGreaterThan(0);
  for (const text of [read("examples/policy/access.tests.yaml"), ...files]) expect(areValid(text), text).toBe(true);
});

test.each([
  ["one capability as cannot", "{ name: a, identity: b, cannot: '*.create' }", true],
  ["all forms of cannot", "{ name: a, identity: b, cannot: [tag.create, { capability: '*.create', at: / }] }", true],
  ["an unknown capability", "{ name: a, identity: b, can: tag.craete }", false],
  ["an unknown workload", "{ name: a, workload: { githb: {} }, cannot: '*' }", false],
  ["an unknown field of a preset", "{ name: a, workload: { github: { repo: a/b } }, cannot: '*' }", false],
  ["an unknown field", "{ name: a, identty: b, can: '*' }", false],
  ["no name", "{ identity: b, can: '*' }", false],
])("access.tests.schema.json: %s", (_, one, expected) => {
  expect(areValid(`tests: [${one}]`)).toBe(expected);
  expect(isValid(`organization: acme\ntests: [${one}]`)).toBe(expected);
});

test("review.schema.json accepts what irm review prints, and requires its members", () => {
  const schema = schemaOf("./review.schema.json");
  for (const report of [EMPTY_REPORT, smallReview().report]) {
    const document = JSON.parse(reportAsJson(report));
    expect(schema.safeParse(document).error).toBeUndefined();
    for (const member of ["identities", "findings", "unknown", "notVisible"])
      expect(schema.safeParse({ ...document, [member]: undefined }).success, member).toBe(false);
  }
});

test("change.schema.json accepts a change, and no write with a member that none has", () => {
  const schema = schemaOf("./change.schema.json");
  const [uid, time] = ["a".repeat(40), "2026-11-28T00:00:00.000Z"];
  const fields = { name: { $text: ["of ", { $segment: 1 }] } };
  const write: Write = { n: 1, method: "CreateGroup", parent: uid, fields };
  const content: ChangeContent = {
    ...{ version: 1, operation: "up", arguments: [], stack: "a/b", services: ["https://irm.example.com"] },
    ...{ created: time, expires: time, as: uid, writes: [write], between: [], before: [], restored: [] },
    rows: [{ change: "gain", identity: { $uid: 1 }, group: uid, capability: "repo.list" }],
    after: [{ identity: { $uid: 1 }, access: null }],
  };
  const change = JSON.parse(changeText(content));
  expect(schema.safeParse(change).error).toBeUndefined();
  expect(schema.safeParse({ ...change, writes: [{ ...write, more: 1 }] }).success).toBe(false);
});
