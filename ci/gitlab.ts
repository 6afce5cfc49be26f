// A job of GitLab CI/CD. Its runner reads only the log, the files and the exit code.

import { isObject, type Json } from "../schema/index.ts";
import { type Forge, ForgeError, type Host, type Post, restOf } from "./forge.ts";
import { type Change, type Command, forkRefusal, type Job, RefusedJob } from "./settings.ts";

export const gitlabHost = (env: NodeJS.ProcessEnv): Host => ({
  job: () => gitlabJob(env),
  words: { change: "merge request", token: "IRM_CI_TOKEN" },
  setOutputs: () => undefined,
  summarize: () => undefined,
  annotate: () => undefined,
  withoutCommands: (act) => act(),
  forge: (token) => gitlabForge(env, token),
  fileUrl: (name) => `${env.CI_JOB_URL}/artifacts/file/${env.IRM_CI_FOLDER}/${name}`,
});

// A job of GitLab CI/CD, by its predefined variables: https://docs.gitlab.com/ci/variables/predefined_variables/

const USUAL: Readonly<Record<string, Command | undefined>> = {
  merge_request_event: "preview",
  push: "preview",
  schedule: "drift",
  web: undefined,
};

export const gitlabJob = (env: NodeJS.ProcessEnv): Job => {
  const event = env.CI_PIPELINE_SOURCE ?? "";
  if (!Object.hasOwn(USUAL, event))
    throw new RefusedJob(
      `this job is of a pipeline by ${event || "nothing"}, which others may start: use ${Object.keys(USUAL).join(", ")}`,
    );
  return {
    event,
    about:
      event === "merge_request_event" ? { change: mergeRequestIn(env) } : { branch: env.CI_COMMIT_BRANCH || undefined },
    commit: env.CI_COMMIT_SHA || undefined,
    mainBranch: env.CI_DEFAULT_BRANCH || undefined,
    usual: USUAL[event],
    run: { id: Number(env.CI_PIPELINE_ID) || 0, url: env.CI_JOB_URL ?? "" },
  };
};

/** A member can run the pipeline of a fork's merge request in this project, with its variables and tokens. */
const mergeRequestIn = (env: NodeJS.ProcessEnv): Change => {
  const { CI_PROJECT_ID: own, CI_MERGE_REQUEST_PROJECT_ID: target, CI_MERGE_REQUEST_SOURCE_PROJECT_ID: source } = env;
  if (!target || source !== target || own !== target) throw forkRefusal("merge request");
  const number = Number(env.CI_MERGE_REQUEST_IID);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new RefusedJob("CI_MERGE_REQUEST_IID does not name the merge request");
  return { number, head: env.CI_MERGE_REQUEST_SOURCE_BRANCH_SHA || env.CI_COMMIT_SHA };
};

// Notes of merge requests, and issues, by the REST API of GitLab: https://docs.gitlab.com/api/notes/. A job's own token cannot write them.

export const gitlabForge = (env: NodeJS.ProcessEnv, token: string): Forge => {
  const { CI_API_V4_URL: baseUrl = "", CI_PROJECT_ID: project = "", CI_PROJECT_URL: page = "" } = env;
  if (!/^\d+$/.test(project)) throw new ForgeError("CI_PROJECT_ID does not name the project");
  const rest = restOf({
    host: "GitLab",
    baseUrl,
    token,
    advice: () => "IRM_CI_TOKEN must be a project access token with the scope api and at least the role Reporter",
  });
  const request = (change: number) => `/projects/${project}/merge_requests/${change}`;
  const notes = (change: number) => `${request(change)}/notes`;
  const issues = `/projects/${project}/issues`;
  const noteOf =
    (change: number) =>
    ({ id }: Json) => ({ url: `${page}/-/merge_requests/${change}#note_${Number(id)}` });

  return {
    async me() {
      const { id } = await rest.send("GET", "/user");
      if (typeof id !== "number") throw new ForgeError("GitLab does not say whom the token belongs to");
      return String(id);
    },
    headOf: async (change) => String((await rest.send("GET", request(change))).sha),
    mergedBy: async (commit) => {
      for await (const one of rest.list(
        `/projects/${project}/repository/commits/${commit}/merge_requests?per_page=100`,
      )) {
        const { iid, sha, state, merged_at: mergedAt, merge_commit_sha: merge, squash_commit_sha: squash } = one;
        const isIts = [merge, squash, sha].includes(commit) && state === "merged";
        if (isIts && typeof iid === "number" && typeof mergedAt === "string")
          return { number: iid, head: String(sha ?? ""), mergedAt };
      }
      return undefined;
    },
    // Approval rules, or a manual job of a protected environment. Without either, a push to the branch suffices.
    unseenApproval: async () => {
      const { CI_ENVIRONMENT_NAME: name = "", CI_JOB_MANUAL: isByHand } = env;
      try {
        const path = `/projects/${project}/protected_environments/${encodeURIComponent(name)}`;
        const { approval_rules: rules, required_approval_count: count } = await rest.send("GET", path);
        const counts = [count, ...(Array.isArray(rules) ? rules : []).map((one) => one.required_approvals)];
        if (isByHand === "true" || counts.some((one) => typeof one === "number" && one > 0)) return undefined;
      } catch (error) {
        if (!(error instanceof ForgeError && error.isRefused)) throw error;
        if (isByHand === "true")
          return `somebody started this job by hand; whether only some people may cannot be seen: ${error.message}`;
      }
      throw new RefusedJob(
        "nobody started this job by hand, and its environment asks for no approval, so nobody had to approve it. Make it a manual job of a protected environment; where your plan has none, give the input apply: merged",
      );
    },
    reviewRunOf: async ({ head, mergedAt }) => {
      const name = (env.CI_JOB_NAME ?? "").replace(/-apply$/, "-review");
      const query = `source=merge_request_event&sha=${encodeURIComponent(head)}&order_by=id&sort=desc&per_page=100`;
      for await (const { id: pipeline, source, sha } of rest.list(`/projects/${project}/pipelines?${query}`)) {
        if (source !== "merge_request_event" || sha !== head) continue;
        for await (const job of rest.list(`/projects/${project}/pipelines/${pipeline}/jobs?per_page=100`)) {
          const isEarly = Date.parse(String(job.started_at)) < Date.parse(mergedAt);
          if (job.name === name && isEarly && typeof job.id === "number") return job.id;
        }
      }
      return undefined;
    },
    fileOf: (job, name) => rest.text(`/projects/${project}/jobs/${job}/artifacts/${env.IRM_CI_FOLDER}/${name}`),
    comments: (change) => posts(rest.list(`${notes(change)}?sort=asc&per_page=100`), "id", "body"),
    createComment: async (change, body) => noteOf(change)(await rest.send("POST", notes(change), { body })),
    updateComment: async (change, id, body) =>
      noteOf(change)(await rest.send("PUT", `${notes(change)}/${id}`, { body })),
    deleteComment: async (change, id) => void (await rest.send("DELETE", `${notes(change)}/${id}`)),
    openIssues: () => posts(rest.list(`${issues}?state=opened&scope=all&per_page=100`), "iid", "description"),
    createIssue: async (title, description) => written(await rest.send("POST", issues, { title, description })),
    updateIssue: async (id, description) => written(await rest.send("PUT", `${issues}/${id}`, { description })),
    commentIssue: async (id, body) => {
      await rest.send("POST", `${issues}/${id}/notes`, { body });
      return { url: `${page}/-/issues/${id}` };
    },
    closeIssue: async (id) => void (await rest.send("PUT", `${issues}/${id}`, { state_event: "close" })),
  };
};

async function* posts(items: AsyncIterable<Json>, key: string, text: string): AsyncIterable<Post> {
  for await (const { [key]: id, [text]: body, author } of items)
    if (typeof id === "number")
      yield { id, body: String(body ?? ""), author: isObject(author) ? String(author.id) : "" };
}

const written = ({ web_url: url }: Json) => ({ url: typeof url === "string" ? url : "" });
