// What lets a change be applied: people whom the host asks, or the review of the change that was merged, at GitHub and at GitLab.
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Change } from "../../access/change/change.ts";
import { type Forge, ForgeError } from "../../ci/forge.ts";
import { closeIssue, furtherRows, keepIssue, type Marker, mergedReview, replaceComment } from "../../ci/post.ts";
import { RefusedJob } from "../../ci/settings.ts";
import { githubForgeOf, gitlabForgeOf, type Repository, startGithub, startGitlab } from "../harness/pipeline/posts.ts";

const [HEAD, MERGE] = ["a".repeat(40), "b".repeat(40)];
const WORKFLOW = ".github/workflows/access.yml";
const [MERGED, EARLIER, LATER] = ["2026-11-20T11:00:00Z", "2026-11-20T10:00:00Z", "2026-11-20T12:00:00Z"];

const refusalOf = async (promise: Promise<unknown>): Promise<string> => {
  const error = await promise.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RefusedJob);
  return (error as Error).message;
};

const jobToken = (claims: object): string =>
  ["{}", JSON.stringify(claims), "{}"].map((part) => Buffer.from(part).toString("base64url")).join(".");

let claims: object;
const onGithub = (repository: Repository): Forge =>
  githubForgeOf(repository, {
    GITHUB_WORKFLOW_REF: `acme/access/${WORKFLOW}@refs/heads/main`,
    ...repository.jobEnv,
  });
const JOB = { CI_JOB_NAME: "access-apply", CI_ENVIRONMENT_NAME: "access-apply", IRM_CI_FOLDER: ".irm-ci" };
const onGitlab = (repository: Repository, further: Record<string, string> = {}): Forge =>
  gitlabForgeOf(repository, { ...JOB, ...further });

const itself = { id: 1 };
const hosts = [
  {
    host: "GitHub",
    word: "pull request",
    start: () => startGithub(async () => jobToken(claims)),
    forge: onGithub,
    ...{ me: "github-actions[bot]", forgeOf: githubForgeOf },
    run: {
      ...{ id: 5, path: WORKFLOW, event: "pull_request", head_sha: HEAD, run_started_at: EARLIER },
      ...{ head_repository: itself, repository: itself },
    } as object,
    wrongRuns: [
      { path: ".github/workflows/other.yml" },
      { event: "workflow_dispatch" },
      { head_sha: MERGE },
      { head_repository: { id: 2 } },
      { run_started_at: LATER },
    ] as object[],
    wrongJobs: [] as object[],
  },
  {
    host: "GitLab",
    word: "merge request",
    start: startGitlab,
    forge: (repository: Repository): Forge => onGitlab(repository),
    ...{ me: "21", forgeOf: gitlabForgeOf },
    run: { id: 4, source: "merge_request_event", sha: HEAD } as object,
    wrongRuns: [{ source: "push" }, { sha: MERGE }] as object[],
    wrongJobs: [{ name: "access-change" }, { started_at: LATER }] as object[],
  },
];

describe.each(hosts)("the review of what was merged, at $host", ({ word, start, forge: of, run, ...wrong }) => {
  let repository: Repository;
  const job = { id: 5, pipeline: 4, name: "access-review", started_at: EARLIER };
  beforeEach(async () => {
    repository = await start();
    Object.assign(repository, { head: HEAD, merged: { merge: MERGE, mergedAt: MERGED } });
    repository.runs.set(4, run as Record<string, unknown>);
    repository.jobs.set(5, job);
    repository.files.set(5, "the change");
  });
  afterEach(() => repository.close());

  const find = (commit: string | undefined = MERGE) => mergedReview(of(repository), commit, { change: word });

  test("is the last run of the same workflow about its newest commit, before the merge", async () => {
    const { run: id, change } = await find();
    expect({ id, change }).toMatchObject({ id: 5, change: { number: 7, head: HEAD } });
    const { fileOf } = of(repository);
    if (fileOf) expect(await fileOf(id, "change.json")).toBe("the change");
  });

  test("is no run of another commit, workflow or event, none that began after the merge, and none for a commit that no merge made", async () => {
    const none = `${word} 7 has no review of its newest commit by this workflow that began before the merge`;
    for (const one of wrong.wrongRuns) {
      repository.runs.set(4, { ...run, ...one });
      expect(await refusalOf(find())).toContain(none);
    }
    repository.runs.set(4, run as Record<string, unknown>);
    for (const one of wrong.wrongJobs) {
      repository.jobs.set(5, { ...job, ...one });
      expect(await refusalOf(find())).toContain(none);
    }
    expect(await refusalOf(find("d".repeat(40)))).toContain(`no ${word} was merged as this commit`);
    expect(await refusalOf(mergedReview(of(repository), undefined, { change: word }))).toContain("no review shows it");
  });
});

describe("at GitHub, the environment of the job", () => {
  let repository: Repository;
  beforeEach(async () => {
    claims = { environment: "access" };
    repository = await startGithub(async () => jobToken(claims));
  });
  afterEach(() => repository.close());
  const protect = (...types: string[]) =>
    repository.environments.set("access", { protection_rules: types.map((type) => ({ type })) });

  test("has required reviewers, or nobody had to approve the job", async () => {
    protect("branch_policy", "required_reviewers");
    expect(await onGithub(repository).unseenApproval()).toBeUndefined();
    protect("branch_policy", "wait_timer");
    expect(await refusalOf(onGithub(repository).unseenApproval())).toMatch(
      /^the environment access has no required reviewers, so nobody had to approve this job\. .* apply: merged$/,
    );
    claims = {};
    expect(await refusalOf(onGithub(repository).unseenApproval())).toContain("the job has no environment");
  });

  test("cannot always be seen, which is one sentence", async () => {
    repository.permissions = { contents: "read" };
    expect(await onGithub(repository).unseenApproval()).toMatch(
      /^whether the environment access has required reviewers cannot be seen: GitHub answered 403 .*`permissions: actions: read`/,
    );
    const withoutToken = { ...repository, jobEnv: {} };
    expect(await onGithub(withoutToken).unseenApproval()).toBe(
      "whether people had to approve this job cannot be seen: it needs `permissions: id-token: write`",
    );
  });
});

test("at GitLab, the job needs an approval of its environment, or somebody who starts it", async () => {
  const repository = await startGitlab();
  onTestFinished(repository.close);
  const seen = (further = {}) => onGitlab(repository, further).unseenApproval();
  expect(await refusalOf(seen())).toContain("nobody started this job by hand");
  expect(await seen({ CI_JOB_MANUAL: "true" })).toMatch(
    /^somebody started this job by hand; whether only some people may cannot be seen: GitLab answered 404 /,
  );
  repository.environments.set("access-apply", { approval_rules: [{ required_approvals: 1 }] });
  expect(await seen()).toBeUndefined();
  repository.environments.set("access-apply", { approval_rules: [], required_approval_count: 0 });
  expect(await seen({ CI_JOB_MANUAL: "true" })).toBeUndefined();
  expect(await refusalOf(seen())).toContain(
    "nobody started this job by hand, and its environment asks for no approval",
  );
});

test("rows of access are compared by the records that they are of, and not by the numbers of their writes", () => {
  const identity = (n: number, name: string) => ({ n, method: "CreateIdentity", parent: "org", fields: { name } });
  const row = (n: number, capability: string) => ({ change: "gain", identity: { $uid: n }, group: "org", capability });
  const made = (writes: object[], rows: object[], between: object[] = []) =>
    ({ writes, rows, between }) as unknown as Change;
  const merged = made([identity(1, "a"), identity(2, "b")], [row(1, "repo.list"), row(2, "repo.create")]);
  const same = made([identity(1, "b"), identity(2, "a")], [row(2, "repo.list"), row(1, "repo.create")]);
  expect(furtherRows(same, merged)).toEqual([]);
  const swapped = made(same.writes, [row(1, "repo.list"), row(2, "repo.create")]);
  expect(furtherRows(swapped, merged)).toEqual(swapped.rows);
  // Two equal writes are two records, and one of them was reviewed.
  const twice = made([identity(1, "a"), identity(2, "a")], [row(1, "repo.list"), row(2, "repo.list")]);
  expect(furtherRows(twice, merged)).toEqual([row(2, "repo.list")]);
  expect(furtherRows(made([], []), merged)).toEqual([]);
  // What a run gives that ends half-way.
  expect(furtherRows(made(same.writes, [], [row(2, "repo.update")]), merged)).toEqual([row(2, "repo.update")]);
});

const CHANGE = 7;
const review = (run: number, subject = "production"): Marker => ({ kind: "review", subject, run });

describe.each(hosts)("at $host", ({ me, start, forgeOf }) => {
  let repository: Repository;
  let forge: Forge;
  beforeEach(async () => {
    repository = await start();
    forge = forgeOf(repository);
  });
  afterEach(() => repository.close());

  const add = (id: number, author: string, body: string) => repository.comments.push({ id, author, body });
  const texts = () => repository.comments.map(({ id, body }) => [id, body.split("\n")[1] ?? body]);

  test("a comment of an earlier run is replaced, on whatever page it is", async () => {
    await replaceComment(forge, CHANGE, review(1), "first");
    const [own] = repository.comments;
    for (const id of [1, 2, 3, 4]) repository.comments.unshift({ id, author: "9", body: "hello" });
    expect((await replaceComment(forge, CHANGE, review(2), "second"))?.url).toContain(String(own?.id));
    expect(texts().at(-1)).toEqual([own?.id, "second"]);
    expect(repository.comments).toHaveLength(5);
  });

  test("a stranger's comment with the marker stays, and so do ours about others", async () => {
    await replaceComment(forge, CHANGE, review(1, "staging"), "of staging");
    const marker = "<!-- irm review production run 1 -->";
    add(1, "9", `${marker}\nof a stranger`);
    add(2, me, `quoted:\n${marker}\nelsewhere`);
    add(3, me, `${marker.replace("review", "drift")}\nof drift`);
    add(4, me, "<!-- irm review production2 run 1 -->\nof another stack");
    const before = texts();
    await replaceComment(forge, CHANGE, review(2), "of production");
    expect(texts()).toEqual([...before, [expect.any(Number), "of production"]]);
  });

  test("a newer run is not replaced by an older one, and two comments of ours become one", async () => {
    add(1, me, "<!-- irm review production run 5 -->\nfirst");
    add(2, me, "<!-- irm review production run 5 -->\nsecond");
    expect(await replaceComment(forge, CHANGE, review(4), "older")).toBeUndefined();
    expect(texts()).toEqual([
      [1, "first"],
      [2, "second"],
    ]);
    // The same run again: a job that was started once more.
    await replaceComment(forge, CHANGE, review(5), "again");
    expect(texts()).toEqual([[1, "again"]]);
  });

  test("a bot that repeats a marker with a high number keeps no review of the newest commit away", async () => {
    add(1, me, "<!-- irm review production run 999999999999 -->\nnobody gains anything");
    repository.head = "newest";
    expect(await replaceComment(forge, CHANGE, { ...review(4), head: "older" }, "older")).toBeUndefined();
    expect(texts()).toEqual([[1, "nobody gains anything"]]);
    await replaceComment(forge, CHANGE, { ...review(5), head: "newest" }, "the review");
    expect(texts()).toEqual([[1, "the review"]]);
  });

  test("an issue is opened once, updated, and closed with a comment; a stranger's stays open", async () => {
    const marker: Marker = { kind: "drift", subject: "production", run: 1 };
    const issue = { author: "9", title: "t", isOpen: true, comments: [] };
    for (const id of [1, 2, 3])
      repository.issues.push({ ...issue, id, body: "<!-- irm drift production run 1 -->\n", comments: [] });
    const opened = await keepIssue(forge, marker, "Access differs", "2 records");
    expect(await keepIssue(forge, { ...marker, run: 2 }, "Access differs", "3 records")).toEqual(opened);
    expect(repository.issues).toHaveLength(4);
    const body = "<!-- irm drift production run 2 -->\n3 records";
    expect(repository.issues[3]).toMatchObject({ title: "Access differs", body, isOpen: true });
    const ended = { ...marker, run: 3 };
    expect(await closeIssue(forge, ended, "nothing differs")).toBeDefined();
    expect(repository.issues.map(({ isOpen }) => isOpen)).toEqual([true, true, true, false]);
    expect(repository.issues[3]?.comments).toMatchObject([{ body: "nothing differs" }]);
    expect(await closeIssue(forge, ended, "nothing differs")).toBeUndefined();
  });

  test("a refused write says which right is missing", async () => {
    repository.isReadOnly = true;
    const refused = replaceComment(forge, CHANGE, review(1), "text");
    await expect(refused).rejects.toThrow(ForgeError);
    await expect(refused).rejects.toThrow(
      /answered 403 to POST .*: Resource not accessible by integration; .*(?:pull-requests: write|the scope api)/,
    );
    const unknown = replaceComment(forgeOf(repository, {}, "another"), CHANGE, review(1), "text");
    await expect(unknown).rejects.toThrow(/answered 401 to GET .*: Bad credentials/);
  });

  test("the token goes to no other host, by a list or by the address of the API", async () => {
    repository.next = "https://evil.example/next";
    for (const id of [1, 2, 3]) add(id, "9", "hello");
    await expect(replaceComment(forge, CHANGE, review(1), "text")).rejects.toThrow(
      "the next page of a list is at another host, https://evil.example",
    );
    expect(() => forgeOf({ ...repository, url: "http://github.example" })).toThrow(/API must be an https URL/);
  });
});
