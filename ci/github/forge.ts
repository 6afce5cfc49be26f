// Comments of pull requests, and issues, by the REST API of GitHub: https://docs.github.com/rest/issues
import { isObject, type Json } from "../../schema/index.ts";
import { type Forge, ForgeError, type Post, type Written } from "../forge.ts";
import { restOf } from "../rest.ts";

/** Author of what a job writes with its own token: https://docs.github.com/actions/concepts/security/github_token */
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
        /\/issues\/\d+\/comments|\/comments\/\d+$/.test(path)
          ? "the job needs `permissions: pull-requests: write`, for an issue `issues: write`"
          : "the job needs `permissions: issues: write`, and the repository issues",
    });
  const rest = of(baseUrl);
  const issues = `/repos/${repository}/issues`;
  const comment = (id: number): string => `${issues}/comments/${id}`;

  return {
    // A job's token cannot read /user. The login of a query is that of the posts.
    async me() {
      const graphql = env.GITHUB_GRAPHQL_URL ?? `${baseUrl}/graphql`;
      try {
        const { data } = await of(graphql).send("POST", "", { query: "{ viewer { login } }" });
        const login = isObject(data) && isObject(data.viewer) ? data.viewer.login : undefined;
        return typeof login === "string" ? login : JOB_AUTHOR;
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
        return JOB_AUTHOR;
      }
    },
    headOf: async (change) => {
      const { head } = await rest.send("GET", `/repos/${repository}/pulls/${change}`);
      return isObject(head) ? String(head.sha) : "";
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

/** The list of issues has the pull requests as well. */
async function* posts(items: AsyncIterable<Json>, key: "id" | "number"): AsyncIterable<Post> {
  for await (const { [key]: id, body, user, pull_request: pullRequest } of items)
    if (typeof id === "number" && pullRequest === undefined)
      yield { id, body: String(body ?? ""), author: isObject(user) ? String(user.login) : "" };
}

const written = ({ html_url: url }: Json): Written => ({ url: typeof url === "string" ? url : "" });
