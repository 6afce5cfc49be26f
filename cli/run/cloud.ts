// The backend of a run on a twin whose stack is on Pulumi Cloud: a server on loopback. It passes reads on to Pulumi Cloud with the caller's
// token, so that secrets, references and environments are those of the update. Writes of an update stay here, in memory. The engine's
// requests: github.com/pulumi/pulumi/blob/master/pkg/backend/httpstate/client/api_endpoints.go
import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { EnvHttpProxyAgent, request as send } from "undici";
import { type Engine, EngineError, stackFlag } from "../../pulumi/command.ts";
import { backendOf, pulumiHome, textOrEmpty } from "../../pulumi/project.ts";
import { isObject, type Json } from "../../schema/index.ts";
import type { Original } from "./copy-stack.ts";

interface Cloud {
  /** without a slash at its end */
  url: string;
  token: string;
}

/** The backend with the stacks of this folder; undefined for a bucket or a folder. Throws EngineError without a token. */
export const cloudOf = (env: NodeJS.ProcessEnv, cwd: string): Cloud | undefined => {
  const url = (backendOf(env, cwd) || "https://api.pulumi.com").replace(/\/+$/, "");
  if (!/^https?:/.test(url)) return undefined;
  const token = env.PULUMI_ACCESS_TOKEN || tokenIn(pulumiHome(env), url);
  if (token === undefined)
    throw new EngineError(`there is no token for ${url}: run pulumi login, or set PULUMI_ACCESS_TOKEN`);
  return { url, token };
};

const tokenIn = (home: string, url: string): string | undefined => {
  try {
    const { accounts, accessTokens } = JSON.parse(textOrEmpty(join(home, "credentials.json"))) as Json;
    const account = isObject(accounts) ? accounts[url] : undefined;
    const found = isObject(account) ? account.accessToken : isObject(accessTokens) ? accessTokens[url] : undefined;
    return typeof found === "string" ? found : undefined;
  } catch {
    // The text of the error may quote the file.
    return undefined;
  }
};

/** organization/project/stack of a stack on Pulumi Cloud. Errors: EngineError. */
export const fullNameOf = async (engine: Engine, { name, cwd, env }: Original): Promise<string> =>
  (await engine.must(["stack", "--show-name", "--fully-qualify-stack-names", ...stackFlag(name)], { cwd, env })).trim();

/** The configuration of such a stack, without its secrets. Errors: EngineError. */
export const configOf = async (engine: Engine, { name, cwd, env }: Original): Promise<Json> => {
  const printed = await engine.must(["config", "--json", ...stackFlag(name)], { cwd, env });
  const values = JSON.parse(printed) as Record<string, { value?: unknown }>;
  return Object.fromEntries(Object.entries(values).map(([key, { value }]) => [key, value]));
};

export type CloudBackend = Awaited<ReturnType<typeof startCloudBackend>>;

const CAPABILITIES = "/api/capabilities";
// No `..`, and nothing that is encoded.
const NAME = "(?!\\.)[\\w.-]+";
const STACK = `/api/stacks/${NAME}/${NAME}/${NAME}`;
const matching = (path: string) => new RegExp(`^${path}$`);

/** Requests that only read there. */
const PASSED: readonly (readonly [method: string, path: RegExp])[] = [
  ["GET", matching(CAPABILITIES)],
  ["GET", matching("/api/user(/organizations/default)?")],
  ["GET", matching(`${STACK}(/(export|config|updates))?`)],
  ["POST", matching(`${STACK}/(batch-)?(encrypt|decrypt)`)],
  ["POST", matching(`/api/esc/environments/${NAME}/yaml/(check|open)`)],
  ["GET", matching(`/api/esc/environments/${NAME}/yaml/open/${NAME}`)],
];

/** Of a request that is passed on. */
const HEADERS = ["accept", "content-type", "user-agent", "x-pulumi-source"];

/** Of the stack that runs. */
const UPDATE = /^\/(preview|update)$/;
const OF_UPDATE = /^\/(?:preview|update)\/[\w-]+(?:\/([\w/]+))?$/;

/** `stack` is organization/project/stack. The engine reaches the backend with its `env`. */
export const startCloudBackend = async ({ url, token }: Cloud, stack: string) => {
  const bearer = randomBytes(32).toString("hex");
  const own = `/api/stacks/${stack}`;
  const agent = new EnvHttpProxyAgent();
  let saved: string | undefined;

  /** JSON; undefined: not answered here. */
  const answerTo = (method: string, path: string, body: Buffer): string | undefined => {
    if (!path.startsWith(`${own}/`)) return undefined;
    const rest = path.slice(own.length);
    if (method === "GET") return rest === "/export" ? saved : undefined;
    if (UPDATE.test(rest)) return JSON.stringify({ updateID: "twin" });
    if (method === "PATCH" && rest === "/tags") return "{}";
    const [found, verb = ""] = OF_UPDATE.exec(rest) ?? [];
    if (found === undefined) return undefined;
    // The answer of an export has the same members.
    if (verb === "checkpoint") saved = body.toString();
    return verb === "" || verb === "renew_lease" ? JSON.stringify({ version: 1, token: bearer }) : "{}";
  };

  const pass = async ({ method, url: target = "", headers }: IncomingMessage, body: Buffer, path: string) => {
    const own = HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
    const answer = await send(url + target, {
      method: method as "GET" | "POST",
      headers: { ...Object.fromEntries(own), authorization: `token ${token}` },
      body: body.length > 0 ? body : null,
      dispatcher: agent,
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) return { status: answer.statusCode, text };
    if (path === CAPABILITIES) {
      // Without the others, the engine sends whole checkpoints, and no parts of one.
      const { capabilities } = JSON.parse(text) as { capabilities?: { capability?: unknown }[] };
      const kept = (capabilities ?? []).filter(({ capability }) => capability === "batch-encrypt");
      return { status: 200, text: JSON.stringify({ capabilities: kept }) };
    }
    return { status: 200, text: path.endsWith("/export") ? withAddress(text, url, address) : text };
  };

  const answer = async (request: IncomingMessage): Promise<{ status: number; text: string }> => {
    const refusal = (status: number, message: string) => ({ status, text: JSON.stringify({ code: status, message }) });
    const { method = "", url: target = "", headers } = request;
    if (!isBearer(headers.authorization, bearer)) return refusal(401, "this backend is for one run on a twin");
    const received = await buffer(request);
    const body = headers["content-encoding"] === "gzip" ? gunzipSync(received) : received;
    const path = target.replace(/\?.*$/s, "");
    const known = answerTo(method, path, body);
    if (known !== undefined) return { status: 200, text: known };
    if (PASSED.some(([one, pattern]) => one === method && pattern.test(path))) return pass(request, body, path);
    return refusal(403, `a run on a twin does not send ${method} ${path} to the backend of the stack`);
  };

  const server = createServer((request, response) => {
    answer(request).then(
      ({ status, text }) => response.writeHead(status, { "content-type": "application/json" }).end(text),
      (error: Error) => response.writeHead(502).end(error.message),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    env: { PULUMI_BACKEND_URL: address, PULUMI_ACCESS_TOKEN: bearer },
    close: () => {
      server.close();
      server.closeAllConnections();
      void agent.destroy();
    },
  };
};

/** A state whose secrets Pulumi Cloud decrypts has the address of Pulumi Cloud. */
const withAddress = (exported: string, from: string, to: string): string => {
  const parsed: unknown = JSON.parse(exported);
  const deployment = isObject(parsed) ? parsed.deployment : undefined;
  const secrets = isObject(deployment) ? deployment.secrets_providers : undefined;
  const state = isObject(secrets) ? secrets.state : undefined;
  if (!isObject(state) || String(state.url).replace(/\/+$/, "") !== from) return exported;
  state.url = to;
  return JSON.stringify(parsed);
};

/** The engine's own requests have a token, and those of an update the token of its lease. */
const isBearer = (header: string | undefined, bearer: string) => {
  const given = Buffer.from(/^(?:token|update-token) (.+)$/.exec(header ?? "")?.[1] ?? "");
  return given.length === bearer.length && timingSafeEqual(given, Buffer.from(bearer));
};
