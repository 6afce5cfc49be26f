// Where, when and on which commit something was measured.
import { execFileSync } from "node:child_process";
import { cpus, totalmem } from "node:os";
import { root } from "../../scripts/base/project.mjs";
import { engineVersion } from "../../scripts/engine/version.mjs";

export interface Place {
  machine: string;
  date: string;
  commit: string;
}

export const measuredHere = (): Place => ({
  machine: machine(),
  date: new Date().toISOString().slice(0, 10),
  commit: commit(),
});

const machine = (): string => {
  const [{ model } = { model: "an unknown processor" }, ...others] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${others.length + 1} cores of ${model}, ${memory} GiB, Node ${process.versions.node}, Pulumi ${engineVersion}`;
};

/** What is measured is the package: changes of the benchmarks and the documents are none. */
const commit = (): string => {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  const isChanged = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench", ":!docs") !== "";
  return git("rev-parse", "--short", "HEAD") + (isChanged ? " with changes" : "");
};
