// `irm check`: mistakes on stdout, how many on stderr, and the exit code.
import { expect, test } from "vitest";
import { offlineText } from "../../access/roles/lock.ts";
import { startCommand } from "../support/command.ts";
import { exactFailure, runIrm } from "../support/irm.ts";
import { testFolder, within } from "../support/test-folder.ts";

const folder = testFolder();

const { write } = folder;

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

test.each([
  ["viewer", 0, "passed  nobody owns it\n1 test, all passed\n"],
  ["owner", 3, expect.stringMatching(/^FAILED {2}nobody owns it\n.*\n1 test, 1 failed\n$/)],
])("runs the tests of a policy that gives %s, and exits with %i", async (role, code, stdout) => {
  const identities = '{ a: { google: { uniqueId: "107517467455664443765" } } }';
  const file = write("own.yaml", `organization: acme\nidentities: ${identities}\naccess: { /: { ${role}: [a] } }`);
  write("own.tests.yaml", "tests: [{ name: nobody owns it, identity: a, cannot: { capability: [roles.delete] } }]");
  expect(await runIrm("check", file)).toMatchObject({ code, stdout });
});

test("prints the mistakes of the tests beside the policy, and runs none", async () => {
  const file = write("tested.yaml", "organization: acme\n");
  const tests = write("tested.tests.yaml", "tests: [{ name: x, identity: b, cannot: { capability: [groups.list] } }]");
  const stdout = expect.stringMatching(`^${tests}:1:\\d+: .*there is no identity b.*\n$`);
  expect(await runIrm("check", file)).toEqual({ code: 1, stdout, stderr: "irm check: 1 mistake\n" });
});

test("warns of what may be meant, and exits with 0", async () => {
  const file = write(
    "warnings.yaml",
    `organization: acme
identities:
  old: { github: { repository: acme/images, branch: main } }
  both: { github: { repository: acme/*, ownerId: "1", branch: main } }
  other: { github: { repository: umbrella/images, branch: main } }
  new: { github: { repository: Acme/charts, ownerId: "1", repositoryId: "2", branch: main } }
  odd: { claimMatch: { issuer: https://issuer.example, subject: "a*" } }
`,
  );
  const { code, stdout, stderr } = await runIrm("check", file);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(stderr.split("\n").filter((line) => line.startsWith("warning"))).toEqual([
    expect.stringMatching(
      /^warning: .*warnings\.yaml:3:3: identities\.old: has a GitHub subject without numeric ids, and identities\.new, of the same owner, has one with them: .* write repo:OWNER@OWNER_ID\/REPOSITORY@REPOSITORY_ID:…/,
    ),
    expect.stringMatching(
      /^warning: .*:7:56: identities\.odd\.claimMatch\.subject: is compared byte for byte, so \* stands for itself; where it is to stand for any characters, write subjectPattern: "a\[\^\/:\]\*"$/,
    ),
  ]);
});

test("refuses what AccessPolicy refuses of people: without an organization that exists, there is no identity provider", async () => {
  const people = "people: { sso: { externalGroups: { SRE: [viewer] } } }\n";
  const file = write("people/access.yaml", `organization: acme\n${people}`);
  expect(await runIrm("check", file)).toMatchObject({
    code: 1,
    stdout: `${file}:2:11: people.sso: this run creates the organization, so it has no identity provider yet; add people once it has one\n`,
  });
  expect((await runIrm("check", file, "--organization-exists")).code).toBe(0);
  const uid = "f".repeat(40);
  expect((await runIrm("check", write("uid.yaml", `organization: { uid: ${uid} }\n${people}`))).code).toBe(0);
  write("people/adopt.json", JSON.stringify({ groups: { "/": uid } }));
  expect((await runIrm("check", file)).code).toBe(0);
});

test("checks access.yaml of this folder where no file is given, and says of a folder that it is no file", async () => {
  write("access.yaml", "organization: acme\n");
  const check = (...files: string[]) => within(folder.path("."), () => runIrm("check", ...files));
  expect(await check()).toMatchObject({ code: 0, stderr: expect.stringMatching(/^access\.yaml has no mistakes: /) });
  expect(await check(".")).toMatchObject({ code: 1, stdout: ".:1:1: . is not a regular file\n" });
});

test("names the command for a file of tests", async () => {
  const file = write("access.tests.yaml", "tests: []\n");
  expect(await runIrm("check", file)).toEqual(
    exactFailure(
      1,
      `irm check: ${file} is a file of tests: \`npx pulumi-irm test ${file}\` finds its mistakes and runs it\n`,
    ),
  );
});

test("ends with its own exit code where its reader has gone, as in irm check FILE | head", async () => {
  const started = startCommand("check", "/no/access.yaml");
  started.process.stdout?.destroy();
  expect(await started.finished).toEqual(exactFailure(1, "irm check: 1 mistake\n"));
});

test("escapes control characters of a file", async () => {
  const file = write("escape.yaml", 'organization: acme\naccess: { "\\e[31mred": {} }\n');
  const { stdout } = await runIrm("check", file);
  expect(stdout).not.toContain("\u001b");
  expect(stdout).toContain("there is no group \\u001b[31mred");
});
