// The shell commands of the README, as a stranger runs them: in a clone, from top to bottom, in one shell.
import { execFile, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { root } from "../harness/api-process.ts";
import { fencesOf } from "../support/document.ts";

const folder = mkdtempSync(join(tmpdir(), "irm-quick-start-"));
const servers: number[] = [];
afterAll(() => {
  for (const pid of servers) process.kill(pid);
  rmSync(folder, { recursive: true, force: true });
});

const git = (...args: string[]): string[] =>
  execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);

/** A clone with what this work tree has changed since the commit. Its packages are those of this one, since each CI installs them anyway. */
const freshClone = (): string => {
  const clone = join(folder, "clone");
  git("clone", "--quiet", root, clone);
  for (const file of git("ls-files", "-z", "--deleted", "--modified", "--others", "--exclude-standard"))
    if (existsSync(join(root, file))) cpSync(join(root, file), join(clone, file));
    else rmSync(join(clone, file), { force: true });
  execFileSync("cp", ["-al", join(root, "node_modules"), join(clone, "node_modules")]);
  return clone;
};

it("the README's commands run in a fresh clone, and end with the review that docs/change.md shows", async () => {
  const clone = freshClone();
  // Without what it compiles once here, each of the many processes of the engine would compile all of the SDK.
  const compiles = { NODE_OPTIONS: `--require "${join(clone, "test", "support", "engine-node.cjs")}"` };
  const modules = ["@pulumi/pulumi", "pulumi-irm", "pulumi-irm/dynamic", "undici"];
  const load = `await Promise.all(${JSON.stringify(modules)}.map((name) => import(name))); process.exit();`;
  execFileSync(process.execPath, ["--input-type=module", "--eval", load], {
    cwd: clone,
    env: { ...process.env, ...compiles },
  });
  const commands = fencesOf(readFileSync(join(clone, "README.md"), "utf8"), "sh").join("\n");
  // The variables of npm and of this test's own run are not a stranger's.
  const own = Object.entries(process.env).filter(([name]) => !/^(npm|IRM|VITEST|NODE)_/i.test(name));
  const env = { ...Object.fromEntries(own), ...compiles, PULUMI_HOME: join(folder, "pulumi") };
  const { code, stdout, stderr } = await promisify(execFile)("bash", ["-e", "-c", commands], {
    cwd: clone,
    env,
    maxBuffer: 2 ** 26,
  }).then(
    (output) => ({ code: 0, ...output }),
    (failure) => failure,
  );
  servers.push(...[...stderr.matchAll(/to stop it: kill (\d+)$/gm)].map(([, pid]) => Number(pid)));
  expect({ code, servers: servers.length }, `${stdout}\n${stderr}`).toEqual({ code: 0, servers: 1 });
  for (const part of ["All of it happened.", "+ 10 created", "exit code 3"]) expect(stdout).toContain(part);
  const [shown = ""] = fencesOf(readFileSync(join(clone, "docs", "change.md"), "utf8"), "");
  expect(withoutRun(stdout)).toContain(withoutRun(shown));
});

/** A review as every run prints it: without uids, times and digests. */
const withoutRun = (text: string): string =>
  text
    .replaceAll(/^(Service|Commit|Time|Change): .*$/gm, "$1: …")
    .replaceAll(/[0-9a-f]{40}/g, "0".repeat(40))
    .replaceAll(/\/[0-9a-f]{16}/g, `/${"0".repeat(16)}`);
