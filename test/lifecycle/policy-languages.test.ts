// The same policy in YAML, TypeScript and Python, by one stack: the plugin constructs what the TypeScript class does.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { root } from "../harness/api-process.ts";
import type { Stack } from "../harness/engine-stack.ts";
import { openWorkplace } from "../harness/engine-workplace.ts";
import { reportOf } from "../harness/irm-command.ts";
import { createMovingProgram, withoutPython } from "../harness/language-program.ts";

const example = (path: string): string => readFileSync(join(root, "examples", path), "utf8");
const policy = example("policy/access.yaml");

/** What follows the plugin in examples/policy-yaml, with the file in the folder of the project. */
const [, body = ""] = example("policy-yaml/Pulumi.yaml").split(/^(?=resources:)/m);
const yaml = body.replace("../policy/access.yaml", "access.yaml");

const typescript = example("policy/index.ts").replace('"pulumi-irm"', '"pulumi-irm/plugin"');

const page = readFileSync(join(root, "docs", "policy.md"), "utf8");
const [, python = ""] = /^```python\n(.*?)^```$/ms.exec(page) ?? [];

const place = openWorkplace();
let program: Awaited<ReturnType<typeof createMovingProgram>>;
let run: Stack["commandLine"];
beforeAll(async () => {
  program = await createMovingProgram(place, "policy", typescript);
  run = program.commandLine;
  writeFileSync(join(program.folder, "access.yaml"), policy);
  // The program is in a folder of its own; the policy is found from the folder of the project.
  mkdirSync(join(program.folder, "program"));
  await program.continueIn("yaml", "main: program\n");
  writeFileSync(join(program.folder, "program", "Main.yaml"), yaml);
});

/** What the engine stores of the component and its resources, but times and places in a program. Dependencies have no order. */
const stored = () =>
  program
    .state()
    .resources.filter(({ urn }) => urn.includes("irm:index:AccessPolicy"))
    .map(({ urn, type, id, inputs, outputs, dependencies }) => ({
      ...{ urn, type, id, inputs, outputs },
      dependencies: dependencies?.toSorted(),
    }))
    .toSorted((a, b) => (a.urn < b.urn ? -1 : 1));

it("a stack with an access policy is what docs/policy.md shows in YAML", () => {
  expect(page).toContain(`\`\`\`yaml\n${yaml}\`\`\`\n`);
});

it("a stack with an access policy is reviewed before that: its resources are what gives access", async () => {
  const { identities, unknown } = await reportOf(program);
  expect(unknown).toEqual([]);
  const gains = identities.flatMap(({ name, gains: all }) =>
    all.map(({ groupName, role }) => `${name} ${role} ${groupName}`),
  );
  // The identity that creates the organization owns it.
  expect(new Set(gains)).toEqual(
    new Set([
      ...["deploy editor platform/clusters", "release publisher platform/registry"],
      ...["owner owner acme", "review viewer acme"],
    ]),
  );
});

it("a stack with an access policy is created by a program in YAML, with the outputs of the component", async () => {
  expect((await run.must("up", "--yes", "--skip-preview")).output).toMatch(/\+ 14 created/);
  expect((await place.operations()).filter((operation) => operation === "CreateGroup")).toHaveLength(5);
  const { resources: all } = program.state();
  expect(all.find(({ type }) => type === "pulumi:pulumi:Stack")?.outputs).toEqual({
    releaseIdentity: place.uidOf("identities", "release"),
    groups: Object.fromEntries(
      ["platform", "platform/clusters", "platform/registry", "product"].map((path) => [
        path,
        place.uidOf("groups", path.replace(/^.*\//, "")),
      ]),
    ),
  });
});

it("a stack with an access policy is not changed by the same policy in TypeScript", async () => {
  const before = stored();
  await program.continueIn("typescript", typescript);
  await run.must("up", "--yes", "--skip-preview", "--expect-no-changes");
  expect(stored()).toEqual(before);
  expect(await place.operations()).toEqual([]);
});

it.skipIf(withoutPython)(
  `a stack with an access policy is not changed by it in Python after that${withoutPython}`,
  async () => {
    await program.continueIn("python", python);
    await run.must("preview", "--expect-no-changes");
    expect(await place.operations()).toEqual([]);
  },
);

it("a stack with an access policy changes what an edit of its policy changes, and previews who loses access", async () => {
  await program.continueIn("yaml", yaml);
  const edited = policy
    .replace("editor: [deploy]", "editor: [release]")
    .replace(/^ {2}deploy: .*\n/m, "")
    .replace(/^ {2}\/: .*\n/m, "");
  writeFileSync(join(program.folder, "access.yaml"), edited);
  const [preview = "", update = ""] = (await run.must("up", "--yes")).output.split(/^Updating/m);
  const uid = /Identity acme:identity\/deploy is removed:\n.*workflows that name (\S+) in IRM_IDENTITY/.exec(
    preview,
  )?.[1];
  expect(uid).toMatch(/^[0-9a-f]{40}\//);
  expect(preview).toContain("    What the program no longer declares, unless it has failed:\n");
  expect(preview).toContain('    RoleBindingSet acme:access/ is removed:\n      - removes "review" as "viewer"\n');
  expect(preview).toContain(
    'RoleBindingSet acme:access/platform/clusters changes:\n      - adds "release" as "editor"',
  );
  expect(update).toMatch(/~ 1 updated\n +- 2 deleted/);
  expect(update).not.toContain("What the program no longer declares");
  expect(place.rows("identities", "name = 'deploy'")).toEqual([]);
});
