// The same organization in each language: created and destroyed. And the programs of docs/resources.md#native-plugin, and of the module for Go.
import { execFileSync } from "node:child_process";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { writeGoTarball } from "../../scripts/build/release-files.ts";
import { GO_SDK } from "../../scripts/generate/sdk-schema.ts";
import { root } from "../harness/api-process.ts";
import { createStack, type Stack } from "../harness/engine-stack.ts";
import { openWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import {
  createExample,
  createGoProgram,
  createPythonProgram,
  createYamlProgram,
  withoutGo,
  withoutPython,
} from "../harness/language-program.ts";

// The root Pulumi.yaml is the example's; a stack's configuration lies beside it.
const STACK = `demo-test-${process.pid}`;

const examples: { example: string; open: (place: Workplace) => Promise<Stack>; missing?: string }[] = [
  {
    example: "organization",
    open: (place) => createStack({ folder: place.folder, program: root, name: STACK, env: place.env }),
  },
  { example: "yaml", open: (place) => createExample(place, "yaml") },
  { example: "python", open: (place) => createExample(place, "python"), missing: withoutPython },
];

const place = openWorkplace();
afterAll(() => rmSync(join(root, `Pulumi.${STACK}.yaml`), { force: true }));

/** Everything below the root, with names instead of uids. */
const records = (): object => {
  const [acme] = place.rows("groups", "name = ?", "acme");
  expect(acme?.parent).toBeNull();
  const below = (table: string) => place.rows(table, "uid LIKE ?", `${acme?.uid}/%`);
  const named = ["groups", "identities", "roles"].flatMap(below);
  const nameOf = (uid: unknown) =>
    [...named, ...place.rows("roles")].find((row) => row.uid === uid)?.name ?? (uid === acme?.uid ? "acme" : uid);
  const bindings = below("role_bindings").map(
    ({ parent, identity_uid, role_uid }) => `${nameOf(identity_uid)} ${nameOf(role_uid)} ${nameOf(parent)}`,
  );
  // The time of creation, until somebody signs in.
  const contentOf = ({ body }: (typeof named)[number]) => ({ ...body, lastSeenTime: undefined });
  return {
    root: acme?.body,
    named: Object.fromEntries(named.map((row) => [row.name, { parent: nameOf(row.parent), ...contentOf(row) }])),
    bindings: bindings.sort(),
  };
};
let expected: object | undefined;

for (const { example, open, missing = "" } of examples) {
  it.skipIf(missing)(`examples/${example} is created, and destroyed${missing}`, async () => {
    const stack = await open(place);
    // The first one with its preview, in which nothing exists yet.
    const hasPreview = expected === undefined;
    const { output } = await stack.must("up", "--yes", ...(hasPreview ? [] : ["--skip-preview"]));
    const [, preview = "", update = ""] = output.split(/^(?:Previewing update|Updating) \(/m);
    const granted = 'RoleBinding release-edits-clusters is new: identity "release workflow", role "editor"';
    expect(hasPreview ? preview : output).toContain(granted);
    // The reader of the preview has seen it.
    if (hasPreview) expect(update).not.toContain("is new");
    const made = records();
    expected ??= made;
    // Nothing but its own name is different in another language.
    expect(made).toEqual(expected);
    expect(Object.keys((made as { named: object }).named).sort()).toEqual([
      "clusters",
      "deploy workflow",
      "platform",
      "product",
      "publisher",
      "pull requests",
      "registry",
      "release workflow",
    ]);
    await stack.must("destroy", "--yes", "--skip-preview");
    expect(place.rows("groups").map(({ uid }) => uid)).toEqual([place.server.organization]);
  });
}

// As pages have them, with the uid filled in.
const programOf = (language: string, text: RegExp, file = "docs/resources.md"): string => {
  const page = readFileSync(join(root, file), "utf8");
  const programs = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, own]) => own === language);
  const [[, , program = ""] = []] = programs.filter(([, , own = ""]) => text.test(own));
  return program.replaceAll("<uid of your organization>", place.server.organization);
};

/** The numbers of changes in a preview, beside a policy for the page of AccessPolicy. */
const created = async (program: Program) => {
  const policy = { organization: { uid: place.server.organization }, groups: { platform: {} }, identities: {} };
  const identities = {
    release: { in: "platform", github: { repository: "acme@123456/images@456789", branch: "main" } },
  };
  writeFileSync(join(program.folder, "access.yaml"), JSON.stringify({ ...policy, identities }));
  return JSON.parse((await program.must("preview", "--json")).stdout).changeSummary;
};
const pages = globSync("docs/resources/*.md", { cwd: root });
/** The programs of all pages as one. */
const yamlOfPages = (): { resources: object; outputs: object } => {
  const programs = pages.map((page) => parse(programOf("yaml", /^resources:/, page)));
  const [resources, outputs] = ["resources", "outputs"].map((part) =>
    Object.assign({}, ...programs.map((one) => one[part])),
  );
  return { resources, outputs };
};
/** The stack, and the group and the identity of the policy. */
const ofPages = () => ({ create: Object.keys(yamlOfPages().resources).length + 3 });

it("docs/resources.md#native-plugin has a program in YAML that can be created, and so have the pages of resources", async () => {
  const [, resources = ""] = programOf("yaml", /^runtime: yaml$/m).split(/^(?=resources:)/m);
  const program = await createYamlProgram(place, "docs-yaml", resources);
  expect(await created(program)).toEqual({ create: 4 });
  program.write(stringify(yamlOfPages()));
  expect(await created(program)).toEqual(ofPages());
});

it.skipIf(withoutPython)(
  `docs/resources.md#native-plugin has a program in Python that can be created, and so have the pages${withoutPython}`,
  async () => {
    const program = await createPythonProgram(place, "docs-python", programOf("python", /^import pulumi_irm/m));
    expect(await created(program)).toEqual({ create: 4 });
    program.write(pages.map((page) => programOf("python", /^import pulumi_irm/m, page)).join("\n"));
    expect(await created(program)).toEqual(ofPages());
  },
);

it.skipIf(withoutGo)(
  `docs/resources.md#native-plugin and the module have programs in Go that can be created${withoutGo}`,
  async () => {
    const programs = ["docs/resources.md", `${GO_SDK}/README.md`].map((file) => programOf("go", /^func main/m, file));
    const [page = "", module = ""] = programs;
    const [, commands = ""] =
      /^### Go\n+```\n(.*?)^```/ms.exec(readFileSync(join(root, "docs", "resources.md"), "utf8")) ?? [];
    const program = await createGoProgram(place, "docs-go", page, async (folder) => {
      const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
      await writeGoTarball(version, folder);
      // The plugin is in Pulumi.yaml; test/package/plugin-install.test.ts installs it.
      const own = commands.replace(/^pulumi plugin install .*\n/m, "");
      expect(own).toContain("go mod tidy");
      execFileSync("sh", ["-ec", own], { cwd: folder });
    });
    expect(await created(program)).toEqual({ create: 4 });
    program.write(module);
    expect(await created(program)).toEqual({ create: 3 });
  },
);
