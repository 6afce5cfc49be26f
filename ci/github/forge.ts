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
        /\/commits\/|\/pulls\/|\/actions\//.test(path)
          ? "the job needs `permissions: pull-requests: read` or `write`, and `actions: read`"
          : /\/issues\/\d+\/comments|\/comments\/\d+$/.test(path)
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
    mergedBy: async (commit) => {
      for await (const one of rest.list(`/repos/${repository}/commits/${commit}/pulls?per_page=100`)) {
        const { number, merge_commit_sha: merge, merged_at: mergedAt, head, user } = one;
        if (merge === commit && typeof number === "number" && typeof mergedAt === "string")
          return { number, head: textIn(head, "sha"), author: textIn(user, "login"), mergedAt };
      }
      return undefined;
    },
    // An approval of an earlier commit, or one that was dismissed, does not count. Anyone who can read can write a review.
    async *approvals({ number, head }) {
      for await (const one of rest.list(`/repos/${repository}/pulls/${number}/reviews?per_page=100`)) {
        const { state, commit_id: commit, submitted_at: at, user, author_association: association } = one;
        const mayApprove = APPROVERS.some((each) => each === association);
        if (state === "APPROVED" && commit === head && mayApprove && typeof at === "string")
          yield { by: textIn(user, "login"), at };
      }
    },
    isReviewRun: async (run, head) => {
      const found = await rest.send("GET", `/repos/${repository}/actions/runs/${run}`);
      const { path, event, head_sha: commit, head_repository: from, repository: to } = found;
      const [, workflow] = /^[^/]+\/[^/]+\/(.+)@[^@]*$/.exec(env.GITHUB_WORKFLOW_REF ?? "") ?? [];
      const isOwn = isObject(from) && isObject(to) && from.id !== undefined && from.id === to.id;
      return workflow !== undefined && path === workflow && event === "pull_request" && commit === head && isOwn;
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

/** https://docs.github.com/graphql/reference/enums#commentauthorassociation */
const APPROVERS = ["OWNER", "MEMBER", "COLLABORATOR"] as const;

const textIn = (value: unknown, name: string): string => (isObject(value) ? String(value[name] ?? "") : "");

/** The list of issues has the pull requests as well. */
async function* posts(items: AsyncIterable<Json>, key: "id" | "number"): AsyncIterable<Post> {
  for await (const { [key]: id, body, user, pull_request: pullRequest, updated_at: updatedAt } of items)
    if (typeof id === "number" && pullRequest === undefined)
      yield { id, body: String(body ?? ""), author: textIn(user, "login"), updatedAt: String(updatedAt ?? "") };
}

const written = ({ html_url: url }: Json): Written => ({ url: typeof url === "string" ? url : "" });
