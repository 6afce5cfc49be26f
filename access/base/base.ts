// The base of a change: the commit that it is to be merged into. Rules and tests are read there, because the author of a change cannot
// edit them there.
import { readFileSync } from "node:fs";
import { BaseError, type Repository } from "./git.ts";

export interface Base {
  /** as it was given, or as the CI names it: `origin/main` */
  ref: string;
  commit: string;
  /** what may be wrong with it, for the user */
  notice?: string;
}

export interface Wanted {
  /** the first that this clone has */
  refs: readonly string[];
  /** the branch, where it is known */
  branch?: string;
  /** who names it: `--base`, `GITHUB_BASE_REF` */
  source: string;
}

/** `flag` is the value of --base. Undefined: nothing names a base, and this job does not belong to a pull request. */
export const wantedBase = (flag: string | undefined, env: NodeJS.ProcessEnv): Wanted | undefined => {
  if (flag !== undefined) return { refs: [flag], source: "--base" };
  return wantedByGithub(env) ?? wantedByGitlab(env);
};

/** Throws if this clone lacks the base: the files of the change must not replace it. */
export const baseIn = (repository: Repository, { refs, branch, source }: Wanted): Base => {
  for (const ref of refs) {
    const commit = repository.commitOf(ref);
    if (commit === undefined) continue;
    const short = ref.replace(/^refs\/(?:remotes|heads)\//, "");
    if (branch === undefined || ref === refs[0]) return { ref: short, commit };
    const notice = `${branch} is not fetched, so rules and tests come from commit ${commit.slice(0, 12)}, which may be older. Fetch it: ${fetchOf(branch)}`;
    return { ref: short, commit, notice };
  }
  const [first = ""] = refs;
  const name = branch ?? first;
  const why = repository.isShallow ? "this checkout is shallow" : "this clone does not have it";
  const fetch = branch === undefined ? fetchOfFlag(first, repository) : fetchOf(branch);
  throw new BaseError(
    `cannot read the base ${name} (${source}), and the rules of the change itself do not count: ${why}. Fetch it first: ${fetch}`,
  );
};

const fetchOf = (branch: string): string =>
  `git fetch --depth=1 origin +refs/heads/${branch}:refs/remotes/origin/${branch}`;

/** A checkout of one branch keeps no other branch of the remote, unless the fetch says where to. */
const fetchOfFlag = (ref: string, { isShallow }: Repository): string => {
  if (/[~^]/.test(ref)) return isShallow ? "git fetch --unshallow" : "git fetch";
  const [, branch] = /^(?:refs\/remotes\/)?origin\/(.+)$/.exec(ref) ?? [];
  if (branch !== undefined) return fetchOf(branch);
  const fetch = `git fetch --depth=1 origin ${ref}`;
  return isCommit(ref) ? fetch : `${fetch}, and give --base FETCH_HEAD`;
};

const remoteOf = (branch: string): string => `refs/remotes/origin/${branch}`;

const isCommit = (text: unknown): text is string => typeof text === "string" && /^[0-9a-f]{40,64}$/.test(text);

// https://docs.github.com/actions/reference/workflows-and-actions/variables
const wantedByGithub = (env: NodeJS.ProcessEnv): Wanted | undefined => {
  const { GITHUB_BASE_REF: branch, GITHUB_EVENT_PATH: file, GITHUB_EVENT_NAME: event = "" } = env;
  const { pull_request: pullRequest, merge_group: group } = file ? eventIn(file) : {};
  const commit = pullRequest?.base?.sha ?? group?.base_sha;
  if (!branch && commit === undefined) {
    if (!/^pull_request|^merge_group$/.test(event)) return undefined;
    throw new BaseError(
      `this job is of a ${event}, and neither GITHUB_BASE_REF nor GITHUB_EVENT_PATH names its base; give --base REF`,
    );
  }
  // The branch as it is now: rules that were made stricter since the pull request was opened count.
  return {
    refs: [...(branch ? [remoteOf(branch)] : []), ...(isCommit(commit) ? [commit] : [])],
    ...(branch && { branch }),
    source: branch ? "GITHUB_BASE_REF" : "GITHUB_EVENT_PATH",
  };
};

interface Event {
  pull_request?: { base?: { sha?: unknown } };
  merge_group?: { base_sha?: unknown };
}

const eventIn = (file: string): Event => {
  try {
    const event: unknown = JSON.parse(readFileSync(file, "utf8"));
    return typeof event === "object" && event !== null ? event : {};
  } catch {
    // GITHUB_BASE_REF names the branch as well; a job of a pull request without both is refused
    return {};
  }
};

// https://docs.gitlab.com/ci/variables/predefined_variables/
const wantedByGitlab = (env: NodeJS.ProcessEnv): Wanted | undefined => {
  const {
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: branch,
    CI_MERGE_REQUEST_TARGET_BRANCH_SHA: tip,
    CI_MERGE_REQUEST_DIFF_BASE_SHA: mergeBase,
  } = env;
  const commits = [tip, mergeBase].filter(isCommit);
  if (!branch && commits.length === 0) return undefined;
  return {
    refs: [...(branch ? [remoteOf(branch)] : []), ...commits],
    ...(branch && { branch }),
    source: branch ? "CI_MERGE_REQUEST_TARGET_BRANCH_NAME" : "CI_MERGE_REQUEST_DIFF_BASE_SHA",
  };
};
