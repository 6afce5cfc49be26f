// Which engines call the plugin for all resources of a program.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { type EngineOptions, type EngineRun, engineOptions } from "../../plugin/program.ts";

/** Of an engine that was started with these arguments. */
const answerFor = async (program: string, options: readonly string[], env = {}): Promise<EngineOptions> => {
  const engine = spawn(process.execPath, ["-e", "process.stdin.resume(); console.log()", "--", ...options], {
    argv0: program,
  });
  // The system shows its arguments once it runs.
  await once(engine.stdout, "data");
  try {
    return engineOptions(engine.pid as number, env);
  } finally {
    engine.kill();
  }
};

test.each<[string, boolean, string, string[], object?]>([
  ["all of it", true, "/usr/bin/pulumi", ["preview", "--stack", "target"]],
  ["all of it, by other options", true, "pulumi", ["up", "--yes", "-s", "dev", "-C", "."]],
  ["targets", false, "pulumi", ["up", "--target", "urn"]],
  ["targets", false, "pulumi", ["up", "--target=urn"]],
  ["targets, in short", false, "pulumi", ["up", "-t", "urn"]],
  ["targets, among short options", false, "pulumi", ["up", "-yt", "urn"]],
  ["all but some", false, "pulumi", ["up", "--exclude", "urn"]],
  ["all but some, in short", false, "pulumi", ["up", "-x", "urn"]],
  ["targets from the environment", false, "pulumi", ["up"], { PULUMI_OPTION_TARGET: "urn" }],
  ["what another program that holds an engine says", false, "node", ["up"]],
])("%s: %s for %s %j", async (_, expected, program, options, env) => {
  expect((await answerFor(program, options, env)).isWholeProgram).toBe(expected);
});

test.each<[EngineRun | undefined, string, string[]]>([
  ["preview", "a preview", ["preview", "--stack", "up"]],
  ["preview", "a preview by its short name, after other options", ["-C", ".", "pre"]],
  ["either", "an update with its preview", ["up", "--yes"]],
  ["either", "an update by its long name", ["update"]],
  ["update", "an update without a preview", ["up", "--yes", "--skip-preview"]],
  ["update", "the same, among short options", ["up", "-yf"]],
  ["either", "an update that says that it has one", ["up", "--skip-preview=false"]],
  [undefined, "a command that runs no program", ["destroy", "--preview-only"]],
  [undefined, "a command that is not known", ["neo"]],
])("%s: %s", async (expected, _, options) => {
  expect((await answerFor("pulumi", options)).run).toBe(expected);
});

test("of a process that is gone, and of another program, nothing is known", async () => {
  const unknown = { isWholeProgram: false, run: undefined };
  expect(engineOptions(2 ** 30, {})).toEqual(unknown);
  expect(await answerFor("node", ["preview"])).toEqual(unknown);
});
