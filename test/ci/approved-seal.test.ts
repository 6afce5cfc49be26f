// Which seal an update is bound by: what must be true of the change, its comment, its run and its approval, at GitHub and at GitLab.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { approvedSeal } from "../../ci/approved-seal.ts";
import type { Forge } from "../../ci/forge.ts";
import { githubForge } from "../../ci/github/forge.ts";
import { gitlabForge } from "../../ci/gitlab/forge.ts";
import { RefusedJob } from "../../ci/job.ts";
import { replaceComment } from "../../ci/post.ts";
import { type Repository, startGithub, startGitlab, TOKEN } from "../harness/pipeline/posts.ts";

const [HEAD, MERGE] = ["a".repeat(40), "b".repeat(40)];
const DIGEST = `sha256:${"c".repeat(64)}`;
const WORKFLOW = ".github/workflows/access.yml";
const [WRITTEN, LATER, EARLIER] = ["2026-11-20T10:00:00Z", "2026-11-20T11:00:00Z", "2026-11-20T09:00:00Z"];

const hosts = [
  {
    host: "GitHub",
    word: "pull request",
    author: "author",
    approver: "owner",
    start: (): Promise<Repository> => startGithub(async () => ""),
    forge: ({ url }: Repository): Forge =>
      githubForge(
        {
          GITHUB_API_URL: url,
          GITHUB_GRAPHQL_URL: `${url}/graphql`,
          GITHUB_REPOSITORY: "acme/access",
          GITHUB_WORKFLOW_REF: `acme/access/${WORKFLOW}@refs/heads/main`,
        },
        TOKEN,
      ),
    run: { path: WORKFLOW, event: "pull_request", head_sha: HEAD, head_repository: { id: 1 }, repository: { id: 1 } },
    wrongRuns: [
      { path: ".github/workflows/other.yml" },
      { event: "workflow_dispatch" },
      { head_sha: MERGE },
      { head_repository: { id: 2 } },
    ] as object[],
    wrongApprovals: [{ commit: MERGE }, { state: "DISMISSED" }, { association: "NONE" }],
  },
  {
    host: "GitLab",
    word: "merge request",
    author: "9",
    approver: "10",
    start: startGitlab,
    forge: ({ url }: Repository): Forge =>
      gitlabForge({ CI_API_V4_URL: url, CI_PROJECT_ID: "42", CI_PROJECT_URL: "https://gitlab.example/a" }, TOKEN),
    run: { source: "merge_request_event", sha: HEAD },
    wrongRuns: [{ source: "push" }, { sha: MERGE }] as object[],
    wrongApprovals: [{ state: "mentioned" }],
  },
];

describe.each(hosts)(
  "at $host",
  ({ word, author, approver, start, forge: forgeOf, run, wrongRuns, wrongApprovals }) => {
    let repository: Repository;
    let forge: Forge;
    beforeEach(async () => {
      repository = await start();
      forge = forgeOf(repository);
      repository.head = HEAD;
      Object.assign(repository.merged, { merge: MERGE, mergedAt: LATER, author });
      await replaceComment(forge, 7, { kind: "review", subject: "production", run: 5, digest: DIGEST }, "the review");
      for (const comment of repository.comments) comment.updatedAt = WRITTEN;
      repository.merged.runs.set(5, run);
      repository.merged.approvals.push({ by: approver, at: LATER });
    });
    afterEach(() => repository.close());

    const find = (commit: string | undefined = MERGE, approval: "approved" | "merged" = "approved") =>
      approvedSeal(forge, commit, { kind: "review", subject: "production" }, approval, { change: word });
    const refused = async (text: string, ...args: Parameters<typeof find>): Promise<void> => {
      const error = await find(...args).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(RefusedJob);
      expect((error as Error).message).toContain(text);
    };

    test("it is the one of the comment, from the run that wrote it, where an approval follows", async () => {
      expect(await find()).toMatchObject({ run: 5, digest: DIGEST, change: { number: 7, head: HEAD } });
    });

    test("without an approval after the comment there is none, and an edit of the comment makes it later", async () => {
      repository.merged.approvals[0] = { by: approver, at: EARLIER };
      await refused(`${word} 7 was not approved after its review was written, at ${WRITTEN}`);
      repository.merged.approvals[0] = { by: approver, at: LATER };
      for (const comment of repository.comments) comment.updatedAt = "2026-11-20T12:00:00Z";
      await refused("was not approved after its review was written");
    });

    test("the author's own approval does not count, nor one that does not count for the host", async () => {
      repository.merged.approvals[0] = { by: author, at: LATER };
      await refused("was not approved after");
      for (const wrong of wrongApprovals) {
        repository.merged.approvals[0] = { by: approver, at: LATER, ...wrong };
        await refused("was not approved after");
      }
    });

    test("a run of another commit, workflow or event has no seal for it", async () => {
      for (const wrong of wrongRuns) {
        repository.merged.runs.set(5, { ...run, ...wrong });
        await refused("is of another commit than the one that was merged, or of another workflow");
      }
    });

    test("a comment of a stranger counts for nothing, and one without a seal is said to have none", async () => {
      const [own] = repository.comments;
      repository.comments.push({ ...(own as (typeof repository.comments)[0]), id: 99, author: "12" });
      repository.comments.shift();
      await refused(`${word} 7 has no review with a seal`);
    });

    test("a commit that no merge made has none", async () => {
      await refused(`no ${word} was merged as this commit`, "d".repeat(40));
      const error = await approvedSeal(forge, undefined, { kind: "review", subject: "production" }, "approved", {
        change: word,
      }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(RefusedJob);
    });

    test("with `merged`, the merge must be after the comment", async () => {
      repository.merged.approvals.length = 0;
      expect(await find(MERGE, "merged")).toMatchObject({ digest: DIGEST });
      repository.merged.mergedAt = EARLIER;
      await refused("was written after the merge", MERGE, "merged");
    });
  },
);

test("in GitLab, an approval that was taken back, or that a later push ended, does not count", async () => {
  const repository = await startGitlab();
  try {
    const env = { CI_API_V4_URL: repository.url, CI_PROJECT_ID: "42", CI_PROJECT_URL: "https://gitlab.example/a" };
    const forge = gitlabForge(env, TOKEN);
    const change = { number: 7, head: HEAD, author: "9", mergedAt: LATER };
    repository.merged.approvals.push({ by: "10", at: WRITTEN }, { by: "10", at: LATER, state: "unapproved" });
    expect(await Array.fromAsync(forge.approvals(change))).toEqual([]);
    repository.merged.approvals.push({ by: "11", at: LATER });
    expect(await Array.fromAsync(forge.approvals(change))).toEqual([{ by: "11", at: LATER }]);
  } finally {
    await repository.close();
  }
});
