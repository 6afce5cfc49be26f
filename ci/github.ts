// A step of GitHub Actions: its outputs, summary and annotations.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import { isHash } from "../access/base/git.ts";
import { claimsOf } from "../client/token.ts";
import { isObject, type Json, printable, valueAt } from "../schema/index.ts";
import { type Forge, ForgeError, type Host, type Post, restOf } from "./forge.ts";
import { type Change, type Command, forkRefusal, type Job, RefusedJob } from "./settings.ts";

export const githubHost = (env: NodeJS.ProcessEnv): Host => {
  const append = (file: string | undefined, text: string): void => {
    if (file) appendFileSync(file, text);
  };
  const command = (text: string) => void process.stdout.write(`${text}\n`);
  return {
    job: () => githubJob(env),
    words: { change: "pull request", token: "github-token" },
    setOutputs: (values) => {
      for (const [name, value] of Object.entries(values)) {
        const end = randomUUID();
        append(env.GITHUB_OUTPUT, `${name}<<${end}\n${value}\n${end}\n`);
      }
    },
    summarize: (markdown) => append(env.GITHUB_STEP_SUMMARY, `${markdown}\n`),
    annotate: (level, message) => {
      const lines = message.split("\n").map((line) => printable(line).replaceAll("%", "%25"));
      command(`::${level}::${lines.join("%0A")}`);
    },
    withoutCommands: async (act) => {
      const token = randomUUID();
      command(`::stop-commands::${token}`);
      try {
        return await act();
      } finally {
        // The last line of others may lack its end.
        command(`\n::${token}::`);
      }
    },
    forge: (token) => githubForge(env, token),
    fileUrl: () => `${runUrl(env)}#artifacts`,
  };
};

// A job of GitHub Actions, by its variables and the file of its event. Only numbers, hashes and the main branch of the event count:
// the author of a pull request chooses its other texts.

/** https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows */
const USUAL: Readonly<Record<string, Command | undefined>> = {
  pull_request: "preview",
  merge_group: "preview",
  // A push gets a review. An update needs the input command.
  push: "preview",
  schedule: "drift",
  workflow_dispatch: undefined,
};

const RIGHTS = "it has the rights of the main branch, also where a stranger has caused it";

/** https://docs.github.com/actions/reference/security/secure-use#mitigating-the-risks-of-untrusted-code-checkout */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ["pull_request_target", `${RIGHTS}: use pull_request`],
  [
    "workflow_run",
    `${RIGHTS}, such as the author of the pull request that the other workflow was about: use pull_request`,
  ],
  ["issue_comment", `${RIGHTS}: anyone who can write a comment can. Use pull_request`],
]);

export const githubJob = (env: NodeJS.ProcessEnv): Job => {
  const event = env.GITHUB_EVENT_NAME ?? "";
  if (!Object.hasOwn(USUAL, event))
    throw new RefusedJob(
      `this job is of ${event || "no event"}: ${REFUSED.get(event) ?? `the event does not say whose change it runs. Use ${Object.keys(USUAL).join(", ")}`}`,
    );
  const payload = eventIn(env.GITHUB_EVENT_PATH);
  const about: Job["about"] =
    event === "pull_request"
      ? { change: pullRequestIn(payload) }
      : event === "merge_group"
        ? { change: { number: undefined, head: hashIn(payload, "merge_group.head_sha") } }
        : { branch: branchOf(env.GITHUB_REF) };
  const main = valueAt(payload, "repository.default_branch");
  // A schedule runs on the default branch.
  const scheduledOn = event === "schedule" ? branchOf(env.GITHUB_REF) : undefined;
  return {
    event,
    about,
    commit: env.GITHUB_SHA || undefined,
    mainBranch: typeof main === "string" && main !== "" ? main : scheduledOn,
    usual: USUAL[event],
    run: { id: Number(env.GITHUB_RUN_ID) || 0, url: runUrl(env) },
  };
};

/** Throws for a fork, and for an event without the repository of the change: somebody may have deleted the fork. */
const pullRequestIn = (payload: Json): Change => {
  const [from, to] = ["head", "base"].map((side) => valueAt(payload, `pull_request.${side}.repo.id`));
  if (typeof from !== "number" || from !== to) throw forkRefusal("pull request");
  const number = valueAt(payload, "pull_request.number");
  if (!Number.isSafeInteger(number)) throw new RefusedJob("GITHUB_EVENT_PATH does not name the pull request");
  return { number: number as number, head: hashIn(payload, "pull_request.head.sha") };
};

const runUrl = (env: NodeJS.ProcessEnv) =>
  `${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}/actions/runs/${env.GITHUB_RUN_ID}`;

const branchOf = (ref = "") => /^refs\/heads\/(.+)$/.exec(ref)?.[1];

const hashIn = (payload: Json, path: string) => {
  const text = valueAt(payload, path);
  return isHash(text) ? text : undefined;
};

const eventIn = (file: string | undefined) => {
  try {
    const event: unknown = JSON.parse(readFileSync(file ?? "", "utf8"));
    return isObject(event) ? event : {};
  } catch (error) {
    throw new RefusedJob(`GITHUB_EVENT_PATH cannot be read: ${(error as Error).message}`);
  }
};

// Comments of pull requests, and issues, by the REST API of GitHub: https://docs.github.com/rest/issues

/** Author of posts with a job's own token: https://docs.github.com/actions/concepts/security/github_token */
const JOB_AUTHOR = "github-actions[bot]";

export const githubForge = (env: NodeJS.ProcessEnv, token: string): Forge => {
  const { GITHUB_REPOSITORY: repository = "", GITHUB_API_URL: baseUrl = "https://api.github.com" } = env;
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) throw new ForgeError("GITHUB_REPOSITORY does not name the repository");
  const of = (base: string) =>
    restOf({
      host: "GitHub",
      baseUrl: base,
      token,
      advice: (path) =>
        /\/commits\/|\/pulls\/|\/actions\/|\/environments\//.test(path)
          ? "the job needs `permissions: actions: read`, and `pull-requests: read` or `write`"
          : /\/issues\/\d+\/comments|\/comments\/\d+$/.test(path)
            ? "the job needs `permissions: pull-requests: write`, for an issue `issues: write`"
            : "the job needs `permissions: issues: write`, and the repository issues",
    });
  const rest = of(baseUrl);
  const issues = `/repos/${repository}/issues`;
  const comment = (id: number) => `${issues}/comments/${id}`;

  return {
    // A job's token cannot read /user. A query gives the login of its posts.
    async me() {
      const graphql = env.GITHUB_GRAPHQL_URL ?? `${baseUrl}/graphql`;
      try {
        const { data } = await of(graphql).send("POST", "", { query: "{ viewer { login } }" });
        const login = valueAt(data, "viewer.login");
        return typeof login === "string" ? login : JOB_AUTHOR;
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
        return JOB_AUTHOR;
      }
    },
    headOf: async (change) => textIn(await rest.send("GET", `/repos/${repository}/pulls/${change}`), "head.sha"),
    mergedBy: async (commit) => {
      for await (const one of rest.list(`/repos/${repository}/commits/${commit}/pulls?per_page=100`)) {
        const { number, merge_commit_sha: merge, merged_at: mergedAt } = one;
        if (merge === commit && typeof number === "number" && typeof mergedAt === "string")
          return { number, head: textIn(one, "head.sha"), mergedAt };
      }
      return undefined;
    },
    unseenApproval: async () => {
      const refused = (why: string) =>
        new RefusedJob(
          `${why}, so nobody had to approve this job. Give it an environment with required reviewers; where your plan has none, give the input apply: merged`,
        );
      const token = await jobToken(env);
      if (token === undefined)
        return "whether people had to approve this job cannot be seen: it needs `permissions: id-token: write`";
      const { environment: name } = claimsOf(token);
      if (typeof name !== "string" || name === "") throw refused("the job has no environment");
      try {
        const path = `/repos/${repository}/environments/${encodeURIComponent(name)}`;
        const { protection_rules: rules } = await rest.send("GET", path);
        if (Array.isArray(rules) && rules.some((rule) => textIn(rule, "type") === "required_reviewers"))
          return undefined;
      } catch (error) {
        if (!(error instanceof ForgeError && error.isRefused)) throw error;
        return `whether the environment ${name} has required reviewers cannot be seen: ${error.message}`;
      }
      throw refused(`the environment ${name} has no required reviewers`);
    },
    // People could not read a run that somebody started again after the merge.
    reviewRunOf: async ({ head, mergedAt }) => {
      const query = `event=pull_request&head_sha=${encodeURIComponent(head)}&per_page=100`;
      const { workflow_runs: runs } = await rest.send("GET", `/repos/${repository}/actions/runs?${query}`);
      const [, workflow] = /^[^/]+\/[^/]+\/(.+)@[^@]*$/.exec(env.GITHUB_WORKFLOW_REF ?? "") ?? [];
      const reviews = (Array.isArray(runs) ? runs : []).filter(isObject).filter((run) => {
        const from = valueAt(run, "head_repository.id");
        const isOwn = from !== undefined && from === valueAt(run, "repository.id");
        const isEarly = Date.parse(String(run.run_started_at)) < Date.parse(mergedAt);
        return isOwn && isEarly && run.path === workflow && run.event === "pull_request" && run.head_sha === head;
      });
      const ids = reviews.flatMap(({ id }) => (Number.isSafeInteger(id) ? [id as number] : []));
      return ids.sort((a, b) => b - a)[0];
    },
    comments: (change) => posts(rest.list(`${issues}/${change}/comments?per_page=100`), "id"),
    createComment: async (change, body) => written(await rest.send("POST", `${issues}/${change}/comments`, { body })),
    updateComment: async (_, id, body) => written(await rest.send("PATCH", comment(id), { body })),
    deleteComment: async (_, id) => void (await rest.send("DELETE", comment(id))),
    openIssues: () => posts(rest.list(`${issues}?state=open&per_page=100`), "number"),
    createIssue: async (title, body) => written(await rest.send("POST", issues, { title, body })),
    updateIssue: async (id, body) => written(await rest.send("PATCH", `${issues}/${id}`, { body })),
    commentIssue: async (id, body) => written(await rest.send("POST", `${issues}/${id}/comments`, { body })),
    closeIssue: async (id) => void (await rest.send("PATCH", `${issues}/${id}`, { state: "closed" })),
  };
};

/** GitHub describes the job in it. No service accepts its audience. Undefined: the job may not have one. */
const jobToken = async (env: NodeJS.ProcessEnv): Promise<string | undefined> => {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: baseUrl, ACTIONS_ID_TOKEN_REQUEST_TOKEN: token } = env;
  if (!baseUrl || !token) return undefined;
  const advice = () => "the job needs `permissions: id-token: write`";
  const { value } = await restOf({ host: "GitHub", baseUrl, token, advice }).send("GET", "&audience=irm-ci");
  return String(value);
};

const textIn = (value: unknown, path: string) => String(valueAt(value, path) ?? "");

/** The list of issues includes the pull requests. */
async function* posts(items: AsyncIterable<Json>, key: "id" | "number"): AsyncIterable<Post> {
  for await (const item of items) {
    const { [key]: id, body, pull_request: pullRequest } = item;
    if (typeof id === "number" && pullRequest === undefined)
      yield { id, body: String(body ?? ""), author: textIn(item, "user.login") };
  }
}

const written = ({ html_url: url }: Json) => ({ url: typeof url === "string" ? url : "" });
