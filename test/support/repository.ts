// A repository of git with files, commits and branches that a test writes.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export type TestRepository = ReturnType<typeof createRepository>;

/** In a new folder, or in one that exists. */
export const createRepository = (folder = mkdtempSync(join(tmpdir(), "irm-repository-"))) => {
  const root = realpathSync(folder);
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@example.com", ...args], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  const write = (files: Readonly<Record<string, string>>): void => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), text);
    }
  };
  git("init", "--quiet", "--initial-branch=main");
  return {
    root,
    git,
    write,
    /** Commits all of the work tree, and returns the hash. */
    commit: (files: Readonly<Record<string, string>> = {}): string => {
      write(files);
      git("add", "--all");
      git("commit", "--quiet", "--allow-empty", "--message", "a change");
      return git("rev-parse", "HEAD");
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
};
