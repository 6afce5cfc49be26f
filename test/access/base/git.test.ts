// Files of a commit, whatever the work tree and its settings say.
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { BaseError, repositoryAt } from "../../../access/base/git.ts";
import { createRepository, type TestRepository } from "../../support/repository.ts";

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

test("reads a file of a commit, not that of the work tree", () => {
  repository.write({ "review.yaml": "edited" });
  expect(read(first, "review.yaml")).toBe("deny: [gains-owner]\n");
  expect(read(first, "none.yaml")).toBeUndefined();
  expect(repositoryAt(join(repository.root, "infra")).fileAt(first, "infra/review.yaml")).toBe("deny: []\n");
});

test("resolves branches, tags, hashes and steps back from them", () => {
  const { commitOf } = repositoryAt(repository.root);
  expect(commitOf("HEAD~1")).toBe(first);
  expect(commitOf("main")).toBe(repository.git("rev-parse", "HEAD"));
  expect(commitOf(first)).toBe(first);
  expect(commitOf("nowhere")).toBeUndefined();
  expect(commitOf("f".repeat(40))).toBeUndefined();
});

test.each(["--output=/tmp/x", "-h", "", "a..b", ":review.yaml", "HEAD^{/a}", "^main", "a\nb", "main@{1}"])(
  "%j is not the name of a commit",
  (ref) => {
    expect(() => repositoryAt(repository.root).commitOf(ref)).toThrow(BaseError);
    expect(() => repositoryAt(repository.root).commitOf(ref)).toThrow("is not the name of a branch, a tag or a commit");
  },
);

describe("a short name is a branch of origin, or else a local one", () => {
  const commitOf = (ref: string) => repositoryAt(repository.root).commitOf(ref);

  test("and the author's tag is neither", () => {
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
  ])("%s is not %s", (ref, other) => {
    repository.git("checkout", "--quiet", "--detach");
    repository.git("branch", "-D", "main");
    repository.git("update-ref", other, first);
    expect(commitOf(ref)).toBeUndefined();
  });
});

test("links, folders and submodules of a commit are no files", () => {
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
});

test("a path has no magic of git", () => {
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
      for (const name of ["GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH_COMMAND", "GIT_ASKPASS"]) vi.stubEnv(name, script);
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

test("a replaced object is not taken for the one of the commit", () => {
  const [old, evil] = [first, "HEAD"].map((name) => repository.git("rev-parse", `${name}:review.yaml`));
  repository.git("replace", old as string, evil as string);
  expect(read(first, "review.yaml")).toBe("deny: [gains-owner]\n");
});

test("says that a folder is in no repository", () => {
  expect(() => repositoryAt("/")).toThrow("git cannot read a base here: not a git repository");
});

describe("the files of a commit", () => {
  test("are read as they are: what runs, links, bytes, and names with spaces and line ends", () => {
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

  test("of which this clone lacks one are not read", () => {
    const { entriesOf, readAll } = repositoryAt(repository.root);
    const [entry] = entriesOf(first);
    const object = entry?.object ?? "";
    rmSync(join(repository.root, ".git", "objects", object.slice(0, 2), object.slice(2)));
    const read = () => readAll(entry ? [entry] : [], () => undefined);
    expect(read).toThrow("this clone does not have it; check out the repository without a filter of objects");
  });

  test("differ in the work tree: edited, removed, staged, new, and not those that git ignores", () => {
    repository.git("checkout", "--quiet", first);
    const { changedSince } = repositoryAt(join(repository.root, "infra"));
    expect(changedSince(first)).toEqual([]);
    repository.commit({ committed: "", ".gitignore": "ignored\n" });
    repository.write({ "infra/review.yaml": "edited", "new/one": "", ignored: "" });
    rmSync(join(repository.root, "review.yaml"));
    expect(changedSince(first)).toEqual([".gitignore", "committed", "infra/review.yaml", "new/one", "review.yaml"]);
  });
});
