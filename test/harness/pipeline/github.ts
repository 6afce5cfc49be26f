// A repository at GitHub whose jobs run action.yml: its runner, the actions of others, the API for comments and issues, and the tokens.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { root } from "../../../scripts/base/project.mjs";
import { COMPILED } from "../../support/compiled.ts";
import { createCommands } from "./commands.ts";
import type { Value } from "./expression.ts";
import { type JobResult, runJob, type Step } from "./github-runner.ts";
import { otherActions } from "./other-actions.ts";
import { type Repository, startGithub, TOKEN } from "./posts.ts";

export interface Github {
  repository: Repository;
  /** what jobs have uploaded: texts by the name of the file */
  artifacts: Map<string, string>;
  /** saved folders by key */
  caches: Map<string, string>;
  /** calls of npm, each after its folder */
  npm(): string[];
  /** Runs a job with these steps; a text is the input of one step, the action. */
  run(event: Event, steps: readonly Step[] | Record<string, string>, options: JobOptions): Promise<JobResult>;
  close(): Promise<void>;
}

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
const MAIN = { ref: "refs/heads/main", subject: "repo:acme/access:ref:refs/heads/main" };

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
  ...(from === "branch" && { subject: "repo:acme/access:pull_request" }),
});

export const push: Event = { name: "push", ...MAIN };
export const schedule: Event = { name: "schedule", ...MAIN };

/** `mint` issues a job's token with that subject, for that audience. */
export const createGithub = async (mint: (subject: string, audience: string) => Promise<string>): Promise<Github> => {
  const folder = mkdtempSync(join(tmpdir(), "irm-github-"));
  const commands = createCommands(folder);
  let subject = "";
  let runs = 1000;
  const repository = await startGithub((audience) => mint(subject, audience));
  const [artifacts, uploadedBy, caches] = [1, 2, 3].map(() => new Map<string, string>()) as [
    Map<string, string>,
    Map<string, string>,
    Map<string, string>,
  ];

  const run: Github["run"] = (event, steps, { workspace, env, vars = {}, engine }) => {
    const id = String(++runs);
    const temporary = join(folder, id);
    mkdirSync(temporary);
    const eventFile = join(temporary, "event.json");
    const payload = { repository: { id: OWN, default_branch: "main" }, ...event.payload };
    writeFileSync(eventFile, JSON.stringify(payload));
    subject = event.subject ?? "";
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
    const head = (event.payload?.pull_request as { head?: { sha?: string } } | undefined)?.head?.sha;
    const itself = { id: OWN };
    repository.merged.runs.set(Number(id), {
      ...{ path: WORKFLOW, event: event.name, head_sha: head ?? event.commit },
      ...{ head_repository: itself, repository: itself },
    });
    const github = { event_name: event.name, event: payload as Value, ref, base_ref: base, token: TOKEN };
    const own = { run_id: id, run_attempt: "1", repository: "acme/access" };
    return runJob(Array.isArray(steps) ? steps : [{ id: "access", uses: "OWNER/pulumi-irm@COMMIT", with: steps }], {
      folder: temporary,
      workspace,
      contexts: { github: { ...github, ...own }, vars, secrets: {} },
      env: {
        PATH: [commands.folder, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
        HOME: folder,
        NODE_COMPILE_CACHE: COMPILED,
        ...variables,
        ...(event.subject === undefined ? {} : repository.jobEnv),
        ...env,
      },
      actions: {
        "OWNER/pulumi-irm": { folder: root },
        ...otherActions({ artifacts, uploadedBy, caches, folder, engine }),
      },
    });
  };

  return {
    repository,
    artifacts,
    caches,
    npm: commands.npm,
    run,
    close: async () => {
      await repository.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
