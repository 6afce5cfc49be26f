// The programs of README and docs in typical projects, with an SDK that is one year old, and with an old Node.
import { rmSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import ts from "typescript";
import { afterAll, expect, test } from "vitest";
import { createStack, type Stack } from "../harness/engine-stack.ts";
import { createWorkplace } from "../harness/engine-workplace.ts";
import { type DocumentProgram, documents, programsOf } from "../support/document.ts";
import { oldNodeFolder } from "../support/old-node.ts";
import { type Installed, installPackage, templateOptions, writeProject } from "../support/package.ts";

// Of November 2025.
const YEAR_OLD = "3.208.0";

const packages = [installPackage(), installPackage(YEAR_OLD)] as const;
const [newest, yearOld, place] = await Promise.all([...packages, createWorkplace()]);
afterAll(() => place.close());

const asJavaScript = (text: string, module: ts.ModuleKind): string =>
  ts.transpileModule(text, { compilerOptions: { module, target: ts.ScriptTarget.ES2022 } }).outputText;

/** All programs of the documents as one, with the required uid; `asProgram` makes each a file of the project. */
const stackOf = (project: Installed, name: string, files: Record<string, string | object>): Promise<Stack> => {
  const program = writeProject(join(project.folder, name), {
    "Pulumi.yaml": `name: ${name}\nruntime: nodejs\n`,
    // docs/resources/identity-provider.md requires it.
    "Pulumi.dev.yaml": `config:\n  ${name}:clientSecret: a client secret\n`,
    ...files,
  });
  // The engine starts the first `node` of this PATH.
  const env = { ...place.env, PATH: `${join(program, "first")}${delimiter}${process.env.PATH}` };
  return createStack({ folder: join(project.folder, `${name}-stack`), program, env });
};

const programs = (): DocumentProgram[] =>
  documents(newest.path)
    // The program of an export adopts records by a file beside it (test/lifecycle/export.test.ts).
    .filter((document) => document !== "docs/take-over.md")
    .flatMap((document) => programsOf(newest.path, document))
    .map(({ place: at, text }) => ({
      place: at.replace(/\W/g, "-"),
      text: text.replaceAll("<uid of your organization>", place.server.organization),
    }))
    // Those of the native plugin run with it: plugin-install.test.ts, test/lifecycle/native.
    .filter(({ text }) => !text.includes('from "pulumi-irm/plugin"'))
    // An adopted record must exist (test/lifecycle/adopt.test.ts), and so must the file of a policy (access-policy.test.ts). The types
    // of such a program are tested all the same.
    .filter(({ text }) => !/"<uid of [^>]+>"|new AccessPolicy\(/.test(text));

const created = () => ({
  groups: place.rows("groups", "name = ?", "platform").length,
  identities: place.rows("identities", "name = ?", "release workflow").length,
});
const ALL = { groups: 1, identities: 1 };

test("the programs of README and docs run in that of `pulumi new typescript`, and an old Node fails with one sentence", async () => {
  const stack = await stackOf(newest, "template", {
    "package.json": { name: "template", main: "index.ts" },
    "tsconfig.json": { compilerOptions: templateOptions, files: ["index.ts"] },
    "index.ts": programs()
      .map((program) => `import "./${program.place}";\n`)
      .join(""),
    ...Object.fromEntries(programs().map((program) => [`${program.place}.ts`, program.text])),
  });
  await stack.must("up", "--yes", "--skip-preview");
  expect(created()).toEqual(ALL);

  const first = writeProject(join(newest.folder, "template", "first"), { "read.me": "" });
  symlinkSync(join(await oldNodeFolder(), "node"), join(first, "node"));
  const sentence = /pulumi-irm: Node \d+\.\d+\.\d+ is too old; Node 22\.19 or later is required/;
  for (const args of [["preview"], ["destroy", "--yes", "--skip-preview"]]) {
    const { code, output } = await stack.run(...args);
    expect(code).not.toBe(0);
    expect(output).toMatch(sentence);
    expect(output).not.toMatch(/^\s+at |withResolvers/m);
  }
  expect(created()).toEqual(ALL);

  rmSync(first, { recursive: true });
  await stack.must("destroy", "--yes", "--skip-preview");
  expect(created()).toEqual({ groups: 0, identities: 0 });
});

test(`the programs of README and docs run as an ES module with one SDK, ${YEAR_OLD}`, async () => {
  const esm = ts.ModuleKind.ESNext;
  const stack = await stackOf(yearOld, "module", {
    "package.json": { name: "module", type: "module", main: "index.js" },
    "index.js": `${programs()
      .map((program) => `import "./${program.place}.js";\n`)
      .join("")}import { createRequire } from "node:module";
const require = createRequire(import.meta.resolve("pulumi-irm"));
export const sdk = require("@pulumi/pulumi/package.json").version;\n`,
    ...Object.fromEntries(programs().map((program) => [`${program.place}.js`, asJavaScript(program.text, esm)])),
  });
  expect((await stack.must("up", "--yes", "--skip-preview")).output).toContain(`"${YEAR_OLD}"`);
  expect(created()).toEqual(ALL);
  await stack.must("up", "--refresh", "--yes", "--skip-preview", "--expect-no-changes");
});
