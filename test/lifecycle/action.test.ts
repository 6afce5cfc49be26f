// examples/github and the workflows of docs/ci.md by a runner of their jobs, with a real engine; test/ci has what is refused.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { digestOf } from "../../access/canonical.ts";
import { Report } from "../../access/review/report.ts";
import { mintDevToken } from "../../cli/command/serve-token.ts";
import { placeAndTime, stampText } from "../../provider/record/id.ts";
import { root } from "../harness/api-process.ts";
import { createStack, engineFolder } from "../harness/engine-stack.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { createGithub, type Event, type Github, pullRequest, push, schedule } from "../harness/pipeline/github.ts";
import type { JobText } from "../harness/pipeline/github-runner.ts";
import { fencesOf } from "../support/document.ts";
import { createRepository, type TestRepository } from "../support/repository.ts";

const source = (description: string, further = "") => `
import { Group, Identity, RoleBinding } from "pulumi-irm";
const team = new Group("team", { parent: process.env.ORG!, name: "team", description: "${description}" });
const claimMatch = { issuer: "https://issuer.example", subject: "ci" };
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch });
${further}
`;

type Jobs = Record<string, JobText>;

const jobsOf = (text: string): Jobs => (parse(text) as { jobs: Jobs }).jobs;
const EXAMPLE = join(root, "examples", "github");
const workflow = readFileSync(join(EXAMPLE, ".github", "workflows", "access.yml"), "utf8");
const page = readFileSync(join(root, "docs", "ci.md"), "utf8");
const workflows = fencesOf(page, "yaml").filter((text) => text.includes("OWNER/pulumi-irm@COMMIT"));
const threeJobs = jobsOf(workflows[1]?.replaceAll("production", "dev") ?? "");

let place: Workplace;
let example: Example;
let program: Program;
let github: Github;
let repository: TestRepository;
let vars: Record<string, string>;

beforeAll(async () => {
  place = await createWorkplace();
  const { server } = place;
  github = await createGithub((subject, claims) => mintDevToken(server.issuer, { subject, claims }));
  github.repository.environments.set("access", { protection_rules: [{ type: "required_reviewers" }] });
  example = await openExample();
  const { previewIdentity = "", applyIdentity = "", driftAllow } = example.outputs;
  const [first] = place.rows("role_bindings", "identity_uid = ?", server.identity);
  vars = {
    IRM_BASE_URL: server.baseUrl,
    IRM_PREVIEW_IDENTITY: previewIdentity,
    IRM_UP_IDENTITY: applyIdentity,
    IRM_DRIFT_ALLOW: `${driftAllow}\n${first?.uid}`,
  };
  program = await place.program("access", source("first"), { ORG: server.organization });
  repository = repositoryOf(program, {
    ".gitignore": "node_modules\nenvironment.json\nstate\nhome\n",
    "review.yaml": "deny: [gains-owner]\n",
  });
});
afterAll(async () => {
  await github.close();
  await place.close();
});

type Example = Awaited<ReturnType<typeof openExample>>;

/** A copy with its packages, in which everything is replaced that its README names; and what its owner's program has created. */
const openExample = async () => {
  const { folder, open } = place.example("github");
  const { organization, issuer, baseUrl } = place.server;
  const replaced: [string, string, string][] = [
    ["access.yaml", "<uid of your organization>", organization],
    ["identities/index.ts", "<uid of your organization>", organization],
    ["identities/index.ts", "https://token.actions.githubusercontent.com", issuer],
    ["Pulumi.production.yaml", "https://console-api.example.com", baseUrl],
  ];
  for (const [file, from, to] of replaced)
    writeFileSync(join(folder, file), readFileSync(join(folder, file), "utf8").replace(from, to));
  const own = { folder: join(place.folder, "of-identities"), program: join(folder, "identities") };
  const identities = await createStack({ ...own, name: "production", env: place.env });
  await identities.must("up", "--yes", "--skip-preview");
  const { stdout } = await identities.must("stack", "output", "--json");
  const { env, sharedEngine } = await open("production");
  const outputs: Record<string, string> = JSON.parse(stdout);
  return { folder, env, sharedEngine, outputs, repository: repositoryOf({ folder }) };
};

/** With what the folder has, as its main branch, and a branch for changes of it. */
const repositoryOf = ({ folder }: Pick<Program, "folder">, files?: Record<string, string>): TestRepository => {
  const made = createRepository(folder);
  made.commit(files);
  made.git("remote", "add", "origin", `file://${folder}`);
  made.git("fetch", "--quiet");
  made.git("checkout", "--quiet", "-b", "change");
  return made;
};

/** Everything that the engine needs of the test, and none of its credentials for the API. */
const engineEnv = ({ env }: Pick<Program, "env">): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => /^(?:PULUMI_|VAULT_|ORG$|NO_COLOR$|GOGC$|NODE_OPTIONS$)/.test(name)),
  ) as Record<string, string>;

const optionsOf = (own: Pick<Program, "folder" | "env"> & Partial<Program>) => ({
  workspace: own.folder,
  vars,
  env: {
    ...engineEnv(own),
    IRM_BASE_URL: place.server.baseUrl,
    IRM_AUTH_URL: place.server.authUrl,
    IRM_REQUEST_TIMEOUT: "1",
  },
  engine: own.sharedEngine ?? engineFolder(),
});

const run = (event: Event, jobs: Jobs, before?: (job: string, run: string) => void) =>
  github.runJobs(event, jobs, { ...optionsOf(program), ...(before && { before }) });

const onlyStep = (command: string, further: Record<string, string> = {}): JobText => {
  const given = { command, "stack-name": "dev", "up-identity": vars.IRM_UP_IDENTITY, ...further };
  return { environment: "access", steps: [{ id: "access", uses: "OWNER/pulumi-irm@COMMIT", with: given }] };
};

const writeProgram = (text: string): string => {
  program.write(text);
  return repository.commit();
};

const READS = 'new RoleBinding("reads", { parent: team, identity: ci, role: "viewer" });';

it("docs/ci.md shows the workflow and the owner's program of examples/github exactly", () => {
  expect(workflows[0]).toBe(workflow);
  expect(fencesOf(page, "ts")[0]).toBe(readFileSync(join(EXAMPLE, "identities", "index.ts"), "utf8"));
});

const runExample = (event: Event) => github.runJobs(event, jobsOf(workflow), optionsOf(example));
/** The policy, where the registry's second role is another one. */
const policyWith = (role: string): Record<string, string> => {
  const policy = readFileSync(join(example.folder, "access.yaml"), "utf8");
  return { "access.yaml": policy.replace(/viewer: .*?\]/, role) };
};
const GOOD = "viewer: [pull-requests, release]";

it("a pull request of the example gets a comment, as an identity that may only read", async () => {
  const { access, apply } = await runExample(pullRequest(example.repository.commit(policyWith(GOOD))));
  expect(access?.conclusion, access?.log).toBe("success");
  expect(access?.ran).toContain("pulumi/actions");
  expect(apply).toBeUndefined();
  const [comment, ...others] = github.repository.comments;
  expect(others).toEqual([]);
  expect(comment?.body).toMatch(
    /## Change in access of `[^`]+` by `access\/production`: 2 identities gain access; 2 find/,
  );
  expect(comment?.body).toContain("**+** gains at `platform/registry (new)` and below, through `publisher`");
  expect(place.rows("groups", "name = ?", "platform")).toEqual([]);
});

it("its merge is applied behind the approval, and the journal is kept", async () => {
  example.repository.onMain(policyWith(GOOD));
  example.repository.git("fetch", "--quiet");
  const { access, apply } = await runExample(push);
  expect(access?.conclusion, access?.log).toBe("success");
  expect(apply?.ran).toContain("Check the approval");
  expect(apply?.conclusion, apply?.log).toBe("success");
  expect([...github.caches.keys()]).toEqual([expect.stringMatching(/^irm-journal:access.yaml:production::\d+-1$/)]);
  expect(apply?.summary).toContain("## The update of `production` succeeded");
  expect(place.rows("role_bindings", "parent = ?", place.uidOf("groups", "registry"))).toHaveLength(3);
});

it("its next push replaces the comment: it breaks a rule and a test of the base, and nothing of it runs", async () => {
  const hacked = join(place.folder, "hacked");
  const head = example.repository.commit({
    ...policyWith("editor: [pull-requests]"),
    "index.ts": `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(hacked)}, "");\nthrow new Error("theirs");\n`,
    "Pulumi.yaml": "name: theirs\nruntime: nodejs\n",
    "review.yaml": "deny: []\n",
    "access.tests.yaml": "tests: []\n",
  });
  const { access } = await runExample(pullRequest(head));
  expect(access?.conclusion).toBe("failure");
  expect(access?.outputs.access).toMatchObject({ "exit-code": "3", digest: "" });
  expect(existsSync(hacked)).toBe(false);
  const report = Report.parse(JSON.parse(readFileSync(access?.outputs.access?.json ?? "", "utf8")));
  expect(report).toMatchObject({ notPart: ["Pulumi.yaml", "index.ts"], unknown: [], errors: [] });
  const denied = report.findings.filter((finding) => finding.denied).map(({ rule }) => rule);
  expect(denied.toSorted()).toEqual(["pull-request-writes", "test-fails"]);
  const [comment, ...others] = github.repository.comments;
  expect(others).toEqual([]);
  for (const shown of [access?.log, comment?.body, github.artifacts.get("access-review-access.yaml-production.html")])
    expect(shown).toContain("Not part of this review: the change edits these files too");
});

it("a change by hand opens an issue at night, without what the owner's program declares", async () => {
  const uid = place.uidOf("groups", "platform");
  await place.call("PATCH", `/iam/v2beta1/groups/${uid}?updateMask=description`, { description: "by hand" });
  example.repository.git("checkout", "--quiet", "main");
  const { access, apply } = await runExample(schedule);
  expect(access?.conclusion, access?.log).toBe("success");
  expect(apply).toBeUndefined();
  expect(access?.log).toContain("::warning::access differs from the program");
  const [issue, ...others] = github.repository.issues;
  expect(others).toEqual([]);
  expect(issue).toMatchObject({ title: "Access differs from the program: access.yaml production", isOpen: true });
  expect(issue?.body).toMatch(/^## Drift of `access\/production` in `\w+`: 1 record differs$/m);
  expect(issue?.body).toContain('the program has `"Builds what others stand on"`, the service `"by hand"`');
});

it("a pull request gets a comment from a job that runs nothing of it, and is denied", async () => {
  const owns = `new RoleBinding("owns", { parent: process.env.ORG!, identity: "${vars.IRM_PREVIEW_IDENTITY}", role: "owner" });`;
  const head = writeProgram(source("first", owns));
  const { change, review, apply } = await run(pullRequest(head), threeJobs, (job, id) => {
    if (job !== "review") return;
    // The program could have written it: one that hides a row does not hide it.
    const key = `${id} access-change-dev`;
    const { file = "", text = "{}" } = github.uploads.get(key) ?? {};
    const { digest: _, ...found } = JSON.parse(text);
    const forged = { ...found, rows: [] };
    github.uploads.set(key, { file, text: JSON.stringify({ ...forged, digest: digestOf(forged) }) });
  });
  // Denied there too, and the file is left all the same.
  expect(change?.conclusion, change?.log).toBe("failure");
  expect(review?.conclusion, review?.log).toBe("failure");
  expect(review?.outputs.access).toMatchObject({ "exit-code": "3", digest: "" });
  expect(review?.ran).not.toContain("pulumi/actions");
  expect(apply).toBeUndefined();
  const [, comment, ...others] = github.repository.comments;
  expect(others).toEqual([]);
  for (const shown of ["- :no_entry: denied [`gains-owner`](https://", "Access that is not as it was recorded", head])
    expect(comment?.body).toContain(shown);
});

it("after the merge, the job that runs nothing of it passes the digest on, to a job like the example's", async () => {
  const { apply, ...reviews } = threeJobs;
  writeProgram(source("first", READS));
  const { change, review } = await run(push, reviews);
  expect(change?.conclusion, change?.log).toBe("success");
  const { digest } = review?.outputs.access ?? {};
  expect(digest, review?.log).toBe(JSON.parse(github.artifacts.get("access-change-dev") ?? "{}").digest);
  expect(github.repository.comments).toHaveLength(2);
  const like = workflow.replaceAll("production", "dev").replace("needs: access", "needs: [change, review]");
  const jobs = jobsOf(like.replace("needs.access", "needs.review").replaceAll(/ +policy: .*\n/g, ""));
  expect([reviews.review?.outputs, apply]).toEqual([jobs.access?.outputs, jobs.apply]);
});

it("an update deletes what a killed job created, and the program no longer declares", async () => {
  writeProgram(source("first"));
  await program.must("up", "--yes", "--skip-preview");
  // The state as that job left it: it was killed before the engine knew that the group exists.
  const team = program.state().resources.find(({ urn }) => urn.endsWith("::team"));
  const [service = ""] = String(team?.inputs?.__at).split(" ");
  const now = Date.now();
  program.beginCreate("team", "reverted", placeAndTime(service, stampText({ at: now, startedAt: now })));
  const group = { name: "reverted", description: "first" };
  const { json } = await place.call("POST", `/iam/v2beta1/groups/${place.server.organization}`, group);
  const { up } = await run(push, { up: onlyStep("up") });
  const { conclusion, log = "" } = up ?? {};
  expect(conclusion, log).toBe("success");
  expect(log).toContain(`deleted 1 record:\n  Group::reverted: group ${json.uid} "reverted", created `);
  expect(place.rows("groups", "name = ?", "reverted")).toEqual([]);
});
