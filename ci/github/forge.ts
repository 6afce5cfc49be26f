// Comments of pull requests, and issues, by the REST API of GitHub: https://docs.github.com/rest/issues
import { claimsOf } from "../../client/token-claims.ts";
import { isObject, type Json } from "../../schema/index.ts";
import { type Forge, ForgeError, type Post, type Written } from "../forge.ts";
import { RefusedJob } from "../job.ts";
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
        /\/commits\/|\/pulls\/|\/actions\/|\/environments\//.test(path)
          ? "the job needs `permissions: actions: read`, and `pull-requests: read` or `write`"
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
        const { number, merge_commit_sha: merge, merged_at: mergedAt, head } = one;
        if (merge === commit && typeof number === "number" && typeof mergedAt === "string")
          return { number, head: textIn(head, "sha"), mergedAt };
      }
      return undefined;
    },
    unseenApproval: async () => {
      const refused = (why: string): RefusedJob =>
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
        const asks = (rule: unknown): boolean => textIn(rule, "type") === "required_reviewers";
        if (Array.isArray(rules) && rules.some(asks)) return undefined;
      } catch (error) {
        if (!(error instanceof ForgeError && error.isRefused)) throw error;
        return `whether the environment ${name} has required reviewers cannot be seen: ${error.message}`;
      }
      throw refused(`the environment ${name} has no required reviewers`);
    },
    // A run that was started again after the merge is of what people can no longer read before it.
    reviewRunOf: async ({ head, mergedAt }) => {
      const query = `event=pull_request&head_sha=${encodeURIComponent(head)}&per_page=100`;
      const { workflow_runs: runs } = await rest.send("GET", `/repos/${repository}/actions/runs?${query}`);
      const [, workflow] = /^[^/]+\/[^/]+\/(.+)@[^@]*$/.exec(env.GITHUB_WORKFLOW_REF ?? "") ?? [];
      const isReview = ({ path, event, head_sha: commit, head_repository: from, repository: to, ...run }: Json) => {
        const isOwn = isObject(from) && isObject(to) && from.id !== undefined && from.id === to.id;
        const isEarly = Date.parse(String(run.run_started_at)) < Date.parse(mergedAt);
        return isOwn && isEarly && path === workflow && event === "pull_request" && commit === head;
      };
      const ids = (Array.isArray(runs) ? runs : []).filter((one) => isObject(one) && isReview(one)).map(({ id }) => id);
      return ids.filter(Number.isSafeInteger).toSorted((a, b) => b - a)[0];
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

/** GitHub says in it what the job is. It is for nobody: no service takes this audience. Undefined: the job may have none. */
const jobToken = async (env: NodeJS.ProcessEnv): Promise<string | undefined> => {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: baseUrl, ACTIONS_ID_TOKEN_REQUEST_TOKEN: token } = env;
  if (!baseUrl || !token) return undefined;
  const endpoint = restOf({
    host: "GitHub",
    baseUrl,
    token,
    advice: () => "the job needs `permissions: id-token: write`",
  });
  const { value } = await endpoint.send("GET", "&audience=irm-ci");
  return String(value);
};

const textIn = (value: unknown, name: string): string => (isObject(value) ? String(value[name] ?? "") : "");

/** The list of issues has the pull requests as well. */
async function* posts(items: AsyncIterable<Json>, key: "id" | "number"): AsyncIterable<Post> {
  for await (const { [key]: id, body, user, pull_request: pullRequest } of items)
    if (typeof id === "number" && pullRequest === undefined)
      yield { id, body: String(body ?? ""), author: textIn(user, "login") };
}

const written = ({ html_url: url }: Json): Written => ({ url: typeof url === "string" ? url : "" });
