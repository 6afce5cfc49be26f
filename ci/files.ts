// The files of a job, for its later steps and for its artifacts.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gitProgram, repositoryRoot } from "../access/base/git.ts";
import { type Settings, subjectOf } from "./settings.ts";

export const REPORT = "report.md";
export const REPORT_JSON = "report.json";
/** of a review, for another job */
export const CHANGE = "change.json";
/** variables that GitLab gives to later jobs: https://docs.gitlab.com/ci/yaml/artifacts_reports/#artifactsreportsdotenv */
export const DIGEST_ENV = "digest.env";
const CODE = "exit-code";

/** Within the folder of the change to apply: the folder with the files of the merged change's review. */
export const mergedFolderOf = ({ changeFolder = "" }: Pick<Settings, "changeFolder">): string =>
  join(changeFolder, "merged");

/** Makes an empty folder: a change may contain a folder, or a link, of this name. */
export const makeFolder = (folder: string): void => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
};

export const writeFiles = (folder: string, files: Readonly<Record<string, string>>, code: number): void => {
  for (const [name, text] of Object.entries({ ...files, [CODE]: String(code) }))
    writeFileSync(join(folder, name), text, { mode: 0o600 });
};

/** The report of an earlier step, and its exit code; undefined without one. */
export const readReport = (folder: string): { text: string; code: number } | undefined => {
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  try {
    return { text: read(REPORT), code: Number(read(CODE)) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
};

const slugOf = (settings: Settings) =>
  subjectOf(settings)
    .map((one) => one.replace(/[^\w.-]+/g, "-"))
    .join("-") || "preview";

/** Name of the artifact that has a change. */
export const changeNameOf = (settings: Settings): string => `access-change-${slugOf(settings)}`;

/** The page has the name of its artifact, so each stack has its own. */
export const pageOf = (settings: Settings): string => `access-review-${slugOf(settings)}.html`;

const TIMEOUT_MS = 120_000;

/**
 * Fetches the main branch if the checkout lacks it: a checkout of one commit has one branch. No program of the change has run yet. Git
 * prints a failure on stderr, and the review then names the missing base.
 */
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
