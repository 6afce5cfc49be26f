// A repository at GitHub whose jobs run action.yml: its runner, the actions of others, the API for comments and issues, and the tokens.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../scripts/base/project.mjs";
import { temporaryFolder } from "../../support/command.ts";
import { createCommands } from "./commands.ts";
import { interpolate, isMet, type Scope, type Value } from "./expression.ts";
import { type JobResult, type JobText, runJob, stepsWith } from "./github-runner.ts";
import { otherActions, type Stores } from "./other-actions.ts";
import { startGithub, TOKEN } from "./posts.ts";

export type Github = Awaited<ReturnType<typeof createGithub>>;

export interface Event {
  name: string;
  payload?: Record<string, Value>;
  ref: string;
  /** hash of the commit, of a push */
  commit?: string;
  base?: string;
  /** of the job's token */
  subject?: string;
}

interface JobOptions {
  workspace: string;
  env: Record<string, string>;
  vars?: Record<string, string>;
  /** folder of pulumi */
  engine?: string;
}

const [OWN, FORK] = [1, 2];
const WORKFLOW = ".github/workflows/access.yml";
const MAIN = { ref: "refs/heads/main", subject: "repo:acme@123456/access@456793:ref:refs/heads/main" };

/** Its author has chosen texts that a script must not run. */
export const pullRequest = (head: string, from: "branch" | "fork" = "branch", target = "main"): Event => ({
  name: "pull_request",
  ref: "refs/pull/7/merge",
  base: target,
  payload: {
    pull_request: {
      number: 7,
      title: "`touch hacked` $(touch hacked)",
      head: { ref: "$(touch-hacked)", sha: head, repo: { id: from === "fork" ? FORK : OWN } as Value },
      base: { ref: target, sha: "0".repeat(40), repo: { id: OWN } as Value },
    },
  },
  // GitHub issues no token to the job of a fork.
  ...(from === "branch" && { subject: "repo:acme@123456/access@456793:pull_request" }),
});

export const push: Event = { name: "push", ...MAIN };
export const schedule: Event = { name: "schedule", ...MAIN };

/** `mint` issues a job's token with that subject and these further claims. */
export const createGithub = async (mint: (subject: string, claims: Record<string, string>) => Promise<string>) => {
  const { path, remove } = temporaryFolder();
  const folder = path(".");
  const commands = createCommands(folder);
  let [subject, claims]: [string, Record<string, string>] = ["", {}];
  let [runs, jobs] = [1000, 0];
  const repository = await startGithub(() => mint(subject, claims));
  const stores: Stores = { artifacts: new Map(), uploads: new Map(), caches: new Map(), folder };

  const runOne = (
    id: string,
    event: Event,
    { steps, environment, permissions }: JobText,
    { workspace, env, vars = {}, engine }: JobOptions,
    needs: Value = {},
  ): Promise<JobResult> => {
    const temporary = join(folder, `job-${++jobs}`);
    mkdirSync(temporary);
    const eventFile = join(temporary, "event.json");
    const payload = { repository: { id: OWN, default_branch: "main" }, ...event.payload };
    writeFileSync(eventFile, JSON.stringify(payload));
    subject = (event.subject ?? "").replace(/(?<=:)(?:ref:.*|pull_request)$/, (of) =>
      environment === undefined ? of : `environment:${environment}`,
    );
    claims = { ref: event.ref, ...(environment !== undefined && { environment }) };
    repository.permissions = permissions;
    const mayAsk = event.subject !== undefined && (permissions === undefined || permissions["id-token"] === "write");
    const [ref, base] = [event.ref, event.base ?? ""];
    const variables = {
      GITHUB_ACTIONS: "true",
      GITHUB_EVENT_NAME: event.name,
      GITHUB_EVENT_PATH: eventFile,
      GITHUB_REF: ref,
      GITHUB_BASE_REF: base,
      GITHUB_REPOSITORY: "acme/access",
      GITHUB_SHA: event.commit ?? "",
      GITHUB_WORKFLOW_REF: `acme/access/${WORKFLOW}@${ref}`,
      GITHUB_RUN_ID: id,
      GITHUB_SERVER_URL: "https://github.example",
      GITHUB_API_URL: repository.url,
      GITHUB_GRAPHQL_URL: `${repository.url}/graphql`,
    };
    const github = { event_name: event.name, event: payload as Value, ref, base_ref: base, token: TOKEN };
    const own = { run_id: id, run_attempt: "1", repository: "acme/access" };
    return runJob(steps, {
      folder: temporary,
      workspace,
      contexts: { github: { ...github, ...own }, vars, secrets: {}, needs },
      env: { ...commands.env, ...variables, ...(mayAsk && repository.jobEnv), ...env },
      actions: { "OWNER/pulumi-irm": { folder: root }, ...otherActions(stores, engine) },
    });
  };

  const begin = (event: Event): string => {
    const id = ++runs;
    const head = (event.payload?.pull_request as { head?: { sha?: string } } | undefined)?.head?.sha;
    const itself = { id: OWN };
    repository.runs.set(id, {
      ...{ id, path: WORKFLOW, event: event.name, head_sha: head ?? event.commit },
      ...{ head_repository: itself, repository: itself, run_started_at: new Date().toISOString() },
    });
    return String(id);
  };

  const runJobs = async (
    event: Event,
    texts: Readonly<Record<string, JobText>>,
    { before, ...options }: JobOptions & { before?: (name: string, run: string) => void },
  ): Promise<Record<string, JobResult>> => {
    const id = begin(event);
    const results: Record<string, JobResult> = {};
    const needs: Record<string, Value> = {};
    for (const [name, text] of Object.entries(texts)) {
      const isFailed = [text.needs ?? []].flat().some((one) => results[one]?.conclusion !== "success");
      const functions: Scope["functions"] = { success: () => !isFailed, cancelled: () => false };
      const contexts = { github: { event_name: event.name, ref: event.ref }, vars: options.vars ?? {}, needs };
      if (!isMet(text.if, { contexts, functions })) continue;
      before?.(name, id);
      const done = await runOne(id, event, text, options, needs);
      results[name] = done;
      const scope: Scope = { contexts: { steps: stepsWith(done.outputs) }, functions: {} };
      const outputs = Object.entries(text.outputs ?? {}).map(([key, value]) => [key, interpolate(value, scope)]);
      needs[name] = { result: done.conclusion, outputs: Object.fromEntries(outputs) };
    }
    return results;
  };

  return {
    repository,
    ...stores,
    /** calls of npm, each after its folder */
    npm: commands.npm,
    /** Runs a job of one step, the action, with these inputs. */
    run: (event: Event, inputs: Record<string, string>, options: JobOptions): Promise<JobResult> => {
      const steps = [{ id: "access", uses: "OWNER/pulumi-irm@COMMIT", with: inputs }];
      return runOne(begin(event), event, { steps }, options);
    },
    /** Runs the jobs whose conditions hold, in the order of the file; `before` is called before each. Results are by the name of the job. */
    runJobs,
    close: () => repository.close().finally(remove),
  };
};
