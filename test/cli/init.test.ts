// `irm init`: a first policy file, right as it stands.
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { offlineText } from "../../access/roles/lock.ts";
import { temporaryFolder } from "../support/command.ts";
import { runIrm } from "../support/irm.ts";

const folder = temporaryFolder();
afterAll(folder.remove);

test("writes a file in which irm check finds no mistakes", async () => {
  const file = folder.path("access.yaml");
  expect(await runIrm("init", file, "--organization", "acme.example")).toEqual({
    code: 0,
    stdout: "",
    stderr:
      `wrote ${file}: change it to your organization, then run \`npx pulumi-irm check ${file}\`\n` +
      `wrote ${folder.path(".gitignore")}: packages, and the database of \`npx pulumi-irm serve --db\`\n` +
      "add to your Pulumi.yaml: options: { refresh: always }, or no update repairs what is changed by hand\n",
  });
  expect(readFileSync(folder.path(".gitignore"), "utf8")).toBe("node_modules/\n*.db\n*.db-shm\n*.db-wal\n");
  const text = readFileSync(file, "utf8");
  expect(text).toContain("\norganization: acme.example\n");
  expect(text).toContain("# yaml-language-server: $schema=./node_modules/pulumi-irm/access.schema.json\n");
  expect(await runIrm("check", file)).toEqual({
    code: 0,
    stdout: "",
    stderr: `${file} has no mistakes: 2 groups, 2 identities, 1 role, 2 role bindings\n${offlineText(undefined)}\n`,
  });
});

test("never writes over a file", async () => {
  const file = folder.path("mine.yaml");
  writeFileSync(file, "mine\n");
  expect(await runIrm("init", file)).toEqual({
    code: 1,
    stdout: "",
    stderr: `irm init: ${file} exists already; give another name\n`,
  });
  expect(readFileSync(file, "utf8")).toBe("mine\n");
});

test("lets the project beside the policy refresh with each update, and leaves all else in it alone", async () => {
  const file = folder.path("Pulumi.yaml");
  const own = "name: access # ours\r\nruntime:   nodejs";
  const init = async (name: string, text: string) => {
    writeFileSync(file, text);
    const { code, stderr } = await runIrm("init", folder.path(name));
    expect(code, stderr).toBe(0);
    return { stderr, after: readFileSync(file, "utf8") };
  };
  const added = await init("a.yaml", own);
  expect(added.after).toBe(`${own}\noptions:\n  refresh: always\n`);
  expect(added.stderr).toContain(`added to ${file}: options: { refresh: always }, so that each update repairs`);
  const chosen = `${own}\noptions: { refresh: never }\n`;
  expect(await init("b.yaml", chosen)).toEqual({ after: chosen, stderr: expect.not.stringContaining("refresh") });
  for (const [name, text] of [
    ["c.yaml", `${own}\noptions: { deploymentSettings: {} }\n`],
    ["d.yaml", '{ "name": "access", "runtime": "nodejs" }'],
  ] as const) {
    const { stderr, after } = await init(name, text);
    expect(after).toBe(text);
    expect(stderr).toContain(`add to ${file}: options: { refresh: always }`);
  }
});

test("names what an existing .gitignore lacks, and leaves it alone", async () => {
  const file = folder.path(".gitignore");
  writeFileSync(file, "# mine\r\n*.db\r\nnode_modules/");
  expect(await runIrm("init", folder.path("second.yaml"))).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/\nadd to .*\.gitignore: \*\.db-shm, \*\.db-wal\n/),
  });
  expect(readFileSync(file, "utf8")).toBe("# mine\r\n*.db\r\nnode_modules/");
  writeFileSync(file, "node_modules/\n*.db\n*.db-shm\n*.db-wal\n");
  expect((await runIrm("init", folder.path("third.yaml"))).stderr).not.toContain(".gitignore");
});

test("says why it cannot write, and which name is none", async () => {
  expect(await runIrm("init", "/no/access.yaml")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^irm init: cannot write \/no\/access\.yaml: ENOENT/),
  });
  expect(await runIrm("init", folder.path("new.yaml"), "--organization", "Acme")).toMatchObject({
    code: 2,
    stderr: 'irm init: --organization: name must match "^[a-z0-9 ._-]{1,}$"\nRun `npx pulumi-irm init --help`.\n',
  });
});
