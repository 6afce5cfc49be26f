// templates/gitlab.yml by a runner that chooses its jobs by their rules: a change of another job.
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { digestOf } from "../../access/canonical.ts";
import { serve } from "../harness/api-server.ts";
import { createProgramChange } from "../harness/pipeline/change.ts";
import { createGitlab, includeOf, mergeRequest, onMain } from "../harness/pipeline/gitlab.ts";
import { createUid } from "../harness/records.ts";

const api = await serve();
const audiences: string[] = [];
const subject = "project_path:acme/access:ref_type:branch:ref:change";
const claimMatch = { issuer: api.issuer, subject };
const identity = await createUid(api, "identities", api.organization, { name: "preview", claimMatch });
const roleUid = await api.role("viewer");
await createUid(api, "roleBindings", api.organization, { identityUid: identity, roleUid });
const gitlab = await createGitlab((audience) => {
  audiences.push(audience);
  return api.identityToken(subject);
});
const change = createProgramChange(api, { "package.json": "{}", "package-lock.json": "{}" });
const inputs = {
  ...{ "base-url": api.baseUrl, audience: api.authUrl, "stack-name": "production" },
  ...{ "preview-identity": identity, "up-identity": `${api.organization}/${"a".repeat(16)}` },
};
afterAll(async () => {
  await gitlab.close();
  change.repository.remove();
});

const run = (variables: Record<string, string>, further: Record<string, string> = {}, options = {}) =>
  gitlab.run(
    variables,
    { ...inputs, ...further },
    { checkout: change.checkout, change: readFileSync(change.file, "utf8"), ...options },
  );

test("a merge request gets a note and an artifact, by tool and rules of the default branch", async () => {
  await change.propose("owner", { "review.yaml": "deny: []\n", ".irm-ci/report.md": "approved\n" });
  const page = ".irm-ci/access-review-production.html";
  const [job, ...others] = await run(mergeRequest(), {}, { artifacts: [page, ".irm-ci/report.md"] });
  expect(others).toEqual([]);
  expect(job, job?.log).toMatchObject({ name: "access-review", code: 3, hasToken: true });
  expect(audiences).toEqual([api.authUrl]);
  expect(job?.artifacts[page]).toMatch(/^<!doctype html>/i);
  const [note] = gitlab.repository.comments;
  expect(note?.author).toBe("21");
  expect(note?.body).toMatch(
    /^<!-- irm review production run \d+ -->\n## Change in access of `[^`]+` by `access\/production`: /,
  );
  expect(note?.body).toContain("- :no_entry: denied [`gains-owner`](https://");
  expect(note?.body).toContain(`/-/jobs/1001/artifacts/file/${page}`);
  // Once: in the default branch, and not in the change.
  expect(gitlab.commands.npm()).toHaveLength(1);
  expect(gitlab.commands.npm()[0]).not.toContain(basename(change.checkout));
  for (const folder of [change.checkout, change.repository.root])
    expect(existsSync(join(folder, "hacked"))).toBe(false);
});

test("a merge request into a branch of its author fails, and nothing of that branch runs", async () => {
  change.makeBranch("theirs", { "review.yaml": "deny: []\n", theirs: "" });
  const [job] = await run(mergeRequest(undefined, "theirs"));
  expect(job, job?.log).toMatchObject({ name: "access-review", code: 3 });
  const [folder = ""] = gitlab.commands.npm().at(-1)?.split(": ") ?? [];
  expect([existsSync(join(folder, "package.json")), existsSync(join(folder, "theirs"))]).toEqual([true, false]);
  expect(gitlab.repository.comments[0]?.body).toContain("- :no_entry: denied [`other-branch`](https://");
  expect(gitlab.repository.comments[0]?.body).toContain("- :no_entry: denied [`gains-owner`](https://");
});

test("a merge request from a fork runs a job without a token, which says why", async () => {
  const before = [audiences.length, gitlab.commands.npm().length, gitlab.repository.requests.length];
  const [job, ...others] = await run(mergeRequest("43"));
  expect(others).toEqual([]);
  expect(job).toMatchObject({ name: "access-fork", code: 1, hasToken: false });
  expect(job?.log).toMatch(/^This merge request comes from a fork, whose author need not have any right here\./);
  expect([audiences.length, gitlab.commands.npm().length, gitlab.repository.requests.length]).toEqual(before);
});

test("the input branch names the branch of the tool, of the rules, and of the updates", async () => {
  const further = { branch: "theirs" };
  const [job] = await run(mergeRequest(undefined, "theirs"), further);
  expect(job, job?.log).toMatchObject({ name: "access-review", code: 0 });
  const [folder = ""] = gitlab.commands.npm().at(-1)?.split(": ") ?? [];
  expect(existsSync(join(folder, "theirs"))).toBe(true);
  const all = { ...inputs, ...further };
  expect(gitlab.chosen(onMain("push"), all)).toEqual({});
  const jobs = gitlab.chosen({ ...onMain("push"), CI_COMMIT_BRANCH: "theirs" }, all);
  expect(Object.keys(jobs)).toEqual(["access-change", "access-review", "access-apply"]);
});

const onPush = { "access-change": "on_success", "access-review": "always", "access-apply": "manual" };
test.each([
  ["a push to the default branch", onMain("push"), {}, onPush],
  ["one with apply: merged", onMain("push"), { apply: "merged" }, { ...onPush, "access-apply": "on_success" }],
  ["one of a policy", mergeRequest(), { policy: "access.yaml" }, { "access-review": "always" }],
  ["a schedule", onMain("schedule"), {}, { "access-drift": "on_success" }],
  ["a push to another branch", { CI_PIPELINE_SOURCE: "push", CI_COMMIT_BRANCH: "change" }, {}, {}],
  ["a pipeline by the API", onMain("api"), {}, {}],
])("the rules choose for %s %j with %j: %j", (_, variables, further, expected) => {
  expect(gitlab.chosen(variables, { ...inputs, ...further })).toEqual(expected);
});

test("a push is reviewed, and waits for somebody; a review that is denied is not applied", async () => {
  await change.propose("owner");
  const denied = await run(onMain("push"), {}, { byHand: true });
  expect(denied.map(({ name, code }) => [name, code])).toEqual([["access-review", 3]]);
  await change.propose("editor");
  const waiting = await run(onMain("push"));
  expect(
    waiting.map(({ name, code }) => [name, code]),
    waiting[0]?.log,
  ).toEqual([["access-review", 0]]);
  // Whoever may start it, the digest is that of the review; there is no engine here.
  const [, apply] = await run(onMain("push"), {}, { byHand: true });
  expect(apply?.log).toContain("somebody started this job by hand; whether only some people may cannot be seen");
  expect(apply?.log).not.toContain("digest: apply needs");
  expect(apply?.name).toBe("access-apply");
});

test("a push to the default branch with apply: merged, is compared with the review of the merge request", async () => {
  const { repository } = gitlab;
  const [head, merge] = ["a".repeat(40), "b".repeat(40)];
  const times = { mergedAt: "2026-11-20T11:00:00Z", started_at: "2026-11-20T10:00:00Z" };
  Object.assign(repository, { head, merged: { merge, mergedAt: times.mergedAt } });
  repository.runs.set(1, { id: 1, source: "merge_request_event", sha: head });
  repository.jobs.set(2, { id: 2, pipeline: 1, name: "access-review", started_at: times.started_at });
  const { digest: _, ...content } = JSON.parse(readFileSync(change.file, "utf8"));
  const fewer = { ...content, rows: content.rows.slice(1) };
  repository.files.set(2, JSON.stringify({ ...fewer, digest: digestOf(fewer) }));
  const [, apply] = await run({ ...onMain("push"), CI_COMMIT_SHA: merge }, { apply: "merged" });
  expect(apply, apply?.log).toMatchObject({ name: "access-apply", code: 3 });
  expect(apply?.log).toContain("access that the review of the merged change did not show");
  expect(apply?.log).toContain(JSON.stringify(content.rows[0]));
});

test("no input is written into a script, and every input is used", () => {
  const { inputs: all } = includeOf(inputs);
  const { jobs } = includeOf(Object.fromEntries(Object.keys(all).map((name) => [name, `<${name}>`])));
  const text = JSON.stringify(jobs);
  for (const name of Object.keys(all)) expect(text).toContain(`<${name}>`);
  for (const { script } of Object.values(jobs)) expect(script?.join("\n") ?? "").not.toContain("<");
});
