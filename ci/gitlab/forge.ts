// Notes of merge requests, and issues, by the REST API of GitLab: https://docs.gitlab.com/api/notes/. A job's own token may write neither.
import { isObject, type Json } from "../../schema/index.ts";
import { type Forge, ForgeError, type Post, type Written } from "../forge.ts";
import { restOf } from "../rest.ts";

export const gitlabForge = (env: NodeJS.ProcessEnv, token: string): Forge => {
  const { CI_API_V4_URL: baseUrl = "", CI_PROJECT_ID: project = "", CI_PROJECT_URL: page = "" } = env;
  if (!/^\d+$/.test(project)) throw new ForgeError("CI_PROJECT_ID does not name the project");
  const rest = restOf({
    host: "GitLab",
    baseUrl,
    token,
    advice: () => "IRM_CI_TOKEN must be a project access token with the scope api and at least the role Reporter",
  });
  const request = (change: number): string => `/projects/${project}/merge_requests/${change}`;
  const notes = (change: number): string => `${request(change)}/notes`;
  const issues = `/projects/${project}/issues`;
  const noteOf =
    (change: number) =>
    ({ id }: Json): Written => ({ url: `${page}/-/merge_requests/${change}#note_${Number(id)}` });

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
        const {
          iid,
          sha,
          state,
          author,
          merged_at: mergedAt,
          merge_commit_sha: merge,
          squash_commit_sha: squash,
        } = one;
        const isIts = [merge, squash, sha].includes(commit) && state === "merged";
        if (isIts && typeof iid === "number" && typeof mergedAt === "string")
          return { number: iid, head: String(sha ?? ""), author: authorOf(author), mergedAt };
      }
      return undefined;
    },
    // GitLab keeps no time of an approval but in its notes, which only it can write as such.
    async *approvals({ number }) {
      const approved = new Map<string, string>();
      for await (const { system, body, author, created_at: at } of rest.list(
        `${notes(number)}?sort=asc&per_page=100`,
      )) {
        if (system !== true || typeof at !== "string") continue;
        if (body === "approved this merge request") approved.set(authorOf(author), at);
        else if (body === "unapproved this merge request") approved.delete(authorOf(author));
        // A push ends the approvals of what was there before.
        else if (/^added \d+ commits?\b/.test(String(body))) approved.clear();
      }
      for (const [by, at] of approved) yield { by, at };
    },
    isReviewRun: async (run, head) => {
      const { source, sha } = await rest.send("GET", `/projects/${project}/pipelines/${run}`);
      return source === "merge_request_event" && sha === head;
    },
    fileOf: async (run, name) => {
      const job = (env.CI_JOB_NAME ?? "").replace(/-up$/, "-review");
      for await (const one of rest.list(`/projects/${project}/pipelines/${run}/jobs?per_page=100`))
        if (one.name === job && typeof one.id === "number")
          return rest.text(
            `/projects/${project}/jobs/${one.id}/artifacts/${env.IRM_CI_FOLDER}/${encodeURIComponent(name)}`,
          );
      throw new ForgeError(`pipeline ${run} has no job ${job}`);
    },
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
  for await (const { [key]: id, [text]: body, author, updated_at: updatedAt } of items)
    if (typeof id === "number")
      yield { id, body: String(body ?? ""), author: authorOf(author), updatedAt: String(updatedAt ?? "") };
}

const authorOf = (author: unknown): string => (isObject(author) ? String(author.id) : "");

const written = ({ web_url: url }: Json): Written => ({ url: typeof url === "string" ? url : "" });
