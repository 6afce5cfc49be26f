// Files that would exhaust the reader are refused before anything else.
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { mistakeText, parsePolicy, readPolicy } from "../../../access/policy/parse.ts";
import { mappingsOf } from "../../../access/policy/policy.ts";
import { testFolder } from "../../support/test-folder.ts";
import { mistakesOf, policyOf, write } from "./files.ts";

const multiplying = Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(10)}]\n`);
const NODES = "has more than 100,000 nodes, aliases included; divide the policy";
test.each<[what: string, text: string, mistake: string]>([
  [
    "more than 4 MiB",
    `organization: acme\n# ${"x".repeat(10_000_000)}\n`,
    "1:1: access.yaml is larger than 4 MiB; divide the policy into files and include them",
  ],
  ["100,000 nodes", `organization: acme\nroles: { x: { can: [${"a,".repeat(100_001)}] } }\n`, `1:1: ${NODES}`],
  ["aliases that multiply", `a0: &a0 [x]\n${multiplying.join("")}`, `1:1: ${NODES}`],
  [
    "an alias within its own anchor",
    "organization: acme\ngroups: &g\n  a: { groups: *g }\n",
    "3:16: groups.a.groups: the alias *g is within its own anchor, so it has no end; write it out",
  ],
])("refused at once: %s", (_, text, mistake) => expect(mistakesOf(text)).toEqual([`access.yaml:${mistake}`]));

test("refused at once: more than 100,000 nodes in all files together, whatever else is wrong with them", () => {
  const half = (name: string) => `${name}: [&a [${"x,".repeat(300)}], ${"*a,".repeat(200)}]\n`;
  expect(mistakesOf(`include: [b.yaml]\n${half("organization")}`, { "b.yaml": half("roles") })).toEqual([
    "access.yaml:1:1: has more than 100,000 nodes with the files that it includes; divide the policy",
  ]);
});

test.each<[string, string]>([
  ["brackets without end", "[".repeat(90_000)],
  ["brackets", `${"[".repeat(500)}${"]".repeat(500)}`],
  ["dashes", `${"- ".repeat(500)}a`],
])("refused at once: nesting by %s", (_, text) => {
  const refusal = /^access\.yaml:1:\d+: is nested more than 400 levels deep$/;
  expect(mistakesOf(text)).toContainEqual(expect.stringMatching(refusal));
});

test("refused at once: bytes that are not UTF-8, and names that every object has", () => {
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

test("refused at once: __proto__ is a name of records, and of nothing that becomes a key of a record", () => {
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

test("refused at once: misspelt names in thousands, a path of many slashes, and a name of a megabyte", () => {
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
  const path = `${"/".repeat(300_000)}x`;
  const name = "b".repeat(1_000_000);
  const github = "github: { repository: a/b, branch: m }";
  const text = `organization: acme\ngroups: { ${"a".repeat(200)}: }\nidentities:\n  a: { in: ${path}, ${github} }\n  b: { in: ${name}, ${github} }\n`;
  expect(mistakesOf(text)).toEqual([
    `access.yaml:4:12: identities.a.in: there is no group ${path}; declare it in groups`,
    `access.yaml:5:12: identities.b.in: there is no group ${name}; declare it in groups`,
  ]);
});

test("refused at once: objects that contain themselves, or are too large", () => {
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

const otherFolder = testFolder();
const SECRET = "hunter2";
otherFolder.write("secret.yaml", `${SECRET}: [${SECRET}\n`);

const link = (folder: string, name = "link.yaml") => symlinkSync(otherFolder.path("secret.yaml"), join(folder, name));
const gitConfig = (folder: string) => {
  mkdirSync(join(folder, ".git"));
  writeFileSync(join(folder, ".git/config"), `[http]\n  extraheader = ${SECRET}: ${SECRET}\n`);
};

test.each(
  Object.entries<[name: string, prepare: ((folder: string) => void) | undefined, text: string]>({
    "of an absolute path": [
      otherFolder.path("secret.yaml"),
      undefined,
      "is outside the folder of the policy; only files in it are read",
    ],
    "above the folder": [
      "../secret.yaml",
      (folder) => writeFileSync(join(folder, "../secret.yaml"), `${SECRET}: [${SECRET}`),
      "is outside the folder of the policy",
    ],
    "above it by a way through it": ["teams/../../secret.yaml", undefined, "is outside the folder of the policy"],
    "that is a link elsewhere": ["link.yaml", link, "link.yaml is a link to another file, which is not read"],
    "in a folder that is a link": [
      "there/secret.yaml",
      (folder) => symlinkSync(otherFolder.path("."), join(folder, "there")),
      "there/secret.yaml is a link to another file",
    ],
    "that is a link to a file of the folder that is no YAML": [
      "link.yaml",
      (folder) => {
        gitConfig(folder);
        symlinkSync(".git/config", join(folder, "link.yaml"));
      },
      "link.yaml is a link to another file",
    ],
    "of another file": [".git/config", gitConfig, ".git/config must be a file of YAML: .yaml, .yml or .json"],
    "of a pipe that nobody writes to": [
      "pipe.yaml",
      (folder) => void execFileSync("sh", ["-c", 'mkfifo "$0"', join(folder, "pipe.yaml")]),
      "pipe.yaml is not a regular file",
    ],
    "of a folder": ["teams.yaml", (at) => mkdirSync(join(at, "teams.yaml")), "teams.yaml is not a regular file"],
    "that is a link to itself": [
      "link.yaml",
      (folder) => symlinkSync("link.yaml", join(folder, "link.yaml")),
      "cannot read link.yaml: ELOOP",
    ],
    "of a name with a zero byte": ["a\0.yaml", undefined, "cannot read a\0.yaml: ERR_INVALID_ARG_VALUE"],
  }),
)("an include %s is refused, and shows nothing of it", (_, [name, prepare, text]) => {
  const file = write({ "access.yaml": `include: [${JSON.stringify(name)}]\norganization: acme\n` });
  prepare?.(dirname(file));
  const { policy, mistakes } = readPolicy(file);
  expect(policy).toBe(undefined);
  const [first = "", ...others] = mistakes.map(mistakeText).map((one) => one.replaceAll(`${dirname(file)}/`, ""));
  expect([first.slice(0, 27), others]).toEqual(["access.yaml:1:11: include: ", []]);
  expect(first).toContain(text);
  expect(first).not.toContain(SECRET);
});

test("an include of a link to another file of the policy is that file, once; it may leave its own folder", () => {
  const file = write({
    "access.yaml": "include: [a.yaml, b.yaml]\norganization: acme\n",
    "a.yaml": "groups: { x: }\n",
  });
  symlinkSync("a.yaml", join(dirname(file), "b.yaml"));
  const { policy, mistakes } = readPolicy(file);
  expect(mistakes).toEqual([]);
  expect([...(policy?.groups.keys() ?? [])]).toEqual(["x"]);
  expect(
    mistakesOf("include: [teams/a.yaml]\norganization: acme\n", {
      "teams/a.yaml": "include: [../shared.yaml]\n",
      "shared.yaml": "groups: { x: }\n",
    }),
  ).toEqual([]);
});

test("a policy that is itself a link to a file elsewhere is refused, and shows nothing of it", () => {
  const file = write({ "other.yaml": "" });
  link(dirname(file), "access.yaml");
  const { mistakes } = readPolicy(file);
  expect(mistakes.map(({ text }) => text)).toEqual([`${file} is a link to another file, which is not read`]);
});

test("all files of a policy together are at most 1,000, also missing ones, and 16 MiB, each counted once", () => {
  const names = Array.from({ length: 1001 }, (_, i) => `f${i}.yaml`);
  expect(mistakesOf(`include: [${names}]\norganization: acme\n`)).toEqual([
    "access.yaml:1:1: has more than 1,000 files; divide the policy",
  ]);
  const text = `# ${"x".repeat(3_999_990)}\ngroups:\n`;
  const others = Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [`${name}.yaml`, text]));
  const [first = ""] = Object.keys(others);
  const include = (names: readonly string[]) => `include: [${names}]\norganization: acme\n`;
  expect(mistakesOf(include(Object.keys(others)), others)).toEqual([
    "access.yaml:1:1: is larger than 16 MiB with the files that it includes; divide the policy",
  ]);
  expect(mistakesOf(include(Array(5).fill(first)), others)).toEqual([]);
});

test("all files of a policy together are no longer read once they have too many nodes", () => {
  const nodes = `x: [${"a,".repeat(60_000)}]\n`;
  const others = { "a.yaml": nodes, "b.yaml": nodes, "c.yaml": "- not a policy\n" };
  const [text, ...more] = mistakesOf("include: [a.yaml, b.yaml, c.yaml]\norganization: acme\n", others);
  expect(text).toMatch(/has more than 100,000 nodes with the files that it includes/);
  expect(more).toEqual([]);
});

test("a policy joins the files that it includes, each once", () => {
  const policy = policyOf(
    `include: [teams/platform.yaml, teams/data.yaml]
organization: acme
groups: { platform: { description: Builds } }
access: { /: { viewer: [release] } }
`,
    {
      "teams/platform.yaml": `include: [roles.yaml]
groups: { platform: { groups: { registry: {} } } }
identities: { release: { in: platform, github: { repository: acme/images, branch: main } } }
access: { platform/registry: { publisher: [release] } }
`,
      "teams/data.yaml": `include: [roles.yaml]
groups: { data: }
access: { /: { viewer: [], editor: [release] } }
`,
      "teams/roles.yaml": "roles: { publisher: { can: [repo.create] } }\n",
    },
  );
  expect([...policy.groups.keys()]).toEqual(["platform", "platform/registry", "data"]);
  expect(policy.groups.get("platform")?.description).toBe("Builds");
  expect(policy.bindings.map(({ group, role }) => `${group} ${role}`)).toEqual([
    "/ viewer",
    "/ editor",
    "platform/registry publisher",
  ]);
});

test("files that include each other report what they cannot read, a cycle, and what stands in two of them", () => {
  expect(mistakesOf("include: [no.yaml, 7]\norganization: acme\n")).toEqual([
    "access.yaml:1:11: include: there is no file no.yaml",
    "access.yaml:1:20: include[1]: must be the name of a file",
  ]);
  expect(mistakesOf("include: teams\norganization: acme\n")).toEqual([
    "access.yaml:1:10: include: must be a list of files",
  ]);
  expect(mistakesOf("include: [b.yaml]\norganization: acme\n", { "b.yaml": "include: [access.yaml]\n" })).toEqual([
    "b.yaml:1:11: include: includes itself: access.yaml > b.yaml > access.yaml",
  ]);
  const others = { "b.yaml": "organization: acme\nroles:\n  x: { can: [repo.lst] }\n  y: { can: [repo.lst] }\n" };
  expect(mistakesOf("include: [b.yaml]\norganization: acme\nroles: { x: { can: [repo.list] } }\n", others)).toEqual([
    "b.yaml:1:1: organization: is in access.yaml:2:1 already",
    "b.yaml:3:3: roles.x: is in access.yaml:3:10 already",
    "b.yaml:4:14: roles.y.can[0]: there is no capability repo.lst; did you mean repo.list?",
  ]);
});
