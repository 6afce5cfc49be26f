// The same policy as a component in YAML, TypeScript and Python, by one stack that moves from language to language: the plugin constructs
// what the TypeScript class does.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Report } from "../../access/review/report.ts";
import { root, writesOf } from "../harness/api-process.ts";
import type { Stack } from "../harness/engine-stack.ts";
import { createWorkplace, type Workplace } from "../harness/engine-workplace.ts";
import { reviewOf } from "../harness/irm-command.ts";
import { createMovingProgram, withoutPython } from "../harness/language-program.ts";

const example = (path: string): string => readFileSync(join(root, "examples", path), "utf8");
const policy = example("policy/access.yaml");

/** What follows the plugin in examples/policy-yaml, with the file in the folder of the project. */
const [, body = ""] = example("policy-yaml/Pulumi.yaml").split(/^(?=resources:)/m);
const yaml = body.replace("../policy/access.yaml", "access.yaml");

const typescript = example("policy/index.ts").replace('"pulumi-irm"', '"pulumi-irm/plugin"');

const page = readFileSync(join(root, "docs", "policy.md"), "utf8");
const [, python = ""] = /^```python\n(.*?)^```$/ms.exec(page) ?? [];

describe("a stack with an access policy", () => {
  let place: Workplace;
  let program: Awaited<ReturnType<typeof createMovingProgram>>;
  let run: Stack["commandLine"];
  beforeAll(async () => {
    place = await createWorkplace();
    program = await createMovingProgram(place, "policy", typescript);
    run = program.commandLine;
    writeFileSync(join(program.folder, "access.yaml"), policy);
    // The program is in a folder of its own; the policy is found from the folder of the project.
    mkdirSync(join(program.folder, "program"));
    await program.continueIn("yaml", "main: program\n");
    writeFileSync(join(program.folder, "program", "Main.yaml"), yaml);
  });
  afterAll(() => place.close());

  const writes = async () => writesOf(await place.server.takeRequests()).map(({ operation }) => operation as string);
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

  it("is what docs/policy.md shows in YAML", () => {
    expect(page).toContain(`\`\`\`yaml\n${yaml}\`\`\`\n`);
  });

  it("is reviewed before that: the resources of the component are what gives access", async () => {
    const { code, stdout, stderr } = await reviewOf(program, ["--format", "json"]);
    expect(code, stderr).toBe(0);
    const { identities, unknown } = Report.parse(JSON.parse(stdout));
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

  it("is created by a program in YAML, with the outputs of the component", async () => {
    const up = await run.must("up", "--yes", "--skip-preview");
    expect(up.output).toMatch(/\+ 14 created/);
    const made = await writes();
    expect(made.filter((operation) => operation === "CreateGroup")).toHaveLength(5);
    const { resources: all } = program.state();
    const uidOf = (table: string, name: string) => place.rows(table, "name = ?", name)[0]?.uid;
    expect(all.find(({ type }) => type === "pulumi:pulumi:Stack")?.outputs).toEqual({
      releaseIdentity: uidOf("identities", "release"),
      groups: Object.fromEntries(
        ["platform", "platform/clusters", "platform/registry", "product"].map((path) => [
          path,
          uidOf("groups", path.replace(/^.*\//, "")),
        ]),
      ),
    });
  });

  it("is not changed by the same policy in TypeScript", async () => {
    const before = stored();
    await program.continueIn("typescript", typescript);
    await run.must("up", "--yes", "--skip-preview", "--expect-no-changes");
    expect(stored()).toEqual(before);
    expect(await writes()).toEqual([]);
  });

  it.skipIf(withoutPython)(`is not changed by it in Python after that${withoutPython}`, async () => {
    await program.continueIn("python", python);
    await run.must("preview", "--expect-no-changes");
    expect(await writes()).toEqual([]);
  });

  it("shows all mistakes of its policy in YAML, and plans nothing", async () => {
    await program.continueIn("yaml", yaml);
    const mistaken = policy.replace("in: platform, github", "in: platfrm, github").replace("[review]", "[reviw]");
    writeFileSync(join(program.folder, "access.yaml"), mistaken);
    const preview = await run.run("preview");
    expect(preview.code).not.toBe(0);
    expect(preview.output).toMatch(/^ +1 errored$/m);
    expect(preview.output).toContain(
      [
        "    error: irm:index:AccessPolicy resource 'acme' has a problem: AccessPolicy acme: the policy has 2 mistakes:",
        "access.yaml:13:18: identities.release.in: there is no group platfrm; did you mean platform?",
        "access.yaml:22:17: access./.viewer[0]: there is no identity reviw; did you mean review?",
      ].join("\n      - "),
    );
    expect(await writes()).toEqual([]);
  });

  it("changes what an edit of its policy changes, and shows in the preview who loses access", async () => {
    const edited = policy
      .replace("editor: [deploy]", "editor: [release]")
      .replace(/^ {2}deploy: .*\n/m, "")
      .replace(/^ {2}\/: .*\n/m, "");
    writeFileSync(join(program.folder, "access.yaml"), edited);
    const up = await run.must("up", "--yes");
    const [preview = "", update = ""] = up.output.split(/^Updating/m);
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

  it("is destroyed", async () => {
    await run.must("destroy", "--yes", "--skip-preview");
    expect(place.rows("groups").map(({ uid }) => uid)).toEqual([place.server.organization]);
  });
});
