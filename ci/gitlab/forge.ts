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

const written = ({ web_url: url }: Json): Written => ({ url: typeof url === "string" ? url : "" });
