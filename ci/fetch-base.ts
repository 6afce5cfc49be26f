// Fetches the main branch where the checkout lacks it: a checkout of one commit has no other branch. No program of the change has
// run yet.
import { spawnSync } from "node:child_process";
import { gitProgram, repositoryRoot } from "../access/base/git.ts";

const TIMEOUT_MS = 120_000;

/** A failure is on stderr, and the review then says which base it lacks. */
export const fetchBase = (branch: string, folder: string): void => {
  const root = repositoryRoot(folder);
  if (root === undefined) return;
  const git = (...args: string[]): boolean => {
    const { status } = spawnSync(gitProgram(root), ["-c", "core.hooksPath=/dev/null", ...args], {
      cwd: root,
      env: { ...process.env, GIT_TERMINAL_PROMPT: "0" },
      stdio: ["ignore", "ignore", "inherit"],
      timeout: TIMEOUT_MS,
    });
    return status === 0;
  };
  const tracking = `refs/remotes/origin/${branch}`;
  if (git("show-ref", "--verify", "--quiet", tracking)) return;
  const spec = `+refs/heads/${branch}:${tracking}`;
  git("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--depth=1", "origin", spec);
};
