// Files that would exhaust the reader are refused before anything else.
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { mistakeText, parsePolicy, readPolicy } from "../../../access/policy/parse.ts";
import { mappingsOf } from "../../../access/policy/policy.ts";
import { mistakesOf, policyOf, write } from "./files.ts";

describe("hostile files are refused before anything else:", () => {
  const multiplying = Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(10)}]\n`);
  const NODES = "has more than 100,000 nodes, aliases included; divide the policy";
  test.each<[what: string, text: string, mistake: string]>([
    [
      "more than 4 MiB",
      `organization: acme\n# ${"x".repeat(10_000_000)}\n`,
      "1:1: access.yaml is larger than 4 MiB; divide the policy into files and include them",
    ],
    [
      "more than 100,000 nodes as they stand",
      `organization: acme\nroles: { x: { can: [${"a,".repeat(100_001)}] } }\n`,
      `1:1: ${NODES}`,
    ],
    ["aliases that multiply", `a0: &a0 [x]\n${multiplying.join("")}`, `1:1: ${NODES}`],
    [
      "an alias within its own anchor",
      "organization: acme\ngroups: &g\n  a: { groups: *g }\n",
      "3:16: groups.a.groups: the alias *g is within its own anchor, so it has no end; write it out",
    ],
  ])("%s", (_, text, mistake) => {
    expect(mistakesOf(text)).toEqual([`access.yaml:${mistake}`]);
  });

  test("more than 100,000 nodes in all files together, whatever else is wrong with them", () => {
    const half = (name: string) => `${name}: [&a [${"x,".repeat(300)}], ${"*a,".repeat(200)}]\n`;
    expect(mistakesOf(`include: [b.yaml]\n${half("organization")}`, { "b.yaml": half("roles") })).toEqual([
      "access.yaml:1:1: has more than 100,000 nodes with the files that it includes; divide the policy",
    ]);
  });

  test.each<[string, string]>([
    ["brackets without end", "[".repeat(90_000)],
    ["brackets", `${"[".repeat(500)}${"]".repeat(500)}`],
    ["dashes", `${"- ".repeat(500)}a`],
  ])("nesting by %s", (_, text) => {
    const refusal = /^access\.yaml:1:\d+: is nested more than 400 levels deep$/;
    expect(mistakesOf(text)).toContainEqual(expect.stringMatching(refusal));
  });

  test("bytes that are not UTF-8, and names that every object has", () => {
    const file = write({ "access.yaml": "" });
    writeFileSync(file, Buffer.from([0x61, 0xff]));
    expect(readPolicy(file).mistakes.map(({ text }) => text)).toEqual([`${file} is not UTF-8`]);
    const groups = "groups: { __proto__: { nmae: x } }";
    expect(mistakesOf(`organization: acme\n${groups}\naccess: { /: { toString: [constructor] } }\n`)).toEqual([
      "access.yaml:2:24: groups.__proto__.nmae: there is no such field here; did you mean name?",
      "access.yaml:3:16: access./.toString: there is no role toString; declare it in roles, or run `npx pulumi-irm roles --write` if your service has it",
      "access.yaml:3:27: access./.toString[0]: there is no identity constructor; declare it in identities",
    ]);
  });

  test("__proto__ is a name of records, and of nothing that becomes a key of a record", () => {
    const text = `organization: acme
groups: { __proto__: { groups: { __proto__: } } }
identities: { __proto__: { in: __proto__/__proto__, github: { repository: acme/images, branch: main } } }
roles: { __proto__: { can: [repo.list] } }
people: { sso: { externalGroups: { __proto__: [__proto__] } } }
access: { __proto__: { __proto__: [__proto__] } }
`;
    const policy = policyOf(text);
    expect([...policy.groups.keys()]).toEqual(["__proto__", "__proto__/__proto__"]);
    expect(policy.identities.get("__proto__")?.group).toBe("__proto__/__proto__");
    expect(policy.bindings).toMatchObject([{ group: "__proto__", role: "__proto__", identity: "__proto__" }]);
    expect(mappingsOf(policy)).toEqual([{ provider: "sso", externalGroupId: "__proto__", role: "__proto__" }]);
    expect(parsePolicy(parse(text)).mistakes).toEqual([]);

    const claims = "{ claimMatch: { issuer: https://a.example, subject: s, claims: { __proto__: x } } }";
    const wrong = `organization: acme\n__proto__: {}\nidentities: { a: ${claims}, __proto__: 1 }\n`;
    expect(mistakesOf(wrong)).toEqual([
      "access.yaml:2:1: __proto__ cannot be a name here",
      "access.yaml:3:83: identities.a.claimMatch.claims: __proto__ cannot be a name here",
      "access.yaml:3:114: identities.__proto__: must be a map",
    ]);
    expect(parsePolicy(parse(wrong)).mistakes.map(mistakeText)).toEqual(
      expect.arrayContaining(["identities.a.claimMatch.claims: __proto__ cannot be a name here"]),
    );
  });

  test("misspelt names in thousands: only the first are compared with all others", () => {
    const keys = Array.from({ length: 1000 }, (_, i) => i);
    const groups = keys.map((i) => `  group-${i}:`).join("\n");
    const can = keys.map((i) => `repo.lst${i}`).join();
    const rows = keys.map((i) => `  grop-${i}:`).join("\n");
    const mistakes = mistakesOf(
      `organization: acme\ngroups:\n${groups}\nroles: { r: { can: [${can}] } }\naccess:\n${rows}\n`,
    );
    expect(mistakes).toHaveLength(2000);
    expect(mistakes[0]).toMatch(/there is no capability repo.lst0; did you mean repo.list\?$/);
    expect(mistakes.at(-1)).toMatch(/there is no group grop-999; declare it in groups$/);
  });

  test("a path of many slashes, and a name of a megabyte", () => {
    const path = `${"/".repeat(300_000)}x`;
    const name = "b".repeat(1_000_000);
    const github = "github: { repository: a/b, branch: m }";
    const text = `organization: acme\ngroups: { ${"a".repeat(200)}: }\nidentities:\n  a: { in: ${path}, ${github} }\n  b: { in: ${name}, ${github} }\n`;
    expect(mistakesOf(text)).toEqual([
      `access.yaml:4:12: identities.a.in: there is no group ${path}; declare it in groups`,
      `access.yaml:5:12: identities.b.in: there is no group ${name}; declare it in groups`,
    ]);
  });

  test("objects that contain themselves, or are too large", () => {
    const groups: Record<string, unknown> = {};
    groups.a = { groups };
    expect(parsePolicy({ organization: "acme", groups }).mistakes.map(mistakeText)).toEqual([
      "groups.a.groups: contains itself",
    ]);
    const can = new Array(100_001).fill("repo.list");
    expect(parsePolicy({ organization: "acme", roles: { x: { can } } }).mistakes.map(mistakeText)).toEqual([
      "has more than 100,000 nodes; divide the policy",
    ]);
  });
});
