// `irm completion SHELL`: the script works in its shell and completes what the command line accepts.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { MAIN } from "../support/command.ts";
import { COMMANDS } from "../support/commands.ts";
import { COMPILED } from "../support/compiled.ts";
import { runIrm } from "../support/irm.ts";
import { testFolder } from "../support/test-folder.ts";

const folder = testFolder();

const complete = async (...words: string[]) => {
  const { code, stdout, stderr } = await runIrm("complete", "--", ...words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const [kind, ...lines] = stdout.trimEnd().split("\n");
  return { kind, values: lines.map((line) => line.split("\t")[0]) };
};

describe("irm complete answers", () => {
  test.each<[string[], string[]]>([
    [[""], COMMANDS],
    [["rec"], ["recover"]],
    [
      ["recover", ""],
      ["list", "clean"],
    ],
    [
      ["serve", "--tls"],
      ["--tls-cert", "--tls-key"],
    ],
    [["serve", "--tls-cert", "--tls", "--tls"], ["--tls-key"]],
    [["serve", "--dev", "--de"], []],
    [["serve", "token", "--claim", "a=b", "--cl"], ["--claim"]],
    [
      ["serve", "--log-level", ""],
      ["debug", "info", "warn", "error"],
    ],
    [["serve", "--log-level=w"], ["--log-level=warn"]],
    [["completion", "z"], ["zsh"]],
    [["serve", "--port", ""], []],
    [["nothing", ""], COMMANDS],
  ])("%j", async (words, values) => {
    expect(await complete(...words)).toEqual({ kind: "values", values });
  });

  test.each<[string[], string]>([
    [["serve", "--db", ""], "files"],
    [["serve", "--seed=a"], "files"],
    [["check", ""], "files"],
    [["init", "a"], "folders"],
    [["recover", "list", "--folder", ""], "folders"],
  ])("%j lets the shell list its %s", async (words, kind) => {
    expect(await complete(...words)).toEqual({ kind, values: [] });
  });
});

test("the script for bash completes commands, flags, values and files, and evaluates no typed text", async () => {
  const bin = folder.path("bin");
  mkdirSync(bin);
  writeFileSync(`${bin}/irm`, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(`${bin}/irm`, 0o755);
  writeFileSync(folder.path("a seed.yaml"), "");
  const script = `
    source <(irm completion bash)
    source <(irm completion bash)
    complete -p irm
    try() { COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _irm irm; (IFS="|"; echo "\${COMPREPLY[*]}"); }
    try irm rec
    try irm recover ""
    try irm serve --log-level = w
    try irm serve --seed "a"
    try irm serve --host '$(touch evaluated)' --no-such
    echo *`;
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, NODE_COMPILE_CACHE: COMPILED };
  const output = execFileSync("bash", ["--norc", "-c", script], { encoding: "utf8", cwd: folder.path(""), env });
  expect(output.split("\n")).toEqual([
    ...["complete -F _irm irm", "recover", "list|clean", "warn", "a seed.yaml", ""],
    ...["a seed.yaml bin", ""],
  ]);
});

test.each(["bash", "zsh", "fish"])("irm completion %s prints the script alone", async (shell) => {
  const { code, stdout, stderr } = await runIrm("completion", shell);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(new RegExp(`Completion of irm for ${shell}: `));
});
