// `npm run soak`: its flags and its output (docs/internals/proof.md).
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { UsageError } from "../../../cli/irm-command.ts";
import { root } from "../../../scripts/base/project.mjs";
import { parts } from "../../soak/parts.ts";
import { parseSoak, usage } from "../../soak/run/flags.ts";

const NAMES = Object.keys(parts);

const soak = (...args: string[]) => {
  const script = join(root, "test", "soak", "run", "parts.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });
  return { status, stdout, stderr };
};

test("the flags run every part with a random seed by default", () => {
  expect(parseSoak([], () => 77)).toEqual({ names: NAMES, seed: 77 });
  expect(parseSoak([])).toEqual({ names: NAMES, seed: expect.toSatisfy((n) => Number.isInteger(n) && n > 0) });
});

test("the flags --rounds replaces the number of each goal", () => {
  expect(parseSoak(["--seed", "5", "--rounds", "3"])).toEqual({ names: NAMES, seed: 5, rounds: 3 });
});

test("the flags --only runs the named parts, in their order and each once", () => {
  expect(parseSoak(["--only", "model", "--seed=1"])).toEqual({ names: ["model"], seed: 1 });
  const more = ["--only", "model", "--only=kill", "--only", "model", "--seed=1"];
  expect(parseSoak(more)).toEqual({ names: ["kill", "model"], seed: 1 });
});

test.each<[string[], "help" | "list"]>([
  [["--help"], "help"],
  [["--list"], "list"],
  [["--list", "--help"], "help"],
])("the flags %j runs nothing", (args, show) => expect(parseSoak(args)).toEqual({ show }));

test.each<[string[], string]>([
  [["--colour"], "Unknown option '--colour'"],
  [["--only", "sleep"], `--only takes one of ${NAMES.join(", ")}, not "sleep"`],
  [["--only", "toString"], `--only takes one of ${NAMES.join(", ")}, not "toString"`],
  [["--seed", "0"], '--seed takes a whole number from 1 to 999999, not "0"'],
  [["--seed", "1000000"], '--seed takes a whole number from 1 to 999999, not "1000000"'],
])("the flags %j are wrong", (args, message) => {
  const parse = () => parseSoak(args);
  expect(parse).toThrow(UsageError);
  expect(parse).toThrow(message);
});

test("the command: a wrong flag is reported before the usage, with exit code 2", () => {
  const stderr = `soak: --only takes one of ${NAMES.join(", ")}, not "sleep"\n\n${usage}`;
  expect(soak("--only", "sleep")).toEqual({ status: 2, stdout: "", stderr });
});
