// All checks that need no engine. Each runs even if an earlier one failed. Checks that only read the sources run in parallel
// and report in order; the unit tests run alone.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { capture, run } from "./base/child.mjs";
import { binFolder, compilerArgs, root } from "./base/project.mjs";

type Step = { name: string; command: string; args: string[]; fix?: string };

const generate = join("scripts", "generate.ts");

const reading: Step[] = [
  { name: "types", command: process.execPath, args: compilerArgs },
  { name: "lint and format", command: "biome", args: ["check"], fix: "npm run fix" },
  {
    name: "generated files up to date",
    command: process.execPath,
    args: [generate, "--check"],
    fix: `node ${generate}`,
  },
  { name: "unused code and dependencies", command: "knip", args: [] },
  { name: "code that only tests use", command: "knip", args: ["--production"] },
  { name: "layers", command: process.execPath, args: [join("scripts", "layers.ts")] },
  { name: "size", command: process.execPath, args: [join("scripts", "measures.ts"), "--check"] },
  { name: "references of docs and comments", command: process.execPath, args: [join("scripts", "references.ts")] },
];
const unitTests: Step = { name: "unit tests", command: "vitest", args: ["run", "--project", "unit"] };
const steps = [...reading, unitTests];

const failed: Step[] = [];
const outcomes = reading.map(({ command, args }) =>
  capture(program(command), args, { cwd: root }).catch(({ message }: Error) => ({
    code: 1,
    output: `${command} could not be started: ${message}\n`,
  })),
);
for (const [index, step] of reading.entries()) {
  console.log(`\n== ${step.name}`);
  const { code, output } = await (outcomes[index] as (typeof outcomes)[number]);
  process.stdout.write(output);
  if (code !== 0) failed.push(step);
}
console.log(`\n== ${unitTests.name}`);
const { code } = await run(program(unitTests.command), unitTests.args, { cwd: root, stdio: "inherit" });
if (code !== 0) failed.push(unitTests);
report();

function program(command: string) {
  return command === process.execPath ? command : join(binFolder, command);
}

function report() {
  // .ci/run counts these. The unit tests write their own report.
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
