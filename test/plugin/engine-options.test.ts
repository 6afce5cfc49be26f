// Which engines call the plugin for all resources of a program.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { isWholeProgram } from "../../plugin/engine-options.ts";

/** Of an engine that was started with these arguments. */
const answerFor = async (program: string, options: readonly string[], env = {}): Promise<boolean> => {
  const engine = spawn(process.execPath, ["-e", "process.stdin.resume(); console.log()", "--", ...options], {
    argv0: program,
  });
  // The system shows its arguments once it runs.
  await once(engine.stdout, "data");
  try {
    return isWholeProgram(engine.pid as number, env);
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
  expect(await answerFor(program, options, env)).toBe(expected);
});

test("a process that is gone: false", () => {
  expect(isWholeProgram(2 ** 30, {})).toBe(false);
});
