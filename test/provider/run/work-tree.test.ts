// A journal in the work tree of the program is refused, however its folder is spelt.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { workTreeProblem } from "../../../provider/run/journal-path.ts";
import { testFolder } from "../../support/test-folder.ts";

const folder = testFolder();

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
        "take over records of others. Set a folder outside of it: irm:journal in the stack's configuration, or IRM_JOURNAL",
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

  it("is refused behind a symbolic link, also one whose target does not exist yet", () => {
    const { at, cwd } = checkout();
    mkdirSync(at("repository/real"));
    symlinkSync(at("repository/real"), at("linked"));
    symlinkSync(at("repository/missing"), at("dangling"));
    symlinkSync("dangling", at("twice"));
    for (const path of ["linked", "linked/below", "dangling", "dangling/below", "twice"])
      expect(workTreeProblem(at(path), cwd), path).toContain(`is in the work tree ${at("repository")}`);
  });

  it("is refused where the program's own folder is reached by a symbolic link", () => {
    const { at } = checkout();
    symlinkSync(at("repository"), at("linked"));
    expect(workTreeProblem(at("repository/.irm"), at("linked/infra"))).toContain("is in the work tree");
    expect(workTreeProblem(at("linked/.irm"), at("linked/infra"))).toContain("is in the work tree");
  });

  it("is decided in a loop of links", () => {
    const { at, cwd } = checkout();
    symlinkSync(at("b"), at("a"));
    symlinkSync(at("a"), at("b"));
    expect(workTreeProblem(at("a/journal"), cwd)).toBeUndefined();
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
