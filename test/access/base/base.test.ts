// The base that a job of a pull request has, and what to do where this clone lacks it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { baseIn, wantedBase } from "../../../access/base/base.ts";
import { repositoryAt } from "../../../access/base/git.ts";
import { createRepository, type TestRepository } from "../../support/repository.ts";

const repository: TestRepository = createRepository();
const old: string = repository.commit();
const tip: string = repository.commit();
repository.git("update-ref", "refs/remotes/origin/main", tip);
repository.git("checkout", "--quiet", "-b", "change", old);
const head: string = repository.commit();
afterAll(() => repository.remove());

const event = (content: unknown): string => {
  const file = join(repository.root, "event.json");
  writeFileSync(file, JSON.stringify(content));
  return file;
};

const errorOf = (act: () => unknown): Error => {
  try {
    act();
  } catch (error) {
    return error as Error;
  }
  throw new Error("it threw nothing");
};

const found = (env: NodeJS.ProcessEnv, flag?: string, input?: string) => {
  const wanted = wantedBase(flag, env, input);
  return wanted && baseIn(repositoryAt(repository.root), wanted);
};

test("outside a pull request it is the branch that the job names", () => {
  expect(found({ GITHUB_EVENT_NAME: "push" }, undefined, "main")).toEqual({ ref: "origin/main", commit: tip });
});

test("outside a pull request there is none", () => {
  expect(found({})).toBeUndefined();
  expect(
    found({ GITHUB_EVENT_NAME: "push", GITHUB_BASE_REF: "", GITHUB_EVENT_PATH: event({ ref: "x" }) }),
  ).toBeUndefined();
  expect(found({ GITLAB_CI: "true", CI_COMMIT_BRANCH: "main" })).toBeUndefined();
});

const MAIN = { default_branch: "main" };

describe("GitHub Actions", () => {
  test("it is the default branch as it is now, not as it was when the pull request was opened", () => {
    const GITHUB_EVENT_PATH = event({ pull_request: { base: { sha: old } }, repository: MAIN });
    expect(found({ GITHUB_BASE_REF: "main", GITHUB_EVENT_PATH })).toEqual({ ref: "origin/main", commit: tip });
  });

  test("it is the commit of the event where the branch was not fetched", () => {
    const repository = { default_branch: "v1" };
    const GITHUB_EVENT_PATH = event({ pull_request: { base: { sha: old } }, repository });
    expect(found({ GITHUB_BASE_REF: "v1", GITHUB_EVENT_PATH })).toEqual({
      ref: old,
      commit: old,
      notice: `v1 is not fetched, so rules and tests come from commit ${old.slice(0, 12)}, which may be older. Fetch it: git fetch --depth=1 origin +refs/heads/v1:refs/remotes/origin/v1`,
    });
    const queued = event({ merge_group: { base_sha: old, base_ref: "refs/heads/v1" }, repository });
    expect(found({ GITHUB_EVENT_PATH: queued })).toMatchObject({ ref: old, commit: old });
  });

  test.each([
    ["a pull request", { pull_request: { base: { sha: old, ref: "theirs" } } }, "theirs"],
    ["a merge queue", { merge_group: { base_sha: old, base_ref: "refs/heads/theirs" } }, "theirs"],
    ["a merge queue of an unknown branch", { merge_group: { base_sha: old } }, undefined],
  ])("it is the default branch for %s into another one, which is said", (_, payload, target) => {
    const GITHUB_EVENT_PATH = event({ ...payload, repository: MAIN });
    const other = { main: "main", ...(target && { target }) };
    expect(found({ GITHUB_EVENT_PATH })).toEqual({ ref: "origin/main", commit: tip, other });
  });

  test("it is not the commit of another branch where the default branch was not fetched", () => {
    const payload = { pull_request: { base: { sha: old, ref: "theirs" } }, repository: { default_branch: "v1" } };
    expect(() => found({ GITHUB_EVENT_PATH: event(payload) })).toThrow(
      "cannot read the base v1 (GITHUB_EVENT_PATH), and the rules of the change itself do not count",
    );
  });

  test("it is the branch that the input of the job names", () => {
    const GITHUB_EVENT_PATH = event({ pull_request: { base: { sha: old } }, repository: { default_branch: "v1" } });
    const env = { GITHUB_BASE_REF: "main", GITHUB_EVENT_PATH };
    expect(found(env, undefined, "main")).toEqual({ ref: "origin/main", commit: tip });
    expect(() => found(env, undefined, "v2")).toThrow("cannot read the base v2 (the branch that the job names)");
  });

  test("a job of a change without a default branch is refused", () => {
    const text = (job: string) =>
      `this job is of a ${job}, and GITHUB_EVENT_PATH does not name the default branch; give --base REF`;
    expect(() => found({ GITHUB_EVENT_NAME: "pull_request", GITHUB_EVENT_PATH: "/nowhere" })).toThrow(
      text("pull_request"),
    );
    expect(() => found({ GITHUB_BASE_REF: "main" })).toThrow(text("pull request"));
    expect(() => found({ GITHUB_EVENT_PATH: event({ merge_group: { base_sha: tip } }) })).toThrow(text("pull request"));
  });
});

describe("GitLab", () => {
  const main = { CI_DEFAULT_BRANCH: "main" };

  test("it is the default branch, not the commit from which the author chose to start", () => {
    const env = { ...main, CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main", CI_MERGE_REQUEST_DIFF_BASE_SHA: old };
    expect(found(env)).toEqual({ ref: "origin/main", commit: tip });
  });

  test("it is the default branch for a merge request into another one, which is said", () => {
    const env = { ...main, CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "theirs", CI_MERGE_REQUEST_DIFF_BASE_SHA: old };
    const other = { target: "theirs", main: "main" };
    expect(found(env)).toEqual({ ref: "origin/main", commit: tip, other });
  });

  test("it is the commit where the branch was not fetched", () => {
    const CI_MERGE_REQUEST_TARGET_BRANCH_NAME = "v1";
    const CI_MERGE_REQUEST_DIFF_BASE_SHA = old;
    const env = { CI_DEFAULT_BRANCH: "v1", CI_MERGE_REQUEST_TARGET_BRANCH_NAME, CI_MERGE_REQUEST_DIFF_BASE_SHA };
    expect(found(env)?.commit).toBe(old);
  });

  test("without a default branch it is refused", () => {
    expect(() => found({ CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main" })).toThrow(
      "this job is of a merge request, and CI_DEFAULT_BRANCH does not name the default branch; give --base REF",
    );
  });
});

test("--base wins over both", () => {
  expect(found({ GITHUB_BASE_REF: "main" }, old)?.commit).toBe(old);
  expect(found({}, "HEAD")?.commit).toBe(head);
});

test.each([
  ["main", "main"],
  ["main~1", "main"],
  ["origin/main", "main"],
  ["refs/remotes/origin/main", "main"],
  ["HEAD", undefined],
  [old, undefined],
])("--base %s is compared with the target of the change by the branch %s", (flag, main) => {
  expect(found({ GITHUB_BASE_REF: "theirs" }, flag)?.other).toEqual(main && { target: "theirs", main });
  expect(found({ GITHUB_BASE_REF: "main" }, flag)?.other).toBeUndefined();
});

describe("a base that this clone lacks is refused, with what to do", () => {
  test("of a tag without its whole name", () => {
    repository.git("tag", "v3", old);
    expect(() => found({}, "v3")).toThrow(
      "this clone does not have it, and the tag of this name does not count without refs/tags/. Fetch it first: git fetch --depth=1 origin +refs/heads/v3:refs/remotes/origin/v3",
    );
    expect(found({}, "refs/tags/v3")?.commit).toBe(old);
  });

  test("of a branch", () => {
    expect(() => found({ CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "v2", CI_DEFAULT_BRANCH: "v2" })).toThrow(
      "cannot read the base v2 (CI_DEFAULT_BRANCH), and the rules of the change itself do not count: this clone does not have it. Fetch it first: git fetch --depth=1 origin +refs/heads/v2:refs/remotes/origin/v2",
    );
  });

  test.each([
    ["origin/v2", "git fetch --depth=1 origin +refs/heads/v2:refs/remotes/origin/v2"],
    ["refs/remotes/origin/v2", "git fetch --depth=1 origin +refs/heads/v2:refs/remotes/origin/v2"],
    ["v2", "git fetch --depth=1 origin +refs/heads/v2:refs/remotes/origin/v2"],
    ["refs/tags/v2", "git fetch --depth=1 origin +refs/tags/v2:refs/tags/v2"],
    ["1".repeat(40), `git fetch --depth=1 origin ${"1".repeat(40)}`],
    ["origin/main~9", "git fetch"],
  ])("of a flag: %s", (flag, fetch) => {
    expect(() => found({}, flag)).toThrow(
      `cannot read the base ${flag} (--base), and the rules of the change itself do not count: this clone does not have it. Fetch it first: ${fetch}`,
    );
  });

  test("of a flag, in a checkout of another branch: the fetch brings it", () => {
    const clone = createRepository();
    clone.git("remote", "add", "-t", "change", "origin", `file://${repository.root}`);
    clone.git("fetch", "--quiet", "--depth=1", "origin");
    for (const flag of ["origin/main", "main2"]) {
      const wanted = wantedBase(flag, {}) as NonNullable<ReturnType<typeof wantedBase>>;
      const { message } = errorOf(() => baseIn(repositoryAt(clone.root), wanted));
      const [, fetch = ""] = /Fetch it first: git (.*)$/.exec(message) ?? [];
      repository.git("branch", "--force", "main2", "main");
      clone.git(...fetch.split(" "));
      expect(baseIn(repositoryAt(clone.root), wanted).commit).toBe(tip);
    }
    clone.remove();
  });

  test("of a flag, in a shallow checkout", () => {
    const clone = createRepository();
    clone.git("fetch", "--quiet", "--depth=1", `file://${repository.root}`, "change");
    clone.git("checkout", "--quiet", "FETCH_HEAD");
    const wanted = wantedBase("HEAD~1", {});
    expect(() => baseIn(repositoryAt(clone.root), wanted as NonNullable<typeof wanted>)).toThrow(
      "cannot read the base HEAD~1 (--base), and the rules of the change itself do not count: this checkout is shallow. Fetch it first: git fetch --unshallow",
    );
    clone.remove();
  });
});
