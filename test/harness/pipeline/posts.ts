// Comments and issues of a repository, by the REST API of GitHub or of GitLab, on loopback. And GitHub's endpoint for tokens of a job.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as textOf } from "node:stream/consumers";
import type { Forge } from "../../../ci/forge.ts";
import { githubForge } from "../../../ci/github.ts";
import { gitlabForge } from "../../../ci/gitlab.ts";
import { listen } from "../../support/listen.ts";

export interface Comment {
  id: number;
  author: string;
  body: string;
}

export interface Issue extends Comment {
  title: string;
  isOpen: boolean;
  comments: Comment[];
}

const newRepository = () => ({
  url: "",
  /** the newest commit of the change 7 */
  head: "",
  /** of the change 7 */
  comments: [] as Comment[],
  issues: [] as Issue[],
  /** each request that has come: `POST /repos/…` */
  requests: [] as string[],
  /** of the change 7: the commit of its merge, and when; absent: it is not merged */
  merged: {} as { merge?: string; mergedAt?: string },
  /** runs or pipelines by their id, as the API shows them */
  runs: new Map<number, Record<string, unknown>>(),
  /** jobs by their id; those of a pipeline have its id in `pipeline` */
  jobs: new Map<number, Record<string, unknown>>(),
  /** files of jobs: texts by the id of the job */
  files: new Map<number, string>(),
  /** what protects an environment, by its name */
  environments: new Map<string, object>(),
  /** of the token of the job; absent: all of them */
  permissions: undefined as Record<string, string> | undefined,
  /** refuses each write with 403 */
  isReadOnly: false,
  /** address of each next page, in place of the right one */
  next: undefined as string | undefined,
  /** what a job of GitHub asks for its token with */
  jobEnv: {} as Record<string, string>,
});

export type Repository = Awaited<ReturnType<typeof start>>;

export const TOKEN = "a token that writes comments";
const JOB_TOKEN = "a token for the endpoint of tokens";

/** What a list has at most on one page, however many a client asks for. */
const PAGE = 2;

/** By method and path, in which `:id` is a number and `*` any text. */
type Routes = Record<string, (body: Record<string, string>, at: string) => unknown>;

type Stored = ReturnType<typeof newRepository>;

/** `mint` issues the token of a job for an audience. */
export const startGithub = (mint: (audience: string) => Promise<string>): Promise<Repository> => start(github, mint);

export const startGitlab = (): Promise<Repository> =>
  start(gitlab, () => Promise.reject(new Error("GitLab has no such endpoint")));

const start = async (routesOf: (repository: Stored) => Routes, mint: (audience: string) => Promise<string>) => {
  const repository = newRepository();
  const routes = Object.entries(routesOf(repository)).map(([route, act]) => ({
    pattern: new RegExp(`^${route.replaceAll(".", "\\.").replace(":id", "(\\d+)").replace("*", "(.+)")}$`),
    act,
  }));
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: Error) => send(response, 500, { message: String(error) }));
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", repository.url);
    const { method = "" } = request;
    const text = await textOf(request);
    const bearer = request.headers.authorization;
    if (url.pathname === "/token") {
      if (bearer !== `Bearer ${JOB_TOKEN}`) return send(response, 401, {});
      return send(response, 200, { value: await mint(url.searchParams.get("audience") ?? "") });
    }
    const asked = `${method} ${url.pathname}`;
    repository.requests.push(asked);
    if (bearer !== `Bearer ${TOKEN}`) return send(response, 401, { message: "Bad credentials" });
    const isWrite = method !== "GET" && url.pathname !== "/graphql";
    if ((isWrite && repository.isReadOnly) || !isPermitted(repository.permissions, url.pathname, isWrite))
      return send(response, 403, { message: "Resource not accessible by integration" });
    const route = routes.find(({ pattern }) => pattern.test(asked));
    const [, at = ""] = route?.pattern.exec(asked) ?? [];
    const made = route?.act(text ? JSON.parse(text) : {}, at);
    if (route === undefined || (made === undefined && method === "GET"))
      return send(response, 404, { message: "Not Found" });
    if (typeof made === "string") return void response.writeHead(200).end(made);
    if (!Array.isArray(made)) return send(response, method === "DELETE" ? 204 : 200, made);
    const page = Number(url.searchParams.get("page") ?? 1);
    url.searchParams.set("page", String(page + 1));
    if (page * PAGE < made.length)
      response.setHeader("link", `<${repository.next ?? url}>; rel="next", <${url}>; rel="last"`);
    return send(response, 200, made.slice((page - 1) * PAGE, page * PAGE));
  };
  repository.url = `http://127.0.0.1:${await listen(server)}`;
  repository.jobEnv = {
    ACTIONS_ID_TOKEN_REQUEST_URL: `${repository.url}/token?api-version=2`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: JOB_TOKEN,
  };
  const close = () => new Promise<void>((done) => server.close(() => done()).closeAllConnections());
  return Object.assign(repository, { close });
};

/** https://docs.github.com/rest/authentication/permissions-required-for-github-apps */
const isPermitted = (permissions: Repository["permissions"], path: string, isWrite: boolean): boolean => {
  if (permissions === undefined || path === "/graphql") return true;
  const isOfChange = /\/pulls\b|\/issues\/7\/|\/comments\//.test(path);
  const name = /\/(?:environments|actions)\//.test(path) ? "actions" : isOfChange ? "pull-requests" : "issues";
  return permissions[name] === "write" || (!isWrite && permissions[name] === "read");
};

const send = (response: ServerResponse, status: number, json: unknown): void => {
  const text = status === 204 ? "" : JSON.stringify(json ?? {});
  response.writeHead(status, { "content-type": "application/json" }).end(text);
};

const github = (repository: Stored): Routes => {
  const me = "github-actions[bot]";
  const at = "/repos/acme/access";
  return {
    ...postsOf(repository, {
      ...{ me, issue: `${at}/issues`, comment: `${at}/issues/comments`, comments: `${at}/issues/7/comments` },
      ...{ issueComments: "comments", update: "PATCH", description: "body" },
      closes: ({ state }) => state === "closed",
      shown: ({ id, body, author }) => ({
        ...{ id, body, user: { login: author } },
        html_url: `https://github.example/pull/7#issuecomment-${id}`,
      }),
      shownIssue: ({ id, title, body, author, isOpen }) => ({
        ...{ number: id, title, body, user: { login: author }, state: isOpen ? "open" : "closed" },
        html_url: `https://github.example/issues/${id}`,
      }),
    }),
    "POST /graphql": () => ({ data: { viewer: { login: me } } }),
    [`GET ${at}/pulls/7`]: () => ({ head: { sha: repository.head } }),
    [`GET ${at}/commits/*/pulls`]: () => {
      const { merge = null, mergedAt = null } = repository.merged;
      const [sha, time] = ["6".repeat(40), "2026-01-01T00:00:00Z"];
      return [
        { number: 6, merge_commit_sha: sha, merged_at: time, head: { sha } },
        { number: 7, merge_commit_sha: merge, merged_at: mergedAt, head: { sha: repository.head } },
      ];
    },
    [`GET ${at}/actions/runs`]: () => ({ workflow_runs: [...repository.runs.values()] }),
    [`GET ${at}/environments/*`]: (_, name) => repository.environments.get(name),
  };
};

const gitlab = (repository: Stored): Routes => {
  const me = "21";
  const at = "/projects/42";
  const notes = `${at}/merge_requests/7/notes`;
  return {
    ...postsOf(repository, {
      ...{ me, issue: `${at}/issues`, comment: notes, comments: notes },
      ...{ issueComments: "notes", update: "PUT", description: "description" },
      closes: ({ state_event: event }) => event === "close",
      shown: ({ id, body, author }) => ({ id, body, author: { id: Number(author) } }),
      shownIssue: ({ id, title, body, author }) => ({
        ...{ iid: id, title, description: body, author: { id: Number(author) } },
        web_url: `https://gitlab.example/issues/${id}`,
      }),
    }),
    "GET /user": () => ({ id: Number(me) }),
    [`GET ${at}/merge_requests/7`]: () => ({ sha: repository.head }),
    [`GET ${at}/repository/commits/*/merge_requests`]: () => {
      const { merge = null, mergedAt = null } = repository.merged;
      const state = merge === null ? "opened" : "merged";
      return [{ iid: 7, sha: repository.head, state, merged_at: mergedAt, merge_commit_sha: merge }];
    },
    [`GET ${at}/pipelines`]: () => [...repository.runs.values()],
    [`GET ${at}/pipelines/:id/jobs`]: (_, id) =>
      [...repository.jobs.values()].filter(({ pipeline }) => pipeline === Number(id)),
    [`GET ${at}/jobs/:id/artifacts/.irm-ci/change.json`]: (_, id) => repository.files.get(Number(id)),
    [`GET ${at}/protected_environments/*`]: (_, name) => repository.environments.get(name),
  };
};

interface Dialect {
  me: string;
  /** path of the comments of the change, and what stands before the number of one */
  comments: string;
  comment: string;
  issue: string;
  /** what the comments of an issue are called */
  issueComments: string;
  update: string;
  /** the member of an issue that has its text */
  description: string;
  closes(body: Record<string, string>): boolean;
  shown(one: Comment): object;
  shownIssue(one: Issue): object;
}

const postsOf = (
  { comments, issues }: Stored,
  { me, update, description, shown, shownIssue, ...own }: Dialect,
): Routes => {
  let ids = 100;
  const write = (list: Comment[], body = ""): object => {
    const one = { id: ++ids, author: me, body };
    list.push(one);
    return shown(one);
  };
  const find = <T extends Comment>(list: T[], id: string): T => {
    const one = list.find((each) => each.id === Number(id));
    if (one === undefined) throw new Error(`there is no ${id}`);
    return one;
  };
  return {
    [`GET ${own.comments}`]: () => comments.map(shown),
    [`POST ${own.comments}`]: ({ body }) => write(comments, body),
    [`${update} ${own.comment}/:id`]: ({ body = "" }, id) => shown(Object.assign(find(comments, id), { body })),
    [`DELETE ${own.comment}/:id`]: (_, id) => void comments.splice(comments.indexOf(find(comments, id)), 1),
    [`GET ${own.issue}`]: () => issues.filter(({ isOpen }) => isOpen).map(shownIssue),
    [`POST ${own.issue}`]: ({ title = "", [description]: body = "" }) => {
      const one: Issue = { id: ++ids, author: me, title, body, isOpen: true, comments: [] };
      issues.push(one);
      return shownIssue(one);
    },
    [`${update} ${own.issue}/:id`]: (body, id) => {
      const one = find(issues, id);
      if (body[description] !== undefined) one.body = body[description];
      if (own.closes(body)) one.isOpen = false;
      return shownIssue(one);
    },
    [`POST ${own.issue}/:id/${own.issueComments}`]: ({ body }, id) => write(find(issues, id).comments, body),
  };
};

/** The REST API of such a repository, as a job of GitHub or GitLab calls it. */
export const githubForgeOf = ({ url }: Repository, env: Record<string, string> = {}, token = TOKEN): Forge => {
  const own = { GITHUB_API_URL: url, GITHUB_GRAPHQL_URL: `${url}/graphql`, GITHUB_REPOSITORY: "acme/access" };
  return githubForge({ ...own, ...env }, token);
};
export const gitlabForgeOf = ({ url }: Repository, env: Record<string, string> = {}, token = TOKEN): Forge =>
  gitlabForge({ CI_API_V4_URL: url, CI_PROJECT_ID: "42", CI_PROJECT_URL: "https://gitlab.example/a", ...env }, token);
