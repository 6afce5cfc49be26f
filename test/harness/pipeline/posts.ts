// Comments and issues of a repository, by the REST API of GitHub or of GitLab, on loopback. And GitHub's endpoint for tokens of a job.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import type { Forge } from "../../../ci/forge.ts";
import { githubForge } from "../../../ci/github.ts";
import { gitlabForge } from "../../../ci/gitlab.ts";

interface Comment {
  id: number;
  author: string;
  body: string;
}

interface Issue extends Comment {
  title: string;
  isOpen: boolean;
  comments: Comment[];
}

export interface Repository {
  url: string;
  /** the newest commit of the change 7 */
  head: string;
  /** of the change 7 */
  comments: Comment[];
  issues: Issue[];
  /** each request that has come: `POST /repos/…` */
  requests: string[];
  /** of the change 7: the commit of its merge, and when; absent: it is not merged */
  merged: { merge?: string; mergedAt?: string };
  /** runs or pipelines by their id, as the API shows them */
  runs: Map<number, Record<string, unknown>>;
  /** jobs by their id; those of a pipeline have its id in `pipeline` */
  jobs: Map<number, Record<string, unknown>>;
  /** files of jobs: texts by the id of the job */
  files: Map<number, string>;
  /** what protects an environment, by its name */
  environments: Map<string, object>;
  /** of the token of the job; absent: all of them */
  permissions?: Record<string, string> | undefined;
  /** refuses each write with 403 */
  isReadOnly: boolean;
  /** address of each next page, in place of the right one */
  next?: string;
  close(): Promise<void>;
}

export const TOKEN = "a token that writes comments";
const JOB_TOKEN = "a token for the endpoint of tokens";

/** What a list has at most on one page, however many a client asks for. */
const PAGE = 2;

type Route = [method: string, path: RegExp, act: (request: Request) => unknown];

interface Request {
  /** the numbers in the path */
  ids: number[];
  /** what is not a number there */
  names: string[];
  body: Record<string, string>;
}

interface Dialect {
  me: string;
  routes(repository: Repository, newId: () => number): Route[];
}

/** `mint` issues the token of a job for an audience. */
export const startGithub = (
  mint: (audience: string) => Promise<string>,
): Promise<Repository & { jobEnv: Record<string, string> }> => start(github, mint);

export const startGitlab = (): Promise<Repository> =>
  start(gitlab, () => Promise.reject(new Error("GitLab has no such endpoint")));

const start = async (dialect: Dialect, mint: (audience: string) => Promise<string>) => {
  let ids = 100;
  const repository: Repository & { jobEnv: Record<string, string> } = {
    url: "",
    jobEnv: {},
    head: "",
    comments: [],
    issues: [],
    requests: [],
    merged: {},
    ...{ runs: new Map(), jobs: new Map(), files: new Map(), environments: new Map() },
    isReadOnly: false,
    close: () => new Promise((done) => server.close(() => done()).closeAllConnections()),
  };
  const routes = dialect.routes(repository, () => ++ids);
  const server: Server = createServer((request, response) => {
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
    repository.requests.push(`${method} ${url.pathname}`);
    if (bearer !== `Bearer ${TOKEN}`) return send(response, 401, { message: "Bad credentials" });
    const isWrite = method !== "GET" && url.pathname !== "/graphql";
    if ((isWrite && repository.isReadOnly) || !isPermitted(repository.permissions, url.pathname, isWrite))
      return send(response, 403, { message: "Resource not accessible by integration" });
    const route = routes.find(([verb, path]) => verb === method && path.test(url.pathname));
    if (route === undefined) return send(response, 404, { message: "Not Found" });
    const [, path, act] = route;
    const names = (path.exec(url.pathname) ?? []).slice(1);
    const made = act({ ids: names.map(Number), names, body: text ? JSON.parse(text) : {} });
    if (made === undefined && method === "GET") return send(response, 404, { message: "Not Found" });
    if (typeof made === "string") return void response.writeHead(200).end(made);
    if (!Array.isArray(made)) return send(response, method === "DELETE" ? 204 : 200, made);
    const page = Number(url.searchParams.get("page") ?? 1);
    url.searchParams.set("page", String(page + 1));
    if (page * PAGE < made.length)
      response.setHeader("link", `<${repository.next ?? url}>; rel="next", <${url}>; rel="last"`);
    return send(response, 200, made.slice((page - 1) * PAGE, page * PAGE));
  };
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  repository.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  repository.jobEnv = {
    ACTIONS_ID_TOKEN_REQUEST_URL: `${repository.url}/token?api-version=2`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: JOB_TOKEN,
  };
  return repository;
};

/** https://docs.github.com/rest/authentication/permissions-required-for-github-apps */
const isPermitted = (permissions: Repository["permissions"], path: string, isWrite: boolean): boolean => {
  if (permissions === undefined || path === "/graphql") return true;
  const isOfChange = /\/pulls\b|\/issues\/7\/|\/comments\//.test(path);
  const name = /\/(?:environments|actions)\//.test(path) ? "actions" : isOfChange ? "pull-requests" : "issues";
  return permissions[name] === "write" || (!isWrite && permissions[name] === "read");
};

const send = (response: ServerResponse, status: number, json: unknown): void => {
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(status === 204 ? "" : JSON.stringify(json ?? {}));
};

const github: Dialect = {
  me: "github-actions[bot]",
  routes: (repository, newId) => {
    const { comments, issues } = repository;
    const comment = ({ id, body, author }: Comment) => ({
      id,
      body,
      user: { login: author },
      html_url: `https://github.example/pull/7#issuecomment-${id}`,
    });
    const issue = ({ id, title, body, author, isOpen }: Issue) => ({
      number: id,
      title,
      body,
      user: { login: author },
      state: isOpen ? "open" : "closed",
      html_url: `https://github.example/issues/${id}`,
    });
    return routesOf({ me: github.me, comments, issues, newId }, comment, issue, {
      comments: /^\/repos\/acme\/access\/issues\/7\/comments$/,
      comment: /^\/repos\/acme\/access\/issues\/comments\/(\d+)$/,
      issues: /^\/repos\/acme\/access\/issues$/,
      issue: /^\/repos\/acme\/access\/issues\/(\d+)$/,
      issueComments: /^\/repos\/acme\/access\/issues\/(\d+)\/comments$/,
      update: "PATCH",
      description: "body",
      closes: ({ state }) => state === "closed",
    }).concat([
      ["POST", /^\/graphql$/, () => ({ data: { viewer: { login: github.me } } })],
      ["GET", /^\/repos\/acme\/access\/pulls\/7$/, () => ({ head: { sha: repository.head } })],
      [
        "GET",
        /^\/repos\/acme\/access\/commits\/[0-9a-f]+\/pulls$/,
        () => [
          {
            number: 6,
            merge_commit_sha: "6".repeat(40),
            merged_at: "2026-01-01T00:00:00Z",
            head: { sha: "6".repeat(40) },
          },
          {
            number: 7,
            merge_commit_sha: repository.merged.merge ?? null,
            merged_at: repository.merged.mergedAt ?? null,
            head: { sha: repository.head },
          },
        ],
      ],
      ["GET", /^\/repos\/acme\/access\/actions\/runs$/, () => ({ workflow_runs: [...repository.runs.values()] })],
      [
        "GET",
        /^\/repos\/acme\/access\/environments\/(.+)$/,
        ({ names: [name = ""] }) => repository.environments.get(name),
      ],
    ]);
  },
};

const gitlab: Dialect = {
  me: "21",
  routes: (repository, newId) => {
    const { comments, issues } = repository;
    const note = ({ id, body, author }: Comment) => ({ id, body, author: { id: Number(author) } });
    const issue = ({ id, title, body, author }: Issue) => ({
      iid: id,
      title,
      description: body,
      author: { id: Number(author) },
      web_url: `https://gitlab.example/issues/${id}`,
    });
    return routesOf({ me: gitlab.me, comments, issues, newId }, note, issue, {
      comments: /^\/projects\/42\/merge_requests\/7\/notes$/,
      comment: /^\/projects\/42\/merge_requests\/7\/notes\/(\d+)$/,
      issues: /^\/projects\/42\/issues$/,
      issue: /^\/projects\/42\/issues\/(\d+)$/,
      issueComments: /^\/projects\/42\/issues\/(\d+)\/notes$/,
      update: "PUT",
      description: "description",
      closes: ({ state_event: event }) => event === "close",
    }).concat([
      ["GET", /^\/user$/, () => ({ id: Number(gitlab.me) })],
      ["GET", /^\/projects\/42\/merge_requests\/7$/, () => ({ sha: repository.head })],
      [
        "GET",
        /^\/projects\/42\/repository\/commits\/[0-9a-f]+\/merge_requests$/,
        () => {
          const { merge, mergedAt } = repository.merged;
          const state = merge === undefined ? "opened" : "merged";
          return [
            { iid: 7, sha: repository.head, state, merged_at: mergedAt ?? null, merge_commit_sha: merge ?? null },
          ];
        },
      ],
      ["GET", /^\/projects\/42\/pipelines$/, () => [...repository.runs.values()]],
      [
        "GET",
        /^\/projects\/42\/pipelines\/(\d+)\/jobs$/,
        ({ ids: [id] }) => [...repository.jobs.values()].filter(({ pipeline }) => pipeline === id),
      ],
      [
        "GET",
        /^\/projects\/42\/jobs\/(\d+)\/artifacts\/\.irm-ci\/change\.json$/,
        ({ ids: [id = 0] }) => repository.files.get(id),
      ],
      [
        "GET",
        /^\/projects\/42\/protected_environments\/(.+)$/,
        ({ names: [name = ""] }) => repository.environments.get(name),
      ],
    ]);
  },
};

interface Paths {
  comments: RegExp;
  comment: RegExp;
  issues: RegExp;
  issue: RegExp;
  issueComments: RegExp;
  update: string;
  /** the member of an issue that has its text */
  description: string;
  closes(body: Record<string, string>): boolean;
}

const routesOf = (
  { me, comments, issues, newId }: { me: string; comments: Comment[]; issues: Issue[]; newId: () => number },
  comment: (one: Comment) => object,
  issue: (one: Issue) => object,
  { description, ...paths }: Paths,
): Route[] => {
  const write = (list: Comment[], body = ""): object => {
    const one = { id: newId(), author: me, body };
    list.push(one);
    return comment(one);
  };
  const find = <T extends Comment>(list: T[], id: number | undefined): T => {
    const one = list.find((each) => each.id === id);
    if (one === undefined) throw new Error(`there is no ${id}`);
    return one;
  };
  return [
    ["GET", paths.comments, () => comments.map(comment)],
    ["POST", paths.comments, ({ body }) => write(comments, body.body)],
    [
      paths.update,
      paths.comment,
      ({ ids: [id], body }) => comment(Object.assign(find(comments, id), { body: body.body })),
    ],
    ["DELETE", paths.comment, ({ ids: [id] }) => void comments.splice(comments.indexOf(find(comments, id)), 1)],
    ["GET", paths.issues, () => issues.filter(({ isOpen }) => isOpen).map(issue)],
    [
      "POST",
      paths.issues,
      ({ body }) => {
        const { title = "", [description]: text = "" } = body;
        const one: Issue = { id: newId(), author: me, title, body: text, isOpen: true, comments: [] };
        issues.push(one);
        return issue(one);
      },
    ],
    [
      paths.update,
      paths.issue,
      ({ ids: [id], body }) => {
        const one = find(issues, id);
        if (body[description] !== undefined) one.body = body[description];
        if (paths.closes(body)) one.isOpen = false;
        return issue(one);
      },
    ],
    ["POST", paths.issueComments, ({ ids: [id], body }) => write(find(issues, id).comments, body.body)],
  ];
};

/** The REST API of such a repository, as a job of GitHub or GitLab calls it. */
export const githubForgeOf = (
  { url }: Pick<Repository, "url">,
  env: Record<string, string> = {},
  token = TOKEN,
): Forge =>
  githubForge(
    { GITHUB_API_URL: url, GITHUB_GRAPHQL_URL: `${url}/graphql`, GITHUB_REPOSITORY: "acme/access", ...env },
    token,
  );
export const gitlabForgeOf = (
  { url }: Pick<Repository, "url">,
  env: Record<string, string> = {},
  token = TOKEN,
): Forge =>
  gitlabForge({ CI_API_V4_URL: url, CI_PROJECT_ID: "42", CI_PROJECT_URL: "https://gitlab.example/a", ...env }, token);
