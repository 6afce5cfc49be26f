// A repository of git with files, commits and branches that a test writes.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, vi } from "vitest";

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
  const commit = (files: Readonly<Record<string, string>> = {}): string => {
    write(files);
    git("add", "--all");
    git("commit", "--quiet", "--allow-empty", "--message", "a change");
    return git("rev-parse", "HEAD");
  };
  return {
    root,
    git,
    write,
    /** Commits all of the work tree, and returns the hash. */
    commit,
    /** Commits to main what the branch "change" then begins with. */
    onMain: (files: Readonly<Record<string, string>>): string => {
      git("checkout", "--quiet", "main");
      const made = commit(files);
      git("checkout", "--quiet", "-B", "change");
      return made;
    },
    at: (name: string): string => join(root, name),
    /** A folder of it becomes that of the process. */
    workIn: (folder: string): void => void vi.spyOn(process, "cwd").mockReturnValue(join(root, folder)),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
};

/** Each test of the file works in one of its own, on the branch "change", which begins with these files of main. */
export const useRepository = (files: Readonly<Record<string, string>>): TestRepository => {
  const repository = {} as TestRepository;
  beforeEach(() => {
    Object.assign(repository, createRepository());
    repository.commit(files);
    repository.git("checkout", "--quiet", "-b", "change");
    repository.workIn(".");
    return () => {
      vi.restoreAllMocks();
      repository.remove();
    };
  });
  return repository;
};
