// The base of a change: the newest commit of the main branch. Rules and tests are read there, because the author of a change cannot edit
// them there. The branch that the change targets does not count: its author may have created it.
import { readFileSync } from "node:fs";
import { valueAt } from "../../schema/index.ts";
import { BaseError, branchOf, isHash, type Repository } from "./git.ts";

export interface Base {
  /** as given, or as the CI names it: `origin/main` */
  ref: string;
  commit: string;
  /** a possible problem with it, for the user */
  notice?: string;
  /** the change targets another branch */
  other?: OtherBranch;
}

export interface OtherBranch {
  /** absent: the job does not name it */
  target?: string;
  /** the branch of the rules and tests */
  main: string;
}

export interface Wanted {
  /** the base is the first one that this clone has */
  refs: readonly string[];
  /** the branch, if it is known */
  branch?: string;
  /** the source of the name: `--base`, `CI_DEFAULT_BRANCH` */
  source: string;
  /** the change targets another branch */
  other?: OtherBranch;
}

/** The change of a job, as its host describes it. */
interface Proposed {
  /** `pull_request` */
  event: string;
  /** the branch that it targets */
  target: string | undefined;
  /** of that branch, the newest first */
  commits: readonly string[];
  /** the default branch of the repository */
  main: string | undefined;
  /** the source of the name of the default branch */
  source: string;
}

/**
 * `flag` is the value of --base, `named` the branch that `irm ci run` names. Undefined: nothing names a base, and this job does not belong
 * to a change. Throws if it does, and only the change names the branch whose rules count.
 */
export const wantedBase = (
  flag: string | undefined,
  env: NodeJS.ProcessEnv,
  named?: string | undefined,
): Wanted | undefined => {
  const proposed = proposedAtGithub(env) ?? proposedAtGitlab(env);
  if (flag !== undefined) return { refs: [flag], source: "--base", ...otherThan(branchOf(flag), proposed) };
  const main = named ?? proposed?.main;
  if (main === undefined) {
    if (proposed === undefined) return undefined;
    const { event, source } = proposed;
    throw new BaseError(`this job is of a ${event}, and ${source} does not name the default branch; give --base REF`);
  }
  const own = proposed?.target === main ? proposed.commits : [];
  return {
    refs: [remoteOf(main), ...own],
    branch: main,
    source: proposed?.main === main ? proposed.source : "the branch that the job names",
    ...otherThan(main, proposed),
  };
};

const otherThan = (main: string | undefined, proposed: Proposed | undefined): { other?: OtherBranch } => {
  if (main === undefined || proposed === undefined || proposed.target === main) return {};
  const { target } = proposed;
  return { other: { main, ...(target !== undefined && { target }) } };
};

/** Throws if this clone lacks the base: the files of the change must not replace it. */
export const baseIn = (repository: Repository, { refs, branch, source, other }: Wanted): Base => {
  for (const ref of refs) {
    const commit = repository.commitOf(ref);
    if (commit === undefined) continue;
    const short = ref.replace(/^refs\/(?:remotes|heads)\//, "");
    const found = { ref: short, commit, ...(other && { other }) };
    if (branch === undefined || ref === refs[0]) return found;
    const notice = `${branch} is not fetched, so rules and tests come from commit ${commit.slice(0, 12)}, which may be older. Fetch it: ${fetchOf(branch)}`;
    return { ...found, notice };
  }
  const [first = ""] = refs;
  const name = branch ?? first;
  const missing = repository.isShallow ? "this checkout is shallow" : "this clone does not have it";
  const isTag = repository.commitOf(`refs/tags/${first}`) !== undefined;
  const why = isTag ? `${missing}, and the tag of this name does not count without refs/tags/` : missing;
  const fetch = branch === undefined ? fetchOfFlag(first, repository) : fetchOf(branch);
  throw new BaseError(
    `cannot read the base ${name} (${source}), and the rules of the change itself do not count: ${why}. Fetch it first: ${fetch}`,
  );
};

const fetchOf = (branch: string) => `git fetch --depth=1 origin +refs/heads/${branch}:refs/remotes/origin/${branch}`;

/** A checkout of one branch keeps no other branch of the remote, unless the fetch names its destination. */
const fetchOfFlag = (ref: string, { isShallow }: Repository) => {
  if (/[~^]/.test(ref)) return isShallow ? "git fetch --unshallow" : "git fetch";
  const branch = branchOf(ref);
  if (branch !== undefined && !ref.startsWith("refs/heads/")) return fetchOf(branch);
  return `git fetch --depth=1 origin ${isHash(ref) ? ref : `+${ref}:${ref}`}`;
};

const remoteOf = (branch: string) => `refs/remotes/origin/${branch}`;

// https://docs.github.com/actions/reference/workflows-and-actions/variables
const proposedAtGithub = (env: NodeJS.ProcessEnv): Proposed | undefined => {
  const { GITHUB_BASE_REF: branch, GITHUB_EVENT_PATH: file, GITHUB_EVENT_NAME: event = "" } = env;
  const payload = file ? eventIn(file) : undefined;
  const at = (path: string) => nonEmptyText(valueAt(payload, path));
  const isChange = ["pull_request", "merge_group"].some((path) => valueAt(payload, path));
  if (!branch && !isChange && !/^pull_request|^merge_group$/.test(event)) return undefined;
  const [, queued] = /^refs\/heads\/(.+)$/.exec(at("merge_group.base_ref") ?? "") ?? [];
  return {
    event: event || "pull request",
    target: branch || (at("pull_request.base.ref") ?? queued),
    // The branch as it is now: rules that became stricter since the pull request was opened count.
    commits: [at("pull_request.base.sha"), at("merge_group.base_sha")].filter(isHash),
    main: at("repository.default_branch"),
    source: "GITHUB_EVENT_PATH",
  };
};

const nonEmptyText = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

const eventIn = (file: string): unknown => {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // a job of a pull request whose event cannot be read is refused
    return undefined;
  }
};

// https://docs.gitlab.com/ci/variables/predefined_variables/
const proposedAtGitlab = (env: NodeJS.ProcessEnv): Proposed | undefined => {
  const {
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: branch,
    CI_MERGE_REQUEST_TARGET_BRANCH_SHA: tip,
    CI_MERGE_REQUEST_DIFF_BASE_SHA: mergeBase,
    CI_PIPELINE_SOURCE: event,
  } = env;
  const commits = [tip, mergeBase].filter(isHash);
  if (!branch && commits.length === 0 && event !== "merge_request_event") return undefined;
  return {
    event: "merge request",
    target: nonEmptyText(branch),
    commits,
    main: nonEmptyText(env.CI_DEFAULT_BRANCH),
    source: "CI_DEFAULT_BRANCH",
  };
};
