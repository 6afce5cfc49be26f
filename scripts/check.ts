// All checks that need no engine, one after the other; every one runs even if an earlier one failed.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { binFolder, root } from "./project.mjs";

type Step = { name: string; command: string; args: string[]; fix?: string };

const generate = join("scripts", "generate.ts");
const generated: Step = {
  name: "generated files up to date",
  command: process.execPath,
  args: [generate, "--check"],
  fix: `node ${generate}`,
};

const steps: Step[] = [
  { name: "types", command: "tsc", args: [] },
  { name: "lint and format", command: "biome", args: ["check"], fix: "npm run fix" },
  generated,
  { name: "unused code and dependencies", command: "knip", args: [] },
  { name: "unit tests", command: "vitest", args: ["run", "--project", "unit"] },
];

const failed = steps.filter((step) => !succeeds(step));
report();

function succeeds({ name, command, args }: Step): boolean {
  console.log(`\n== ${name}`);
  const program = command === process.execPath ? command : join(binFolder, command);
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: "inherit" });
  if (error !== undefined) console.error(`${command} could not be started: ${error.message}`);
  return status === 0;
}

function report(): void {
  // .ci/run counts these; the unit tests have a report of their own.
  const folder = process.env.IRM_REPORT_DIR;
  const names = failed.map(({ name }) => name);
  if (folder !== undefined) writeFileSync(join(folder, "steps.json"), JSON.stringify({ failed: names }));

  console.log(`\n== check`);
  if (failed.length === 0) {
    console.log(`all ${steps.length} steps passed`);
    return;
  }
  for (const { name, fix } of failed) console.log(`failed: ${name}${fix === undefined ? "" : ` (to repair: ${fix})`}`);
  process.exitCode = 1;
}
