// `irm review --base`: rules come from the commit that the change is merged into, and the change cannot edit them for its own review.
import { renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { beforeEach, expect, test, vi } from "vitest";
import { Report } from "../../access/review/report.ts";
import { BUILT_IN_ROLE_CAPABILITIES } from "../../schema/index.ts";
import { grant, makeChange, writeChangeFile } from "../harness/change-file.ts";
import { serveSignedIn } from "../harness/signed-in.ts";
import { exactFailure, failure, runIrm } from "../support/irm.ts";
import { createRepository, useRepository } from "../support/repository.ts";

const api = await serveSignedIn();
const { uid: ci } = await api.actor("ci");
const made = await makeChange(api, grant(api, api.organization, ci, "owner"));
const repository = useRepository({ "Pulumi.yaml": "name: acme\n", "review.yaml": "deny: [gains-owner]\n" });
let base: string;
let change: string;
beforeEach(() => {
  base = repository.git("rev-parse", "main");
  change = writeChangeFile(repository.at(".git/change.json"), made);
});

const run = (...flags: string[]) => runIrm("review", change, "--format", "json", ...flags);

const rulesOf = (stdout: string) => Report.parse(JSON.parse(stdout)).rules;
const findingsOf = (stdout: string) => Report.parse(JSON.parse(stdout)).findings;
const changedRules = (stdout: string): string | undefined =>
  findingsOf(stdout).find(({ rule }) => rule === "rules-changed")?.message;

test("an allowance that the change adds does not excuse it, and is a finding with its difference", async () => {
  repository.commit({ "review.yaml": "# quiet\ndeny: []\nallow: [gains-owner@ci]\n" });
  const { code, stdout, stderr } = await run("--base", "main");
  expect({ code, stderr }).toEqual({ code: 3, stderr: "" });
  expect(findingsOf(stdout).find(({ rule }) => rule === "gains-owner")).toMatchObject({ denied: true });
  expect(changedRules(stdout)).toBe(
    "this change edits review.yaml: - deny gains-owner, + allow gains-owner@ci; this counts after the merge only",
  );
  expect(rulesOf(stdout)).toEqual({
    file: "review.yaml",
    isThere: true,
    base: "main",
    commit: base,
  });
});

const inJob = (target: string): void => {
  const event = repository.at(".git/event.json");
  const content = { pull_request: { base: { sha: base } }, repository: { default_branch: "main" } };
  writeFileSync(event, JSON.stringify(content));
  vi.stubEnv("GITHUB_BASE_REF", target);
  vi.stubEnv("GITHUB_EVENT_PATH", event);
};

test("in a job of a pull request, rules are not those of a branch that its author has made", async () => {
  repository.git("update-ref", "refs/remotes/origin/main", base);
  repository.git("checkout", "--quiet", "-b", "target", "main");
  repository.commit({ "review.yaml": "deny: []\n" });
  repository.git("update-ref", "refs/remotes/origin/target", "target");
  repository.git("checkout", "--quiet", "change");
  inJob("target");
  const { code, stdout } = await run();
  expect(code).toBe(3);
  const denied = findingsOf(stdout).filter((one) => one.denied);
  expect(denied.map(({ rule, subject }) => [rule, subject])).toEqual([
    ["other-branch", "target"],
    ["gains-owner", ci],
  ]);
  expect(denied[0]?.message).toBe(
    "this change is to be merged into another branch than main, which rules and tests come from; propose it to main, or let the job name the branch",
  );
  expect(rulesOf(stdout)).toMatchObject({ base: "origin/main", commit: base });
});

test("in a job of a pull request, --base makes no other target right; an allowance of the base does", async () => {
  inJob("release");
  expect((await run("--base", "origin/main")).code).toBe(1);
  repository.git("update-ref", "refs/remotes/origin/main", "main");
  expect(findingsOf((await run("--base", "origin/main")).stdout).map(({ rule }) => rule)).toContain("other-branch");
  const { stdout, stderr } = await run("--base", "origin/main", "--allow", "other-branch@release");
  expect(findingsOf(stdout).find(({ rule }) => rule === "other-branch")).toMatchObject({ allowed: true });
  expect(stderr).toBe("");
});

test("--rules is read at the base, by its path from the top level", async () => {
  repository.onMain({ "ci/rules.yaml": "deny: [root-binding]\n" });
  repository.commit({ "ci/rules.yaml": "deny: []\n" });
  repository.workIn("ci");
  for (const path of ["ci/rules.yaml", repository.at("ci/rules.yaml")]) {
    const { code, stdout } = await run("--base", "main", "--rules", path);
    expect(code).toBe(3);
    expect(changedRules(stdout)).toContain("this change edits ci/rules.yaml: - deny root-binding");
  }
});

test("the rules are those beside the Pulumi.yaml of the base, which the change cannot move", async () => {
  repository.commit({ "infra/Pulumi.yaml": "name: acme\n", "infra/review.yaml": "allow: []\n" });
  repository.workIn("infra");
  expect((await run("--base", "main")).code).toBe(3);
});

test.each<[what: string, edit: (file: string) => void, message: string | undefined]>([
  ["gone", unlinkSync, "this change removes review.yaml, and with it all its rules; this counts after the merge only"],
  [
    "it is broken",
    (file) => writeFileSync(file, "deny: [x]\n"),
    expect.stringContaining(
      'this change edits review.yaml so that it has mistakes: review.yaml: deny[0]: there is no rule "x"',
    ),
  ],
  [
    "it becomes a link, which is not followed",
    (file) => {
      unlinkSync(file);
      symlinkSync("/etc/passwd", file);
    },
    "review.yaml is a symbolic link, or is reached through one in this change; this counts after the merge only",
  ],
  [
    "it is made too large to read",
    (file) => writeFileSync(file, `# ${"x".repeat(4 * 1024 * 1024)}\n`),
    "review.yaml is larger than 4 MiB in this change; this counts after the merge only",
  ],
  ["only its comments change: none", (file) => writeFileSync(file, "# why\ndeny: [gains-owner]\n"), undefined],
])("what the change does to the file is a finding, when %s", async (_, edit, message) => {
  edit(repository.at("review.yaml"));
  const { code, stdout } = await run("--base", "main");
  expect(code).toBe(3);
  expect(changedRules(stdout)).toEqual(message);
});

test("a base without the file has no rules, which is said; one that the change adds counts after the merge", async () => {
  repository.git("checkout", "--quiet", "main");
  unlinkSync(repository.at("review.yaml"));
  const without = repository.commit();
  repository.write({ "review.yaml": "deny: [gains-owner]\nrequired: { owners: 2, may-own: [/boss] }\n" });
  const { code, stdout, stderr } = await run("--base", "main");
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: "irm review: there is no review.yaml at main, so only --deny and --allow count\n",
  });
  expect(rulesOf(stdout)).toMatchObject({ isThere: false, commit: without });
  expect(changedRules(stdout)).toBe(
    "this change adds review.yaml: + deny gains-owner, + required owners: 2, + required may-own: /boss; this counts after the merge only",
  );
  expect((await run("--base", "main", "--deny", "gains-owner")).code).toBe(3);
});

test("required fails the review without being denied", async () => {
  repository.onMain({ "review.yaml": "required: { owners: 9 }\n" });
  const { code, stdout } = await run("--base", "main");
  expect(code).toBe(3);
  expect(findingsOf(stdout).filter(({ denied }) => denied)).toEqual([
    expect.objectContaining({ rule: "required-owners", subject: api.organization }),
  ]);
});

test.each([
  [["--base", "v9"], 1, "cannot read the base v9 (--base), and the rules of the change itself do not count"],
  [["--base", "main", "--rules", "../rules.yaml"], 1, "../rules.yaml is not in the repository"],
  [["--base", "main", "--rules", "nowhere.yaml"], 2, "there is no nowhere.yaml at main, nor in the work tree"],
])("a base that cannot be read has no review: %j", async (flags, code, message) => {
  expect(await run(...flags)).toEqual(failure(code, message));
});

const FILES = { "access/Pulumi.yaml": "name: acme\n", "access/review.yaml": "deny: [gains-owner]\n" };
const atBase = (files: Readonly<Record<string, string>>): void => {
  repository.onMain(files);
  repository.workIn("access");
};
const REMEDY = "so it is not clear whose rules and tests count. Leave the folder what it is, or give it another name\n";

test("a folder that the change makes lead elsewhere is refused: a link in its place", async () => {
  atBase(FILES);
  expect((await run("--base", "main")).code).toBe(3);
  renameSync(repository.at("access"), repository.at("other"));
  symlinkSync("other", repository.at("access"));
  repository.commit({ "other/review.yaml": "deny: []\n" });
  // The system has resolved the link for the command.
  repository.workIn("other");
  expect(await run("--base", "main")).toEqual(
    exactFailure(1, `irm review: this change makes access, which is a folder at main, a link to other, ${REMEDY}`),
  );
});

test("a link that leads elsewhere, or that the base has, is not refused", async () => {
  atBase({ ...FILES, "docs/a.md": "a" });
  renameSync(repository.at("docs"), repository.at("more"));
  symlinkSync("more", repository.at("docs"));
  symlinkSync("access", repository.at("alias"));
  repository.commit();
  expect((await run("--base", "main")).code).toBe(3);
});

test("a submodule in the place of a folder, whose branches are its author's, is refused", async () => {
  atBase(FILES);
  repository.git("rm", "-r", "--quiet", "access");
  const inner = createRepository();
  inner.commit({ "Pulumi.yaml": "name: acme\n", "review.yaml": "deny: []\n" });
  repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.root, "access");
  repository.commit();
  expect(await run("--base", "main")).toEqual(
    exactFailure(1, `irm review: this change makes access a submodule, ${REMEDY}`),
  );
  // One that the base has is a repository of its own, with rules of its own.
  repository.git("branch", "--force", "main");
  expect((await run("--base", "main")).code).toBe(0);
  inner.remove();
});

test("without a base, the rules come from the work tree, which is said, by the path from the top", async () => {
  repository.write({ "review.yaml": "deny: []\n" });
  expect(await run()).toMatchObject({
    code: 0,
    stderr:
      "irm review: the rules come from review.yaml in the work tree; for a pull request give --base REF: its author cannot edit the rules there\n",
  });
  repository.write({ "ci/rules.yaml": "deny: [gains-owner]\n" });
  repository.workIn("ci");
  expect((await run("--rules", "ci/rules.yaml")).code).toBe(3);
  expect(await run("--rules", "rules.yaml")).toEqual(
    failure(2, "the path counts from the top level of the repository, so this is"),
  );
});

const lockWith = (viewer: readonly string[]): string =>
  JSON.stringify({
    services: { [api.baseUrl]: { date: "2026-08-21", roles: { ...BUILT_IN_ROLE_CAPABILITIES, viewer } } },
  });
const VIEWER = BUILT_IN_ROLE_CAPABILITIES.viewer as readonly string[];

test("roles.lock.yaml of the base says what the service has changed; a change of it is a finding", async () => {
  const reader = await api.actor("reader", { role: "viewer" });
  repository.onMain({ "roles.lock.yaml": lockWith(VIEWER.slice(1)) });
  const { stdout } = await run("--base", "main");
  expect(Report.parse(JSON.parse(stdout)).roles).toMatchObject([
    {
      name: "viewer",
      added: VIEWER.slice(0, 1),
      removed: [],
      reaches: [{ identity: reader.uid, gains: VIEWER.slice(0, 1) }],
    },
  ]);
  const text = await runIrm("review", change, "--base", "main");
  expect(text.stdout).toContain("the service changed viewer: +account_associations.list; 1 identity gained it");
  expect(changedRules(stdout)).toBeUndefined();
  repository.onMain({ "roles.lock.yaml": lockWith(VIEWER.slice(1)) });
  repository.commit({ "roles.lock.yaml": lockWith(VIEWER) });
  expect(changedRules((await run("--base", "main")).stdout)).toBeUndefined();
  repository.commit({ "roles.lock.yaml": lockWith([...VIEWER, "skills.publish"]) });
  expect(changedRules((await run("--base", "main")).stdout)).toBe(
    "this change edits roles.lock.yaml: the service has other capabilities for viewer",
  );
  const own = JSON.parse(lockWith(VIEWER)).services[api.baseUrl];
  for (const [changed, text] of [
    [{}, `it removes ${api.baseUrl}, and drift no longer reports`],
    [{ "https://other.example.com": own }, "it changes https://other.example.com, which this review does not read"],
    [{ [`${api.baseUrl}/`]: own }, `write ${api.baseUrl}, as`],
  ] as const) {
    repository.commit({ "roles.lock.yaml": JSON.stringify({ services: changed }) });
    const found = findingsOf((await run("--base", "main")).stdout).filter(({ rule }) => rule === "rules-changed");
    expect(found.map(({ message }) => message).join("\n")).toContain(text);
  }
  repository.commit({ "roles.lock.yaml": "services: 1\n" });
  expect(changedRules((await run("--base", "main")).stdout)).toContain("this change edits roles.lock.yaml: roles.lock");
  unlinkSync(repository.at("roles.lock.yaml"));
  expect(changedRules((await run("--base", "main")).stdout)).toContain("it removes the file");
});
