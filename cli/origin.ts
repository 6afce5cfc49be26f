// What a review is of: the stack, the service, the commit and the time. A page or a comment that is passed on shows it.
import { execFileSync } from "node:child_process";
import type { Origin } from "../access/review/report.ts";

export interface OriginParts {
  stack: string | undefined;
  service: string;
  /** of the program or the policy */
  folder: string;
  nowMs: number;
}

export const originOf = ({ stack, service, folder, nowMs }: OriginParts): Origin => {
  const commit = git(folder, ["rev-parse", "--verify", "HEAD"]);
  // A review that is written to a file here is no change of the program.
  const modified = commit && git(folder, ["status", "--porcelain", "--untracked-files=no"]);
  return {
    ...(stack !== undefined && { stack }),
    service,
    ...(commit && { commit }),
    ...(modified && { isModified: true }),
    time: new Date(nowMs).toISOString().replace(/\.\d+Z$/, "Z"),
  };
};

/** What git prints; undefined where there is no git, or the folder is in no repository. */
const git = (folder: string, args: readonly string[]): string | undefined => {
  try {
    return execFileSync("git", ["-C", folder, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined;
  }
};
