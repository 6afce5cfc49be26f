// All checks that need no engine. Each runs even if an earlier one failed. Checks that only read the sources run in parallel
// and report in order; the unit tests run alone.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { binFolder, compilerArgs, root } from "./base/project.mjs";

type Step = { name: string; command: string; args: string[]; fix?: string };

const generate = join("scripts", "generate.ts");
const generated: Step = {
  name: "generated files up to date",
  command: process.execPath,
  args: [generate, "--check"],
  fix: `node ${generate}`,
};

const reading: Step[] = [
  { name: "types", command: process.execPath, args: compilerArgs },
  { name: "lint and format", command: "biome", args: ["check"], fix: "npm run fix" },
  generated,
  { name: "unused code and dependencies", command: "knip", args: [] },
  { name: "code that only tests use", command: "knip", args: ["--production"] },
  { name: "references of docs and comments", command: process.execPath, args: [join("scripts", "references.ts")] },
];
const unitTests: Step = { name: "unit tests", command: "vitest", args: ["run", "--project", "unit"] };
const steps = [...reading, unitTests];

const failed: Step[] = [];
const outcomes = reading.map((step) => outcomeOf(step, "pipe"));
for (const [index, step] of reading.entries()) tell(step, await (outcomes[index] as Promise<Outcome>));
console.log(`\n== ${unitTests.name}`);
const { succeeded, output } = await outcomeOf(unitTests, "inherit");
process.stdout.write(output);
if (!succeeded) failed.push(unitTests);
report();

interface Outcome {
  succeeded: boolean;
  output: string;
}

function outcomeOf({ command, args }: Step, stdio: "pipe" | "inherit"): Promise<Outcome> {
  const program = command === process.execPath ? command : join(binFolder, command);
  const child = spawn(program, args, { cwd: root, stdio: ["inherit", stdio, stdio] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  return new Promise((resolve) => {
    child.on("error", ({ message }) =>
      resolve({ succeeded: false, output: `${command} could not be started: ${message}\n` }),
    );
    child.on("close", (code) => resolve({ succeeded: code === 0, output }));
  });
}

function tell(step: Step, { succeeded, output }: Outcome): void {
  console.log(`\n== ${step.name}`);
  process.stdout.write(output);
  if (!succeeded) failed.push(step);
}

function report(): void {
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
