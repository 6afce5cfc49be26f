// The workflows of docs/ci.md by a runner of their jobs, with a real engine; test/ci has what is refused.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { digestOf } from "../../access/canonical.ts";
import { Report } from "../../access/review/report.ts";
import { mintDevToken } from "../../cli/command/serve-token.ts";
import { placeAndTime, stampText } from "../../provider/record/id.ts";
import { root } from "../harness/api-process.ts";
import { engineFolder } from "../harness/engine-stack.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { createGithub, type Event, type Github, pullRequest, push, schedule } from "../harness/pipeline/github.ts";
import type { JobText } from "../harness/pipeline/github-runner.ts";
import { createRepository, type TestRepository } from "../support/repository.ts";

const source = (description: string, further = "") => `
import { Group, Identity, RoleBinding } from "pulumi-irm";
const team = new Group("team", { parent: process.env.ORG!, name: "team", description: "${description}" });
const claimMatch = { issuer: "https://issuer.example", subject: "ci" };
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch });
${further}
`;

type Jobs = Record<string, JobText>;

const [whole, threeJobs] = [...readFileSync(join(root, "docs", "ci.md"), "utf8").matchAll(/```yaml\n([\s\S]*?)```/g)]
  .map(([, text = ""]) => text)
  .filter((text) => text.includes("OWNER/pulumi-irm@COMMIT"))
  .map((text) => (parse(text.replaceAll("production", "dev")) as { jobs: Jobs }).jobs) as [Jobs, Jobs];

let place: Workplace;
let program: Program;
let github: Github;
let repository: TestRepository;
let vars: Record<string, string>;

beforeAll(async () => {
  place = await createWorkplace();
  const { server } = place;
  github = await createGithub((subject, claims) => mintDevToken(server.issuer, { subject, claims }));
  github.repository.environments.set("access", { protection_rules: [{ type: "required_reviewers" }] });
  program = await place.program("access", source("first"), { ORG: server.organization });
  const identity = async (name: string, match: object, roleName: string): Promise<string> => {
    const claimMatch = { issuer: server.issuer, ...match };
    const identityUid = await place.create(`identities/${server.organization}`, { name, claimMatch });
    const [role] = place.rows("roles", "name = ? AND parent IS NULL", roleName);
    await place.create(`roleBindings/${server.organization}`, { identityUid, roleUid: role?.uid });
    return identityUid;
  };
  vars = {
    IRM_BASE_URL: server.baseUrl,
    IRM_PREVIEW_IDENTITY: await identity(
      "preview",
      { subjectPattern: "repo:acme/access:(pull_request|ref:refs/heads/main)" },
      "viewer",
    ),
    IRM_UP_IDENTITY: await identity(
      "apply",
      { subject: "repo:acme/access:environment:access", claims: { ref: "refs/heads/main" } },
      "owner",
    ),
  };
  repository = repositoryOf(program, { "review.yaml": "deny: [gains-owner]\n" });
});
afterAll(async () => {
  await github.close();
  await place.close();
});

/** With what the folder has, as its main branch, and a branch for changes of it. */
const repositoryOf = ({ folder }: Program, files: Record<string, string>): TestRepository => {
  const made = createRepository(folder);
  made.commit({ ".gitignore": "node_modules\nenvironment.json\nstate\nhome\n", ...files });
  made.git("remote", "add", "origin", `file://${folder}`);
  made.git("fetch", "--quiet");
  made.git("checkout", "--quiet", "-b", "change");
  return made;
};

/** Everything that the engine needs of the test, and none of its credentials for the API. */
const engineEnv = ({ env }: Program): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => /^(?:PULUMI_|VAULT_|ORG$|NO_COLOR$|GOGC$|NODE_OPTIONS$)/.test(name)),
  ) as Record<string, string>;

const optionsOf = (own = program) => ({
  workspace: own.folder,
  vars,
  env: {
    ...engineEnv(own),
    IRM_BASE_URL: place.server.baseUrl,
    IRM_AUTH_URL: place.server.authUrl,
    IRM_REQUEST_TIMEOUT: "1",
  },
  // The program of a base has another folder.
  engine: own === program ? program.sharedEngine : engineFolder(),
});

const run = (event: Event, jobs: Jobs, before?: (job: string, run: string) => void) =>
  github.runJobs(event, jobs, { ...optionsOf(), ...(before && { before }) });

const onlyStep = (command: string, further: Record<string, string> = {}): JobText => {
  const given = { command, "stack-name": "dev", "up-identity": vars.IRM_UP_IDENTITY, ...further };
  return { environment: "access", steps: [{ id: "access", uses: "OWNER/pulumi-irm@COMMIT", with: given }] };
};

const writeProgram = (text: string): string => {
  program.write(text);
  return repository.commit();
};

const READS = 'new RoleBinding("reads", { parent: team, identity: ci, role: "viewer" });';

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
  expect(github.repository.comments).toHaveLength(1);
  expect(github.repository.comments[0]?.body).toContain("- :no_entry: denied [`gains-owner`](https://");
  expect(github.repository.comments[0]?.body).toContain("Access that is not as it was recorded");
  expect(github.repository.comments[0]?.body).toContain(head);
});

it("its next push replaces the comment, as an identity that may only read", async () => {
  const head = writeProgram(source("first", READS));
  const { access, apply } = await run(pullRequest(head), whole);
  expect(access?.conclusion, access?.log).toBe("success");
  expect(access?.ran).toContain("pulumi/actions");
  expect(apply).toBeUndefined();
  const [comment, ...others] = github.repository.comments;
  expect(others).toEqual([]);
  expect(comment?.body).toMatch(/## Change in access of `[^`]+` by `[\w/-]+`: 1 identity gains access/);
  expect(comment?.body).toContain("**+** gains at `team (new)` and below, through `viewer`");
  expect(place.rows("groups", "name = ?", "team")).toEqual([]);
});

it("after the merge, what the review of the main branch shows is applied behind the approval, and its journal is kept", async () => {
  const { change, review, apply } = await run(push, threeJobs);
  expect(change?.conclusion, change?.log).toBe("success");
  const { digest } = review?.outputs.access ?? {};
  expect(digest, review?.log).toBe(JSON.parse(github.artifacts.get("access-change-dev") ?? "{}").digest);
  expect(apply?.ran).toContain("Check the approval");
  expect(apply?.conclusion, apply?.log).toBe("success");
  expect(apply?.summary).toContain("## The update of `dev` succeeded");
  const [team] = place.rows("groups", "name = ?", "team");
  expect(team).toMatchObject({ body: { description: "first" } });
  expect(place.rows("role_bindings", "parent = ?", team?.uid as string)).toHaveLength(1);
  expect([...github.caches.keys()]).toEqual([expect.stringMatching(/^irm-journal:dev::\d+-1$/)]);
  expect(github.repository.comments).toHaveLength(1);
});

it("an update deletes what a killed job created, and the program no longer declares", async () => {
  // The state as that job left it: it was killed before the engine knew that the group exists.
  const team = program.state().resources.find(({ urn }) => urn.endsWith("::team"));
  const [service = ""] = String(team?.inputs?.__at).split(" ");
  const now = Date.now();
  program.beginCreate("team", "reverted", placeAndTime(service, stampText({ at: now, startedAt: now })));
  const group = { name: "reverted", description: "first" };
  const { json } = await place.call("POST", `/iam/v2beta1/groups/${place.server.organization}`, group);
  writeProgram(source("first", "// without it"));
  const { up } = await run(push, { up: onlyStep("up") });
  const { conclusion, log = "" } = up ?? {};
  expect(conclusion, log).toBe("success");
  expect(log).toContain(`deleted 1 record:\n  Group::reverted: group ${json.uid} "reverted", created `);
  expect(place.rows("groups", "name = ?", "reverted")).toEqual([]);
});

it("a change by hand opens an issue at night", async () => {
  const [team] = place.rows("groups", "name = ?", "team");
  await place.call("PATCH", `/iam/v2beta1/groups/${team?.uid}?updateMask=description`, { description: "by hand" });
  const { access, apply } = await run(schedule, whole);
  const { conclusion, log } = access ?? {};
  expect(conclusion, log).toBe("success");
  expect(apply).toBeUndefined();
  expect(log).toContain("::warning::access differs from the program");
  const [issue, ...others] = github.repository.issues;
  expect(others).toEqual([]);
  expect(issue).toMatchObject({ title: "Access differs from the program: dev", isOpen: true });
  expect(issue?.body).toContain('`description`: the program has `"first"`, the service `"by hand"`');
});

it("a policy is reviewed by the program of the base, and nothing else of the change runs", async () => {
  const policies = await place.program(
    "policies",
    'import { AccessPolicy } from "pulumi-irm";\nnew AccessPolicy("acme", { file: "access.yaml" });\n',
  );
  const policyOf = (role: string): string => `organization: { uid: "${place.server.organization}" }
groups: { team: {} }
identities: { ci: { in: team, claimMatch: { issuer: "https://issuer.example", subject: ci } } }
access: { team: { ${role}: [ci] } }
`;
  const own = repositoryOf(policies, { "access.yaml": policyOf("viewer") });
  const hacked = join(place.folder, "hacked");
  const head = own.commit({
    "access.yaml": policyOf("editor"),
    "index.js": `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(hacked)}, "");\nthrow new Error("theirs");\n`,
    "Pulumi.yaml": "name: theirs\nruntime: nodejs\n",
  });
  const inputs = { "preview-identity": vars.IRM_PREVIEW_IDENTITY ?? "", "up-identity": vars.IRM_UP_IDENTITY ?? "" };
  const given = { "stack-name": "dev", policy: "access.yaml", ...inputs };
  const { conclusion, log, outputs } = await github.run(pullRequest(head), given, optionsOf(policies));
  expect(conclusion, log).toBe("success");
  expect(existsSync(hacked)).toBe(false);
  expect(log).toContain("irm review: not part of this review: Pulumi.yaml, index.js\n");
  const report = Report.parse(JSON.parse(readFileSync(outputs.access?.json ?? "", "utf8")));
  expect(report).toMatchObject({
    identities: [{ name: "ci", groupName: "team", change: "created", losses: [] }],
    notPart: ["Pulumi.yaml", "index.js"],
    unknown: [],
    errors: [],
  });
  expect(new Set(report.identities[0]?.gains.map(({ role }) => role))).toEqual(new Set(["editor"]));
  const comment = github.repository.comments.find(({ body }) => body.includes("irm review access.yaml:dev "));
  for (const shown of [log, comment?.body, github.artifacts.get("access-review-access.yaml-dev.html")])
    expect(shown).toContain("Not part of this review: the change edits these files too");
});
