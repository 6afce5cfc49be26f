// The one comment and the one issue, by the APIs of GitHub and GitLab, whose lists have two entries a page.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Forge, ForgeError } from "../../ci/forge.ts";
import { closeIssue, keepIssue, type Marker, replaceComment } from "../../ci/post.ts";
import { githubForgeOf, gitlabForgeOf, type Repository, startGithub, startGitlab } from "../harness/pipeline/posts.ts";

const CHANGE = 7;
const review = (run: number, subject = "production"): Marker => ({ kind: "review", subject, run });

const hosts = [
  {
    host: "GitHub",
    me: "github-actions[bot]",
    start: () => startGithub(async () => ""),
    forge: githubForgeOf,
  },
  {
    host: "GitLab",
    me: "21",
    start: startGitlab,
    forge: gitlabForgeOf,
  },
];

describe.each(hosts)("at $host", ({ me, start, forge: forgeOf }) => {
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
    const written = await replaceComment(forge, CHANGE, review(2), "second");
    expect(written?.url).toContain(String(own?.id));
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
    const updated = await keepIssue(forge, { ...marker, run: 2 }, "Access differs", "3 records");
    expect(updated).toEqual(opened);
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
