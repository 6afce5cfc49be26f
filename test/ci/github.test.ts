// action.yml by a runner of its steps: a change of another job. test/lifecycle/action.test.ts runs a program.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { digestOf } from "../../access/canonical.ts";
import { Report } from "../../access/review/report.ts";
import { serve } from "../harness/api-server.ts";
import { createProgramChange } from "../harness/pipeline/change.ts";
import { createGithub, pullRequest, push } from "../harness/pipeline/github.ts";
import { TOKEN } from "../harness/pipeline/posts.ts";
import { createUid } from "../harness/records.ts";

const api = await serve();
const claimMatch = {
  issuer: api.issuer,
  subjectPattern: "repo:acme@123456/access@456793:(pull_request|ref:refs/heads/main)",
};
const identity = await createUid(api, "identities", api.organization, { name: "preview", claimMatch });
const roleUid = await api.role("viewer");
await createUid(api, "roleBindings", api.organization, { identityUid: identity, roleUid });
const github = await createGithub((subject, claims) => api.identityToken(subject, { claims }));
const change = createProgramChange(api);
const head = await change.propose("editor", { "review.yaml": "deny: []\n" });
afterAll(async () => {
  await github.close();
  change.repository.remove();
});

const review = (further: Record<string, string> = {}, from: "branch" | "fork" = "branch", target = "main") =>
  github.run(
    pullRequest(head, from, target),
    { "stack-name": "production", change: change.file, "preview-identity": identity, ...further },
    { workspace: change.checkout, env: { IRM_BASE_URL: api.baseUrl, IRM_AUTH_URL: api.authUrl } },
  );

test("a pull request gets a comment, a page, a summary and outputs, by the rules of the base", async () => {
  const { conclusion, outputs, summary, log, ran } = await review();
  expect(conclusion, log).toBe("success");
  // No program runs, so neither engine nor packages of the change are installed.
  expect(ran).toEqual([
    ...["OWNER/pulumi-irm", "actions/setup-node", "Install irm", "Decide what this job may do", "Run"],
    ...["actions/upload-artifact", "actions/upload-artifact", "Report"],
  ]);
  expect(github.npm()).toHaveLength(1);
  const [comment] = github.repository.comments;
  expect(comment?.author).toBe("github-actions[bot]");
  expect(comment?.body).toMatch(
    /^<!-- irm review production run \d+ -->\n## Change in access of `[^`]+` by `access\/production`: /,
  );
  expect(comment?.body).toContain(`\`${head}\` · [the run](https://github.example/acme/access/actions/runs/`);
  expect(summary).toMatch(/## Change in access of `[^`]+` by `access\/production`: /);
  expect([...github.artifacts.keys()]).toEqual(["access-review-production.html", "access-change-production"]);
  expect(github.artifacts.get("access-review-production.html")).toMatch(/^<!doctype html>/i);
  expect(outputs.access).toMatchObject({
    command: "preview",
    "exit-code": "0",
    digest: JSON.parse(github.artifacts.get("access-change-production") ?? "{}").digest,
    "comment-url": `https://github.example/pull/7#issuecomment-${comment?.id}`,
    "artifact-url": "https://github.example/artifacts/access-review-production.html",
    "issue-url": "",
  });
  const { rules } = Report.parse(JSON.parse(readFileSync(outputs.access?.json ?? "", "utf8")));
  expect(rules).toMatchObject({ file: "review.yaml", base: "origin/main" });
  // The title and the branch of the pull request are commands.
  for (const folder of [change.checkout, change.repository.root])
    expect(existsSync(join(folder, "hacked"))).toBe(false);
  expect(log + summary).not.toContain(TOKEN);
});

test("a pull request from a fork gets neither a token nor a comment, and the reason", async () => {
  const { comments, requests } = github.repository;
  const before = [comments.length, requests.length, github.npm().length] as const;
  const { conclusion, summary, log, ran } = await review({}, "fork");
  expect(conclusion).toBe("failure");
  expect(ran.at(-1)).toBe("Decide what this job may do");
  expect(log).toContain("irm ci plan: this pull request comes from a fork, whose author need not have any right here.");
  expect(summary).toContain("**Not run:** this pull request comes from a fork");
  expect([comments.length, requests.length, github.npm().length]).toEqual([before[0], before[1], before[2] + 1]);
});

const DIGEST = `sha256:${"0".repeat(64)}`;
const apply = (
  given: Record<string, string>,
  { environment = "", ...options }: { environment?: string; before?: (job: string, run: string) => void } = {},
) => {
  const uid = `${api.organization}/${"a".repeat(16)}`;
  const inputs = { command: "apply", digest: DIGEST, "stack-name": "production", "up-identity": uid, ...given };
  const steps = [{ id: "access", uses: "OWNER/pulumi-irm@COMMIT", with: inputs }];
  const merge = { ...push, commit: "b".repeat(40) };
  const permissions = { "id-token": "write", actions: "read", "pull-requests": "read" };
  return github.runJobs(
    merge,
    { apply: { steps, permissions, ...(environment && { environment }) } },
    {
      workspace: change.checkout,
      env: { IRM_BASE_URL: api.baseUrl, IRM_AUTH_URL: api.authUrl },
      // without an engine
      engine: change.repository.root,
      ...options,
    },
  );
};

test("after the merge, nothing is applied that nobody had to approve", async () => {
  github.repository.environments.set("open", { protection_rules: [{ type: "wait_timer" }] });
  const { apply: job } = await apply({}, { environment: "open" });
  expect(job?.conclusion).toBe("failure");
  expect(job?.ran).not.toContain("Run");
  expect(job?.log).toContain(
    "irm ci approval: the environment open has no required reviewers, so nobody had to approve this job.",
  );
});

test("after the merge, with apply: merged, access that the review did not show is refused", async () => {
  const { repository, uploads } = github;
  const text = readFileSync(change.file, "utf8");
  const { digest: _, ...content } = JSON.parse(text);
  const fewer = { ...content, rows: content.rows.slice(1) };
  Object.assign(repository, { head, merged: { merge: "b".repeat(40), mergedAt: "2026-11-20T11:00:00Z" } });
  const [path, itself] = [".github/workflows/access.yml", { id: 1 }];
  repository.runs.set(5, {
    ...{ id: 5, path, event: "pull_request", head_sha: head, run_started_at: "2026-11-20T10:00:00Z" },
    ...{ head_repository: itself, repository: itself },
  });
  const leave = (run: string | number, left: string) =>
    void uploads.set(`${run} access-change-production`, { file: "change.json", text: left });
  const before = (_: string, run: string) => leave(run, text);
  leave(5, JSON.stringify({ ...fewer, digest: digestOf(fewer) }));
  const { apply: refused } = await apply({ apply: "merged" }, { before });
  expect(refused?.conclusion).toBe("failure");
  expect(refused?.outputs.access).toMatchObject({ "exit-code": "3" });
  expect(refused?.summary).toContain("## The update of `production` is not what was merged");
  expect(refused?.summary).toContain(JSON.stringify(content.rows[0]));
  expect(refused?.summary).not.toContain(JSON.stringify(content.rows[1]));
});
