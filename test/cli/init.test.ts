// `irm init`: a first project, right as it stands.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { MAIN } from "../support/command.ts";
import { exactFailure, runIrm, usageError } from "../support/irm.ts";
import { testFolder } from "../support/test-folder.ts";

const folder = testFolder();
const ADD = "add an AccessPolicy of access.yaml to your program: docs/policy.md#in-a-pulumi-program\n";

test("writes a project in which check and test find no mistakes, and says what to do next", async () => {
  const project = join(folder.path("new"), "acme access");
  const path = (name: string) => join(project, name);
  expect(await runIrm("init", project, "--organization", "acme.example")).toEqual({
    code: 0,
    stdout: "",
    stderr: `wrote ${path("access.yaml")}        who may do what
wrote ${path("access.tests.yaml")}  what must hold, whatever is edited there
wrote ${path("review.yaml")}        what a review must not find
wrote ${path("Pulumi.yaml")}        the project; each update repairs what somebody changed by hand
wrote ${path("index.ts")}           the program: it creates what access.yaml says
wrote ${path(".gitignore")}         packages, local databases and local state

Next:
  cd "${project}"
  ${[
    ['eval "$(npx pulumi-irm serve --dev --background)"', "a server to try it on"],
    ["export PULUMI_BACKEND_URL=file://$PWD PULUMI_CONFIG_PASSPHRASE=choose-one", "keeps the state in this folder"],
    ["pulumi stack init dev", ""],
    ["pulumi up", "creates what access.yaml says"],
    ["npx pulumi-irm review", "after an edit: who gains and who loses access"],
  ]
    .map(([command = "", why]) => `${command.padEnd(Math.max(74, `cd "${project}"`.length + 1))} ${why}`.trimEnd())
    .join("\n  ")}
`,
  });
  expect(readFileSync(path(".gitignore"), "utf8")).toBe("node_modules/\n*.db\n*.db-shm\n*.db-wal\n.pulumi/\n");
  expect(readFileSync(path("Pulumi.yaml"), "utf8")).toMatch(
    /^name: acme-access\n.*\nruntime: nodejs\nmain: index\.ts\noptions:\n {2}refresh: always\n$/,
  );
  expect(readFileSync(path("index.ts"), "utf8")).toBe(
    'import { AccessPolicy } from "pulumi-irm";\n\nnew AccessPolicy("acme.example", { file: "access.yaml" });\n',
  );
  const text = readFileSync(path("access.yaml"), "utf8");
  expect(text).toContain("\norganization: acme.example\n");
  expect(text).toContain("# yaml-language-server: $schema=./node_modules/pulumi-irm/access.schema.json\n");
  const passed = "passed  pull requests never create, update or delete\n1 test, all passed\n";
  expect(await runIrm("check", path("access.yaml"))).toMatchObject({ code: 0, stdout: passed });
  expect(await runIrm("test", path("access.yaml"))).toMatchObject({ code: 0, stdout: passed });
});

test("never writes over a file, and writes nothing beside a policy that exists", async () => {
  const file = folder.write("mine/access.yaml", "mine\n");
  expect(await runIrm("init", dirname(file))).toEqual(
    exactFailure(1, `irm init: ${file} exists already; edit it, or give another folder\n`),
  );
  expect(readFileSync(file, "utf8")).toBe("mine\n");
  expect(readdirSync(dirname(file))).toEqual(["access.yaml"]);
});

test("lets a project that exists refresh with each update, and leaves all else in it alone", async () => {
  const own = "name: access # ours\r\nruntime:   nodejs";
  const init = async (name: string, text: string) => {
    const file = folder.write(`${name}/Pulumi.yaml`, text);
    const { code, stderr } = await runIrm("init", dirname(file));
    expect(readdirSync(dirname(file)).toSorted()).toEqual([
      ...[".gitignore", "Pulumi.yaml", "access.tests.yaml", "access.yaml", "review.yaml"],
    ]);
    expect(stderr).toContain(ADD);
    expect(code, stderr).toBe(0);
    return { stderr, after: readFileSync(file, "utf8") };
  };
  const added = await init("a", own);
  expect(added.after).toBe(`${own}\noptions:\n  refresh: always\n`);
  expect(added.stderr).toContain(
    `added to ${folder.path("a/Pulumi.yaml")}: options: { refresh: always }, so that each update repairs`,
  );
  const chosen = `${own}\noptions: { refresh: never }\n`;
  expect(await init("b", chosen)).toEqual({ after: chosen, stderr: expect.not.stringContaining("refresh") });
  for (const [name, text] of [
    ["c", `${own}\noptions: { deploymentSettings: {} }\n`],
    ["d", '{ "name": "access", "runtime": "nodejs" }'],
  ] as const) {
    const { stderr, after } = await init(name, text);
    expect(after).toBe(text);
    expect(stderr).toContain(`add to ${folder.path(`${name}/Pulumi.yaml`)}: options: { refresh: always }`);
  }
});

test("names what an existing .gitignore and program lack, and leaves them alone", async () => {
  const file = folder.write("other/.gitignore", "# mine\r\n*.db\r\nnode_modules/");
  folder.write("other/index.ts", "// mine\n");
  const { code, stderr } = await runIrm("init", dirname(file));
  expect(code).toBe(0);
  expect(stderr).toContain(`\nadd to ${file}: *.db-shm, *.db-wal, .pulumi/\n`);
  expect(stderr).toContain(`\n${ADD}`);
  expect(readFileSync(file, "utf8")).toBe("# mine\r\n*.db\r\nnode_modules/");
  expect(readFileSync(folder.path("other/index.ts"), "utf8")).toBe("// mine\n");
});

test("says why it cannot write, leaves nothing half done, and says which name is none", async () => {
  const file = folder.write("a-file", "mine\n");
  expect(await runIrm("init", file)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^irm init: cannot write into .*a-file: EEXIST/),
  });
  // No file may have more than a kibibyte.
  const half = folder.path("half");
  const limited = 'ulimit -f 1; exec "$0" "$@"';
  const { status, stderr } = spawnSync("bash", ["-c", limited, process.execPath, MAIN, "init", half], {
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(/^irm init: cannot write into .*half: EFBIG/),
  });
  expect(existsSync(half)).toBe(false);
  for (const [args, message] of [
    [["new", "--organization", "Acme"], '--organization: name must match "^[a-z0-9 ._-]{1,}$"'],
    [[""], "the name of the folder is empty; . is this folder"],
  ] as const)
    expect(await runIrm("init", ...args)).toEqual(usageError("irm init", message));
});
