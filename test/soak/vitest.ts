// Tests that `npm test` leaves out, as parts of the long proofs: those of second forms, languages and kinds (test/support/form.ts), with the others
// of their files; and those of programs in Go, for which our module is compiled.
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { GO_MODULE } from "../../plugin/schema/language.ts";
import { capture } from "../../scripts/base/child.mjs";
import { root } from "../../scripts/base/project.mjs";
import { GO_SDK } from "../../scripts/generate/sdk-schema.ts";
import { runGo } from "../../scripts/setup/go-build.mjs";
import { temporaryFolder } from "../support/command.ts";
import type { PartOptions, PartResult } from "./part.ts";

type Log = Pick<PartOptions, "log">;

export const forms = async ({ log = () => {} }: Log): Promise<PartResult> => {
  const files = globSync("test/{faults,lifecycle,package}/**/*.test.ts", { cwd: root }).filter((file) =>
    readFileSync(join(root, file), "utf8").includes("support/form.ts"),
  );
  const { passed, failures } = await runTests(files, { IRM_ALL_FORMS: "1", IRM_REQUIRE_PYTHON: "1" }, log);
  return { figures: { "files of tests": files.length, "tests passed": passed }, failures };
};

const GO_FILES = ["languages", "examples"].map((name) => join("test", "lifecycle", `${name}.test.ts`));

/** Also those after which a stack moves to Go. */
const GO_TESTS = "in Go\\b|^a stack that moves";

export const go = async ({ log = () => {} }: Log): Promise<PartResult> => {
  log("compiling the module: minutes with an empty Go cache");
  const packages = (await runGo(join(root, GO_SDK), ["list", "./..."])).trim().split("\n");
  await runGo(join(root, GO_SDK), ["vet", "./..."]);
  const args = ["--project", "lifecycle", ...GO_FILES, "--testNamePattern", GO_TESTS];
  const { passed, failures } = await runTests(args, { IRM_REQUIRE_GO: "1" }, log);
  return { figures: { "packages compiled": packages.length, "tests passed": passed }, failures };
};

/** The programs in Go of docs/resources/, as packages of one module. */
export const goExamples = async (): Promise<PartResult> => {
  const { path, write, remove } = temporaryFolder();
  const pages = globSync("docs/resources/*.md", { cwd: root });
  for (const page of pages)
    write(
      `${basename(page, ".md")}/main.go`,
      readFileSync(join(root, page), "utf8").match(/^package main$.*?^}$/ms)?.[0] ?? "",
    );
  write(
    "go.mod",
    `module access\n\ngo 1.21\n\nrequire ${GO_MODULE} v0.0.0\n\nreplace ${GO_MODULE} => ${join(root, GO_SDK)}\n`,
  );
  for (const args of [
    ["mod", "tidy"],
    ["vet", "./..."],
  ])
    await runGo(path("."), args);
  remove();
  return { figures: { "programs compiled": pages.length }, failures: [] };
};

/** `args` choose the tests, and `env` says that they are not left out. */
const runTests = async (args: readonly string[], env: Record<string, string>, log: (text: string) => void) => {
  const command = [join(root, "scripts", "with-setup.mjs"), "--engine", "vitest", "run", ...args];
  const { code, output } = await capture(process.execPath, command, {
    cwd: root,
    env: { ...process.env, ...env, NO_COLOR: "1" },
    onOutput: log,
  });
  const passed = Number(/^\s*Tests\s.*?(\d+) passed/m.exec(output)?.[1] ?? 0);
  return { passed, failures: code === 0 && passed > 0 ? [] : [output] };
};
