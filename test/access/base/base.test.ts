// The base that a job of a pull request has, and what to do where this clone lacks it.
import { hash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { baseIn, wantedBase } from "../../../access/base/base.ts";
import { BaseError, repositoryAt } from "../../../access/base/git.ts";
import { createRepository, type TestRepository } from "../../support/repository.ts";

const repository: TestRepository = createRepository();
const old: string = repository.commit();
const tip: string = repository.commit();
repository.git("update-ref", "refs/remotes/origin/main", tip);
repository.git("checkout", "--quiet", "-b", "change", old);
const head: string = repository.commit();
afterAll(() => repository.remove());

const event = (content: unknown): string => {
  const file = join(repository.root, `event-${hash("sha1", JSON.stringify(content))}.json`);
  writeFileSync(file, JSON.stringify(content));
  return file;
};

const found = (env: NodeJS.ProcessEnv, flag?: string, input?: string) => {
  const wanted = wantedBase(flag, env, input);
  return wanted && baseIn(repositoryAt(repository.root), wanted);
};

/** A job of GitHub: of a pull request into `target`, or of a merge queue. */
const pull = (main: string | undefined, target?: string): NodeJS.ProcessEnv => ({
  GITHUB_EVENT_PATH: event({
    pull_request: { base: { sha: old, ref: target } },
    ...(main !== undefined && { repository: { default_branch: main } }),
  }),
});
const queue = (main: string | undefined, target?: string): NodeJS.ProcessEnv => {
  const base_ref = target && `refs/heads/${target}`;
  const repository = main && { default_branch: main };
  return { GITHUB_EVENT_PATH: event({ merge_group: { base_sha: old, base_ref }, repository }) };
};
const into = (target: string, main?: string): NodeJS.ProcessEnv => ({
  ...{ CI_MERGE_REQUEST_TARGET_BRANCH_NAME: target, CI_MERGE_REQUEST_DIFF_BASE_SHA: old },
  ...(main !== undefined && { CI_DEFAULT_BRANCH: main }),
});

const atMain = { ref: "origin/main", commit: tip };
const atOld = {
  ...{ ref: old, commit: old },
  notice: `v1 is not fetched, so rules and tests come from commit ${old.slice(0, 12)}, which may be older. Fetch it: git fetch --depth=1 origin +refs/heads/v1:refs/remotes/origin/v1`,
};
const push = { GITHUB_EVENT_NAME: "push", GITHUB_BASE_REF: "", GITHUB_EVENT_PATH: event({ ref: "x" }) };
const others = { target: "theirs", main: "main" };

test.each<[what: string, env: NodeJS.ProcessEnv, base: object | undefined, input?: string]>([
  ["none outside a pull request", {}, undefined],
  ["none of a push", push, undefined],
  ["none of a branch of GitLab", { GITLAB_CI: "true", CI_COMMIT_BRANCH: "main" }, undefined],
  ["the branch that the job names, outside a pull request", { GITHUB_EVENT_NAME: "push" }, atMain, "main"],
  ["the default branch as it is now, not as it was", { ...pull("main", "main"), GITHUB_BASE_REF: "main" }, atMain],
  ["the commit of the event, where the branch was not fetched", { ...pull("v1"), GITHUB_BASE_REF: "v1" }, atOld],
  ["the commit of the merge queue, where the branch was not fetched", queue("v1", "v1"), atOld],
  ["the default branch for a pull request into another one", pull("main", "theirs"), { ...atMain, other: others }],
  ["the default branch for a merge queue of another one", queue("main", "theirs"), { ...atMain, other: others }],
  ["the default branch for a queue of an unknown one", queue("main"), { ...atMain, other: { main: "main" } }],
  ["the branch that the input of the job names", { ...pull("v1"), GITHUB_BASE_REF: "main" }, atMain, "main"],
  ["the default branch, not the commit from which the author chose to start", into("main", "main"), atMain],
  ["the default branch for a merge request into another one", into("theirs", "main"), { ...atMain, other: others }],
  ["the commit of the merge request, where the branch was not fetched", into("v1", "v1"), atOld],
])("the base is %s", (_, env, base, input) => expect(found(env, undefined, input)).toEqual(base));

const UNNAMED = "does not name the default branch; give --base REF";
const NO_EVENT = `this job is of a pull request, and GITHUB_EVENT_PATH ${UNNAMED}`;
const NOT_COUNTED = "and the rules of the change itself do not count";

test.each<[what: string, env: NodeJS.ProcessEnv, refusal: string, input?: string]>([
  [
    "the default branch was not fetched, and the commit is of another one",
    pull("v1", "theirs"),
    `cannot read the base v1 (GITHUB_EVENT_PATH), ${NOT_COUNTED}`,
  ],
  ["the named branch is not there", pull("v1"), "cannot read the base v2 (the branch that the job names)", "v2"],
  [
    "the event cannot be read",
    { GITHUB_EVENT_NAME: "pull_request", GITHUB_EVENT_PATH: "/nowhere" },
    `this job is of a pull_request, and GITHUB_EVENT_PATH ${UNNAMED}`,
  ],
  ["a job of a change has no event", { GITHUB_BASE_REF: "main" }, NO_EVENT],
  ["a merge queue has no default branch", queue(undefined), NO_EVENT],
  ["a merge request has none", into("main"), `this job is of a merge request, and CI_DEFAULT_BRANCH ${UNNAMED}`],
  [
    "the default branch of GitLab is not there",
    { CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "v2", CI_DEFAULT_BRANCH: "v2" },
    `cannot read the base v2 (CI_DEFAULT_BRANCH), ${NOT_COUNTED}: this clone does not have it. Fetch it first: git fetch --depth=1 origin +refs/heads/v2:refs/remotes/origin/v2`,
  ],
])("it is refused where %s", (_, env, refusal, input) => expect(() => found(env, undefined, input)).toThrow(refusal));

test("--base wins over what the job says", () => {
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

test("a base that this clone lacks is refused, of a tag without its whole name", () => {
  repository.git("tag", "v3", old);
  expect(() => found({}, "v3")).toThrow(
    "this clone does not have it, and the tag of this name does not count without refs/tags/. Fetch it first: git fetch --depth=1 origin +refs/heads/v3:refs/remotes/origin/v3",
  );
  expect(found({}, "refs/tags/v3")?.commit).toBe(old);
});

test.each([
  ["origin/v2", "git fetch --depth=1 origin +refs/heads/v2:refs/remotes/origin/v2"],
  ["refs/remotes/origin/v2", "git fetch --depth=1 origin +refs/heads/v2:refs/remotes/origin/v2"],
  ["v2", "git fetch --depth=1 origin +refs/heads/v2:refs/remotes/origin/v2"],
  ["refs/tags/v2", "git fetch --depth=1 origin +refs/tags/v2:refs/tags/v2"],
  ["1".repeat(40), `git fetch --depth=1 origin ${"1".repeat(40)}`],
  ["origin/main~9", "git fetch"],
])("a base that this clone lacks is refused, of a flag: %s", (flag, fetch) => {
  expect(() => found({}, flag)).toThrow(
    `cannot read the base ${flag} (--base), and the rules of the change itself do not count: this clone does not have it. Fetch it first: ${fetch}`,
  );
});

test("a base that this clone lacks is refused, of a flag, in a checkout of another branch: the fetch brings it", () => {
  const clone = createRepository();
  clone.git("remote", "add", "-t", "change", "origin", `file://${repository.root}`);
  clone.git("fetch", "--quiet", "--depth=1", "origin");
  for (const flag of ["origin/main", "main2"]) {
    const wanted = wantedBase(flag, {}) as NonNullable<ReturnType<typeof wantedBase>>;
    repository.git("branch", "--force", "main2", "main");
    try {
      baseIn(repositoryAt(clone.root), wanted);
      expect.unreachable();
    } catch (error) {
      clone.git(...(/Fetch it first: git (.*)$/.exec(String(error))?.[1] ?? "").split(" "));
    }
    expect(baseIn(repositoryAt(clone.root), wanted).commit).toBe(tip);
  }
  clone.remove();
});

test("a base that this clone lacks is refused, of a flag, in a shallow checkout", () => {
  const clone = createRepository();
  clone.git("fetch", "--quiet", "--depth=1", `file://${repository.root}`, "change");
  clone.git("checkout", "--quiet", "FETCH_HEAD");
  const wanted = wantedBase("HEAD~1", {});
  expect(() => baseIn(repositoryAt(clone.root), wanted as NonNullable<typeof wanted>)).toThrow(
    "cannot read the base HEAD~1 (--base), and the rules of the change itself do not count: this checkout is shallow. Fetch it first: git fetch --unshallow",
  );
  clone.remove();
});

describe("files of a commit, whatever the work tree and its settings say", async () => {
  let repository: TestRepository;
  let first: string;
  beforeEach(() => {
    repository = createRepository();
    first = repository.commit({ "review.yaml": "deny: [gains-owner]\n", "infra/review.yaml": "deny: []\n" });
    repository.commit({ "review.yaml": "deny: []\n" });
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    repository.remove();
  });

  const read = (commit: string, path: string) => repositoryAt(repository.root).fileAt(commit, path);

  test("reads a file of a commit, not that of the work tree, by branch, tag, hash and steps back from them", () => {
    repository.write({ "review.yaml": "edited" });
    expect(read(first, "review.yaml")).toBe("deny: [gains-owner]\n");
    expect(read(first, "none.yaml")).toBeUndefined();
    expect(repositoryAt(join(repository.root, "infra")).fileAt(first, "infra/review.yaml")).toBe("deny: []\n");
    const { commitOf } = repositoryAt(repository.root);
    expect(commitOf("HEAD~1")).toBe(first);
    expect(commitOf("main")).toBe(repository.git("rev-parse", "HEAD"));
    expect(commitOf(first)).toBe(first);
    expect(commitOf("nowhere")).toBeUndefined();
    expect(commitOf("f".repeat(40))).toBeUndefined();
  });

  test.each(["--output=/tmp/x", "-h", "", "a..b", ":review.yaml", "HEAD^{/a}", "^main", "a\nb", "main@{1}"])(
    "%j names no commit",
    (ref) => {
      expect(() => repositoryAt(repository.root).commitOf(ref)).toThrow(BaseError);
      expect(() => repositoryAt(repository.root).commitOf(ref)).toThrow(
        "is not the name of a branch, a tag or a commit",
      );
    },
  );

  const commitOf = (ref: string) => repositoryAt(repository.root).commitOf(ref);

  test("a short name is a branch of origin, or else a local one: and the author's tag is neither", () => {
    const second = repository.git("rev-parse", "HEAD");
    repository.git("tag", "main", first);
    expect(commitOf("main")).toBe(second);
    repository.git("update-ref", "refs/remotes/origin/main", "HEAD~1");
    expect(commitOf("main")).toBe(first);
    expect(commitOf("refs/heads/main")).toBe(second);
    repository.git("update-ref", "-d", "refs/remotes/origin/main");
    repository.git("checkout", "--quiet", "-b", "change");
    repository.git("branch", "-D", "main");
    expect(commitOf("main")).toBeUndefined();
    expect(commitOf("refs/tags/main")).toBe(first);
  });

  test.each([
    ["main", "refs/tags/refs/remotes/origin/main"],
    ["origin/main", "refs/tags/origin/main"],
    ["origin/main", "refs/heads/origin/main"],
    ["origin/main", "refs/remotes/origin/origin/main"],
    ["refs/remotes/origin/main", "refs/tags/refs/remotes/origin/main"],
    ["refs/heads/main", "refs/heads/refs/heads/main"],
    ["tags/main", "refs/tags/main"],
    ["FETCH_HEAD", "refs/tags/FETCH_HEAD"],
  ])("a short name is a branch of origin, or else a local one: %s is not %s", (ref, other) => {
    repository.git("checkout", "--quiet", "--detach");
    repository.git("branch", "-D", "main");
    repository.git("update-ref", other, first);
    expect(commitOf(ref)).toBeUndefined();
  });

  test("links, folders and submodules of a commit are no files, and a path has no magic of git", () => {
    symlinkSync("/etc/passwd", join(repository.root, "link.yaml"));
    symlinkSync("infra", join(repository.root, "linked"));
    const commit = repository.commit();
    repository.git("update-index", "--add", "--cacheinfo", `160000,${first},module`);
    repository.git("commit", "--quiet", "--message", "a submodule");
    const second = repository.git("rev-parse", "HEAD");
    expect(() => read(commit, "link.yaml")).toThrow(`link.yaml is a symbolic link at ${commit}`);
    expect(() => read(commit, "infra")).toThrow("infra is a folder at");
    expect(() => read(second, "module")).toThrow("module is a submodule at");
    expect(read(commit, "linked/review.yaml")).toBeUndefined();
    expect(read(second, "module/review.yaml")).toBeUndefined();
    expect(read(first, ":(glob)**/review.yaml")).toBeUndefined();
    expect(read(first, "*.yaml")).toBeUndefined();
    expect(read(first, "--help")).toBeUndefined();
  });

  test.each<[what: string, set: (script: string) => void]>([
    [
      "the settings of the repository",
      (script) => {
        for (const name of ["core.fsmonitor", "core.pager", "core.sshCommand", "diff.x.textconv", "filter.x.smudge"])
          repository.git("config", name, script);
        repository.git("config", "alias.cat-file", `!${script}`);
        repository.write({ ".gitattributes": "*.yaml diff=x filter=x\n" });
      },
    ],
    [
      "the variables of git",
      (script) => {
        for (const name of ["GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH_COMMAND", "GIT_ASKPASS"])
          vi.stubEnv(name, script);
        vi.stubEnv("GIT_CONFIG_COUNT", "1");
        vi.stubEnv("GIT_CONFIG_KEY_0", "core.fsmonitor");
        vi.stubEnv("GIT_CONFIG_VALUE_0", script);
        vi.stubEnv("GIT_DIR", "/nowhere");
      },
    ],
    [
      "the packages of the work tree, which bring a git",
      (script) => {
        for (const folder of ["node_modules/.bin", "bin"]) {
          mkdirSync(join(repository.root, folder), { recursive: true });
          symlinkSync(script, join(repository.root, folder, "git"));
        }
        vi.stubEnv("PATH", `${repository.root}/node_modules/.bin:${repository.root}/bin:bin:${process.env.PATH}`);
      },
    ],
  ])("runs nothing of %s", (_, set) => {
    const [mark, script] = [join(repository.root, "..", `${first}-ran`), join(repository.root, "trap.sh")];
    writeFileSync(script, `#!/bin/sh\ntouch ${mark}\ncat\n`, { mode: 0o755 });
    set(script);
    expect(read(first, "review.yaml")).toBe("deny: [gains-owner]\n");
    expect(existsSync(mark)).toBe(false);
  });

  test("a folder of the change that looks like a repository is none", () => {
    const fake = createRepository();
    fake.commit({ "review.yaml": "deny: []\n" });
    fake.git("clone", "--quiet", "--bare", ".", join(repository.root, "infra", "bare"));
    expect(() => repositoryAt(join(repository.root, "infra", "bare"))).toThrow("git cannot read a base here: ");
    fake.remove();
  });

  test("a replaced object is not taken for the one of the commit, and a folder of no repository is said to be in none", () => {
    const [old, evil] = [first, "HEAD"].map((name) => repository.git("rev-parse", `${name}:review.yaml`));
    repository.git("replace", old as string, evil as string);
    expect(read(first, "review.yaml")).toBe("deny: [gains-owner]\n");
    expect(() => repositoryAt("/")).toThrow("git cannot read a base here: not a git repository");
  });

  test("the files of a commit are read as they are: what runs, links, bytes, and names with spaces and line ends", () => {
    const files = { "bin/run": "#!/bin/sh\n", "key.bin": "\u0000\n\u0001", "a b\nc": "" };
    repository.write({ ...files, ".gitattributes": "* text eol=crlf\n" });
    chmodSync(join(repository.root, "bin/run"), 0o755);
    symlinkSync("../key.bin", join(repository.root, "bin/link"));
    const commit = repository.commit();
    repository.write({ "key.bin": "edited" });
    const { entriesOf, readAll } = repositoryAt(join(repository.root, "infra"));
    const found: Record<string, [string, boolean, string]> = {};
    readAll(entriesOf(commit), ({ path, kind, isExecutable }, content) => {
      found[path] = [kind, isExecutable, content.toString()];
    });
    expect(found).toMatchObject({
      "bin/run": ["file", true, "#!/bin/sh\n"],
      "bin/link": ["link", false, "../key.bin"],
      "key.bin": ["file", false, "\u0000\n\u0001"],
      "a b\nc": ["file", false, ""],
      "infra/review.yaml": ["file", false, "deny: []\n"],
    });
  });

  test("the files of a commit of which this clone lacks one are not read", () => {
    const { entriesOf, readAll } = repositoryAt(repository.root);
    const [entry] = entriesOf(first);
    const object = entry?.object ?? "";
    rmSync(join(repository.root, ".git", "objects", object.slice(0, 2), object.slice(2)));
    const read = () => readAll(entry ? [entry] : [], () => undefined);
    expect(read).toThrow("this clone does not have it; check out the repository without a filter of objects");
  });

  test("the files of a commit differ in the work tree: edited, removed, staged, new, and not those that git ignores", () => {
    repository.git("checkout", "--quiet", first);
    const { changedSince } = repositoryAt(join(repository.root, "infra"));
    expect(changedSince(first)).toEqual([]);
    repository.commit({ committed: "", ".gitignore": "ignored\n" });
    repository.write({ "infra/review.yaml": "edited", "new/one": "", ignored: "" });
    rmSync(join(repository.root, "review.yaml"));
    expect(changedSince(first)).toEqual([".gitignore", "committed", "infra/review.yaml", "new/one", "review.yaml"]);
  });
});
