// A policy in several files. One of a pull request reaches no other file of the machine, whose text a message would show, and exhausts nobody.
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { mistakeText, readPolicy } from "../../../access/policy/parse.ts";
import { testFolder } from "../../support/test-folder.ts";
import { mistakesOf, policyOf, write } from "./files.ts";

const otherFolder = testFolder();
const SECRET = "hunter2";
otherFolder.write("secret.yaml", `${SECRET}: [${SECRET}\n`);

const link = (folder: string, name = "link.yaml") => symlinkSync(otherFolder.path("secret.yaml"), join(folder, name));
const gitConfig = (folder: string) => {
  mkdirSync(join(folder, ".git"));
  writeFileSync(join(folder, ".git/config"), `[http]\n  extraheader = ${SECRET}: ${SECRET}\n`);
};

describe("an include", () => {
  test.each<[what: string, name: string, prepare: ((folder: string) => void) | undefined, text: string]>([
    [
      "of an absolute path",
      otherFolder.path("secret.yaml"),
      undefined,
      "is outside the folder of the policy; only files in it are read",
    ],
    [
      "above the folder",
      "../secret.yaml",
      (folder) => writeFileSync(join(folder, "../secret.yaml"), `${SECRET}: [${SECRET}`),
      "is outside the folder of the policy",
    ],
    ["above it by a way through it", "teams/../../secret.yaml", undefined, "is outside the folder of the policy"],
    ["that is a link to a file elsewhere", "link.yaml", link, "link.yaml is a link to another file, which is not read"],
    [
      "in a folder that is a link",
      "there/secret.yaml",
      (folder) => symlinkSync(otherFolder.path("."), join(folder, "there")),
      "there/secret.yaml is a link to another file",
    ],
    [
      "that is a link to a file of the folder that is no YAML",
      "link.yaml",
      (folder) => {
        gitConfig(folder);
        symlinkSync(".git/config", join(folder, "link.yaml"));
      },
      "link.yaml is a link to another file",
    ],
    ["of a file that is no YAML", ".git/config", gitConfig, ".git/config must be a file of YAML: .yaml, .yml or .json"],
    [
      "of a pipe that nobody writes to",
      "pipe.yaml",
      (folder) => void execFileSync("sh", ["-c", 'mkfifo "$0"', join(folder, "pipe.yaml")]),
      "pipe.yaml is not a regular file",
    ],
    [
      "of a folder",
      "teams.yaml",
      (folder) => mkdirSync(join(folder, "teams.yaml")),
      "teams.yaml is not a regular file",
    ],
    [
      "that is a link to itself",
      "link.yaml",
      (folder) => symlinkSync("link.yaml", join(folder, "link.yaml")),
      "cannot read link.yaml: ELOOP",
    ],
    ["of a name with a zero byte", "a\0.yaml", undefined, "cannot read a\0.yaml: ERR_INVALID_ARG_VALUE"],
  ])("%s is refused, and shows nothing of it", (_, name, prepare, text) => {
    const file = write({ "access.yaml": `include: [${JSON.stringify(name)}]\norganization: acme\n` });
    prepare?.(dirname(file));
    const { policy, mistakes } = readPolicy(file);
    expect(policy).toBe(undefined);
    const [first = "", ...others] = mistakes.map(mistakeText).map((one) => one.replaceAll(`${dirname(file)}/`, ""));
    expect([first.slice(0, 27), others]).toEqual(["access.yaml:1:11: include: ", []]);
    expect(first).toContain(text);
    expect(first).not.toContain(SECRET);
  });

  test("of a link to another file of the policy is that file, once", () => {
    const file = write({
      "access.yaml": "include: [a.yaml, b.yaml]\norganization: acme\n",
      "a.yaml": "groups: { x: }\n",
    });
    symlinkSync("a.yaml", join(dirname(file), "b.yaml"));
    const { policy, mistakes } = readPolicy(file);
    expect(mistakes).toEqual([]);
    expect([...(policy?.groups.keys() ?? [])]).toEqual(["x"]);
  });

  test("may leave its own folder, and stays in that of the policy", () => {
    expect(
      mistakesOf("include: [teams/a.yaml]\norganization: acme\n", {
        "teams/a.yaml": "include: [../shared.yaml]\n",
        "shared.yaml": "groups: { x: }\n",
      }),
    ).toEqual([]);
  });
});

test("a policy that is itself a link to a file elsewhere is refused, and shows nothing of it", () => {
  const file = write({ "other.yaml": "" });
  link(dirname(file), "access.yaml");
  const { mistakes } = readPolicy(file);
  expect(mistakes.map(({ text }) => text)).toEqual([`${file} is a link to another file, which is not read`]);
});

describe("all files of a policy together", () => {
  test("are at most 1,000, those that do not exist among them", () => {
    const names = Array.from({ length: 1001 }, (_, i) => `f${i}.yaml`);
    expect(mistakesOf(`include: [${names}]\norganization: acme\n`)).toEqual([
      "access.yaml:1:1: has more than 1,000 files; divide the policy",
    ]);
  });

  test("have at most 16 MiB, each counted once", () => {
    const text = `# ${"x".repeat(3_999_990)}\ngroups:\n`;
    const others = Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [`${name}.yaml`, text]));
    const [first = ""] = Object.keys(others);
    const include = (names: readonly string[]) => `include: [${names}]\norganization: acme\n`;
    expect(mistakesOf(include(Object.keys(others)), others)).toEqual([
      "access.yaml:1:1: is larger than 16 MiB with the files that it includes; divide the policy",
    ]);
    expect(mistakesOf(include(Array(5).fill(first)), others)).toEqual([]);
  });

  test("are no longer read once they have too many nodes", () => {
    const nodes = `x: [${"a,".repeat(60_000)}]\n`;
    const others = { "a.yaml": nodes, "b.yaml": nodes, "c.yaml": "- not a policy\n" };
    const [text, ...more] = mistakesOf("include: [a.yaml, b.yaml, c.yaml]\norganization: acme\n", others);
    expect(text).toMatch(/has more than 100,000 nodes with the files that it includes/);
    expect(more).toEqual([]);
  });
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

describe("files that include each other", () => {
  test("report what they cannot read, at the place of the include", () => {
    expect(mistakesOf("include: [no.yaml, 7]\norganization: acme\n")).toEqual([
      "access.yaml:1:11: include: there is no file no.yaml",
      "access.yaml:1:20: include[1]: must be the name of a file",
    ]);
    expect(mistakesOf("include: teams\norganization: acme\n")).toEqual([
      "access.yaml:1:10: include: must be a list of files",
    ]);
  });

  test("report a cycle", () => {
    expect(mistakesOf("include: [b.yaml]\norganization: acme\n", { "b.yaml": "include: [access.yaml]\n" })).toEqual([
      "b.yaml:1:11: include: includes itself: access.yaml > b.yaml > access.yaml",
    ]);
  });

  test("report what stands in two of them, at the second", () => {
    const others = { "b.yaml": "organization: acme\nroles:\n  x: { can: [repo.lst] }\n  y: { can: [repo.lst] }\n" };
    expect(mistakesOf("include: [b.yaml]\norganization: acme\nroles: { x: { can: [repo.list] } }\n", others)).toEqual([
      "b.yaml:1:1: organization: is in access.yaml:2:1 already",
      "b.yaml:3:3: roles.x: is in access.yaml:3:10 already",
      "b.yaml:4:14: roles.y.can[0]: there is no capability repo.lst; did you mean repo.list?",
    ]);
  });
});
