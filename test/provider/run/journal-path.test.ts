// The path of a stack's journal: two stacks of one name never share a file. None is in the work tree of the program.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { keptFolderProblem } from "../../../provider/engine/open-stacks.ts";
import { journalFolder, journalPath, workTreeProblem } from "../../../provider/run/journal-path.ts";
import { skipsCheckpoints } from "../../../provider/run/stored-stack.ts";
import { testFolder } from "../../support/test-folder.ts";

const folder = testFolder();

const STACK = "organization/access/production";
const config = { baseUrl: "https://api.example.com", authUrl: "https://api.example.com", requestTimeoutMs: 60_000 };
const pathIn = (cwd: string, env = {}, stack = STACK, own = config) => journalPath(stack, own, env, cwd);

it.each([
  ["is the configured one", "/srv/journal", { XDG_STATE_HOME: "/state" }, "/srv/journal"],
  ["is below XDG_STATE_HOME", undefined, { XDG_STATE_HOME: "/state" }, "/state/pulumi-irm"],
  ["is below the user's state folder", undefined, {}, join(homedir(), ".local/state/pulumi-irm")],
])("the folder %s", (_, configured, env, expected) => expect(journalFolder(configured, env)).toBe(expected));

it("the folder holds the journal of each stack under its name", () => {
  const path = pathIn(folder.path("."), { XDG_STATE_HOME: "/state" });
  expect(dirname(path)).toBe("/state/pulumi-irm");
  expect(basename(path)).toMatch(/^organization\.access\.production\.[0-9a-f]{12}\.jsonl$/);
});

const project = (name: string, yaml: string): string => {
  mkdirSync(folder.path(`${name}/src`), { recursive: true });
  writeFileSync(folder.path(`${name}/Pulumi.yaml`), yaml);
  return folder.path(`${name}/src`);
};
const login = (name: string, current: string) => {
  mkdirSync(folder.path(name));
  writeFileSync(folder.path(`${name}/credentials.json`), JSON.stringify({ current }));
  return { PULUMI_HOME: folder.path(name) };
};
const plain = project("plain", "name: access\nruntime: nodejs\n");
const none = { PULUMI_HOME: folder.path("nowhere") };
const base = pathIn(plain, none);

it.each([
  ["for another stack", () => pathIn(plain, none, "organization/access/staging")],
  ["for another address", () => pathIn(plain, none, STACK, { ...config, baseUrl: "https://other.example.com" })],
  ["for a backend in the environment", () => pathIn(plain, { ...none, PULUMI_BACKEND_URL: "file:///a" })],
  [
    "for a backend in the project's file, above the working folder",
    () => pathIn(project("own", "name: access\nbackend: { url: file:///a }\n"), none),
  ],
  ["for another login", () => pathIn(plain, login("home", "https://api.example.org"))],
])("another file %s", (_, path) => expect(path()).not.toBe(base));

it("another file is not used for the same stack, whatever its checkout folder and the rest of its project file", () => {
  expect(pathIn(project("elsewhere", "name: access\ndescription: our backend\nruntime: nodejs\n"), none)).toBe(base);
  expect(pathIn(project("broken", "backend: { url: [\n"), none)).toBe(base);
});

it("another file is the environment's, then the project's, then that of the login", () => {
  const own = project("first", "backend: { url: file:///b }\n");
  const home = login("second", "file:///c");
  const at = (url: string) => pathIn(plain, { ...none, PULUMI_BACKEND_URL: url });
  expect(pathIn(own, { ...home, PULUMI_BACKEND_URL: "file:///a" })).toBe(at("file:///a"));
  expect(pathIn(own, home)).toBe(at("file:///b"));
  expect(pathIn(plain, home)).toBe(at("file:///c"));
});

it.each<[string | undefined, boolean, string]>([
  [undefined, false, "it is not set"],
  ["", false, "it is empty"],
  ["1", true, "as the engine reads it"],
  ["TRUE", true, "in any case"],
  ["0", false, "it is off"],
  ["yes", false, "the engine takes it for false"],
])("PULUMI_SKIP_CHECKPOINTS %j is %s: %s", (value, expected) => {
  expect(skipsCheckpoints({ PULUMI_SKIP_CHECKPOINTS: value })).toBe(expected);
});

const HOME = { HOME: "/home/ann" };

it.each<[string | undefined, Record<string, string>, string]>([
  [undefined, HOME, "a person's machine keeps it"],
  ["/tmp/journal", HOME, "so it does one in the folder for temporary files"],
  [undefined, { ...HOME, CI: "false" }, "no CI"],
  ["/var/lib/pulumi-irm", { ...HOME, CI: "true" }, "a folder that somebody has chosen"],
  ["/var/lib/pulumi-irm", { ...HOME, GITHUB_ACTIONS: "true", RUNNER_TEMP: "/work/_temp" }, "outside the job"],
])("the folder of the journals %j is kept: %o, %s", (journal, env) => {
  expect(keptFolderProblem(journal === undefined ? {} : { journal }, env, "/work/access")).toBeUndefined();
});

it.each<[Record<string, string>, string]>([
  [{ ...HOME, CI: "true" }, "any CI"],
  [{ ...HOME, GITHUB_ACTIONS: "true" }, "GitHub Actions"],
  [{ ...HOME, GITLAB_CI: "true" }, "GitLab"],
  [{ ...HOME, TF_BUILD: "True" }, "Azure Pipelines, which sets no CI"],
  [{ ...HOME, JENKINS_URL: "http://jenkins.example.com" }, "Jenkins"],
  [{ ...HOME, CI: "1", XDG_STATE_HOME: "/home/ann/.state" }, "the usual folder of another place"],
])("the folder of the journals that nobody has chosen goes with the machine: %o, %s", (env) => {
  expect(keptFolderProblem({}, env, "/work/access")).toMatch(
    /^in CI it needs a folder of the intent journals that outlives the machine, and \S+pulumi-irm is the usual one, which a runner that starts empty does not have\. Set IRM_JOURNAL, or irm:journal, to a folder that is kept$/,
  );
});

it.each<[string, Record<string, string>, string]>([
  ["/work/_temp/journal", { GITHUB_ACTIONS: "true", RUNNER_TEMP: "/work/_temp" }, "GitHub's folder of the job"],
  ["/builds/acme/access/.journal", { GITLAB_CI: "true", CI_PROJECT_DIR: "/builds/acme/access" }, "GitLab's checkout"],
  [".journal", { CI: "true", WORKSPACE: "/work/access" }, "Jenkins' workspace, by a relative path"],
])("the folder of the journals %j goes with the job: %o, %s", (journal, env) => {
  expect(keptFolderProblem({ journal }, env, "/work/access")).toMatch(/ goes with the job\. Set IRM_JOURNAL/);
});

let count = 0;
const fresh = (): ((path: string) => string) => {
  count += 1;
  const name = `case${count}`;
  mkdirSync(folder.path(name));
  return (path) => folder.path(`${name}/${path}`);
};

/** A repository with a project in `infra`; its program runs in `infra/src`. */
const checkout = () => {
  const at = fresh();
  mkdirSync(at("repository/infra/src"), { recursive: true });
  mkdirSync(at("repository/.git"));
  writeFileSync(at("repository/infra/Pulumi.yaml"), "name: access\nruntime: nodejs\n");
  return { at, cwd: at("repository/infra/src") };
};

describe("the folder of the journals", () => {
  it.each([
    ["is refused below the project", "repository/infra/.irm"],
    ["is refused elsewhere in the repository", "repository/.irm-journal"],
    ["is refused as the top level itself", "repository"],
    ["is refused within .git", "repository/.git/irm"],
    ["is refused before it exists", "repository/a/b/c"],
    ["is refused where .. leads back", "elsewhere/../repository/.irm"],
  ])("%s", (_, path) => {
    const { at, cwd } = checkout();
    expect(workTreeProblem(at(path), cwd)).toBe(
      `the folder of the intent journals, ${at(path)}, is in the work tree ${at("repository")}: a change to its files could make a run ` +
        "adopt records of others. Set a folder outside of it: irm:journal in the stack's configuration, or IRM_JOURNAL",
    );
  });

  it.each([
    ["may be beside the repository", "journal"],
    ["may have a name that begins like that of the repository", "repository-journal"],
    ["may be the folder that holds the repository", "."],
    ["may have a name that begins with two dots", "..journal"],
  ])("%s", (_, path) => {
    const { at, cwd } = checkout();
    expect(workTreeProblem(at(path), cwd)).toBeUndefined();
  });

  it("is refused behind a symbolic link, also one whose target does not exist yet, and decided in a loop of links", () => {
    const { at, cwd } = checkout();
    mkdirSync(at("repository/real"));
    symlinkSync(at("repository/real"), at("linked"));
    symlinkSync(at("repository/missing"), at("dangling"));
    symlinkSync("dangling", at("twice"));
    for (const path of ["linked", "linked/below", "dangling", "dangling/below", "twice"])
      expect(workTreeProblem(at(path), cwd), path).toContain(`is in the work tree ${at("repository")}`);
    symlinkSync(at("b"), at("a"));
    symlinkSync(at("a"), at("b"));
    expect(workTreeProblem(at("a/journal"), cwd)).toBeUndefined();
  });

  it("is refused where the program's own folder is reached by a symbolic link", () => {
    const { at } = checkout();
    symlinkSync(at("repository"), at("linked"));
    expect(workTreeProblem(at("repository/.irm"), at("linked/infra"))).toContain("is in the work tree");
    expect(workTreeProblem(at("linked/.irm"), at("linked/infra"))).toContain("is in the work tree");
  });

  it("is refused in the repository around a submodule, and in a worktree", () => {
    const { at } = checkout();
    mkdirSync(at("repository/module"));
    writeFileSync(at("repository/module/.git"), "gitdir: ../.git/modules/module\n");
    expect(workTreeProblem(at("repository/.irm"), at("repository/module"))).toContain(at("repository"));
    expect(workTreeProblem(at("repository/module/.irm"), at("repository/module"))).toContain(at("repository/module"));

    mkdirSync(at("tree"));
    writeFileSync(at("tree/.git"), `gitdir: ${at("repository/.git/worktrees/tree")}\n`);
    expect(workTreeProblem(at("tree/.irm"), at("tree"))).toContain(`is in the work tree ${at("tree")}`);
    expect(workTreeProblem(at("journal"), at("tree"))).toBeUndefined();
  });

  it.each(["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"])("is refused without git below the folder of %s", (project) => {
    const at = fresh();
    mkdirSync(at("project/src"), { recursive: true });
    writeFileSync(at(`project/${project}`), '{ "name": "access" }\n');
    expect(workTreeProblem(at("project/.irm"), at("project/src"))).toContain(`is in the work tree ${at("project")}`);
    expect(workTreeProblem(at("journal"), at("project/src"))).toBeUndefined();
  });

  it("may be anywhere without git and without a project", () => {
    const at = fresh();
    mkdirSync(at("bare"));
    expect(workTreeProblem(at("bare/.irm"), at("bare"))).toBeUndefined();
  });
});
