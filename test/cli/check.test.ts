// `irm check`: mistakes on stdout, how many on stderr, and the exit code.
import { writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { offlineText } from "../../access/roles/lock.ts";
import { runCommand, startCommand, temporaryFolder } from "../support/command.ts";
import { runIrm } from "../support/irm.ts";

const folder = temporaryFolder();
afterAll(folder.remove);

const write = (name: string, text: string): string => {
  const file = folder.path(name);
  writeFileSync(file, text);
  return file;
};

test("prints each mistake as file:line:column: path: text, in the order of the file, and exits with 1", async () => {
  const file = write(
    "wrong.yaml",
    "organization: acme\nidentities:\n  a: {}\nroles: { publisher: { can: [repo.lst] } }\naccess: { /: { viewr: [a] } }\n",
  );
  const { code, stdout, stderr } = await runIrm("check", file);
  expect(stdout.split("\n")).toEqual([
    expect.stringContaining(`${file}:3:3: identities.a: names no workload that can assume it; give one of github, `),
    `${file}:4:29: roles.publisher.can[0]: there is no capability repo.lst; did you mean repo.list?`,
    `${file}:5:16: access./.viewr: there is no role viewr; did you mean viewer?`,
    "",
  ]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "irm check: 3 mistakes\n" });
});

test("prints nothing on stdout where there are no mistakes, and exits with 0", async () => {
  const file = write(
    "right.yaml",
    'organization: acme\nidentities: { a: { google: { uniqueId: "107517467455664443765" } } }\naccess: { /: { viewer: [a] } }\n',
  );
  expect(await runIrm("check", file)).toEqual({
    code: 0,
    stdout: "",
    stderr: `${file} has no mistakes: 0 groups, 1 identity, 0 roles, 1 role binding\n${offlineText(undefined)}\n`,
  });
});

test("reports a file that does not exist, in a separate process too", async () => {
  expect(await runCommand("check", "/no/access.yaml")).toEqual({
    code: 1,
    stdout: "/no/access.yaml:1:1: there is no file /no/access.yaml\n",
    stderr: "irm check: 1 mistake\n",
  });
});

test("checks access.yaml of this folder where no file is given", async () => {
  write("access.yaml", "organization: acme\n");
  const before = process.cwd();
  process.chdir(folder.path("."));
  const finished = await runIrm("check").finally(() => process.chdir(before));
  expect(finished).toMatchObject({ code: 0, stderr: expect.stringMatching(/^access\.yaml has no mistakes: /) });
});

test("says of a folder that it is no file", async () => {
  const before = process.cwd();
  process.chdir(folder.path("."));
  const finished = await runIrm("check", ".").finally(() => process.chdir(before));
  expect(finished).toMatchObject({ code: 1, stdout: ".:1:1: . is not a regular file\n" });
});

test("names the command for a file of tests", async () => {
  const file = write("access.tests.yaml", "tests: []\n");
  const { code, stdout, stderr } = await runIrm("check", file);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toBe(`irm check: ${file} is a file of tests: \`npx pulumi-irm test ${file}\` finds its mistakes and runs it\n`);
});

test("ends with its own exit code where its reader has gone, as in irm check FILE | head", async () => {
  const started = startCommand("check", "/no/access.yaml");
  started.process.stdout?.destroy();
  expect(await started.finished).toEqual({ code: 1, stdout: "", stderr: "irm check: 1 mistake\n" });
});

test("escapes control characters of a file", async () => {
  const file = write("escape.yaml", 'organization: acme\naccess: { "\\e[31mred": {} }\n');
  const { stdout } = await runIrm("check", file);
  expect(stdout).not.toContain("\u001b");
  expect(stdout).toContain("there is no group \\u001b[31mred");
});
