// Pulumi Cloud as the engine uses it: stacks of several organizations, secrets that only it decrypts, and an environment. It notes what it is
// asked (github.com/pulumi/pulumi/blob/master/pkg/backend/httpstate/client/api_endpoints.go).
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { listen } from "../support/listen.ts";

type Json = Record<string, unknown>;

/** The ciphertext says nothing to any other service. */
const KEY = 0x5a;
const turned = (text: unknown): string =>
  Buffer.from(Buffer.from(String(text), "base64").map((byte) => byte ^ KEY)).toString("base64");

/** `environment` is what an environment resolves to: its members pulumiConfig and environmentVariables. */
export const startCloud = async (environment: Json) => {
  const token = "pul-of-the-caller";
  const stacks = new Map<string, Json>();
  const requests: string[] = [];
  const answerTo = (path: string, body: Json): Json | undefined => {
    if (path === "/api/capabilities") return { capabilities: [{ capability: "batch-encrypt" }] };
    if (path === "/api/user") return { githubLogin: "ann", organizations: [{ githubLogin: "acme" }] };
    if (path === "/api/user/organizations/default") return { gitHubLogin: "ann" };
    if (/^\/api\/esc\/.*\/yaml\/(check|open)$/.test(path)) return { id: "opened", ...wrapped(environment) };
    if (/^\/api\/esc\/.*\/yaml\/open\/opened$/.test(path)) return wrapped(environment);
    const [, api, list, org, project, stack, ...verbs] = path.split("/");
    if (`${api}/${list}` !== "api/stacks") return undefined;
    const name = `${org}/${project}/${stack}`;
    const state = stacks.get(name);
    if (!state) return undefined;
    const rest = verbs.join("/");
    if (rest === "") return { orgName: org, projectName: project, stackName: stack, tags: {}, version: 1 };
    if (rest === "export") return state;
    if (rest === "batch-encrypt") return { ciphertexts: (body.plaintexts as string[]).map(turned) };
    if (rest === "encrypt") return { ciphertext: turned(body.plaintext) };
    if (rest === "decrypt") return { plaintext: turned(body.ciphertext) };
    if (rest === "batch-decrypt") {
      const all = (body.ciphertexts as string[]).map((one) => [one, turned(one)]);
      return { plaintexts: Object.fromEntries(all) };
    }
    if (verbs.at(-1) === "checkpoint") stacks.set(name, body);
    return { updateID: "one", version: 1, token, updates: [] };
  };
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const received = await buffer(request);
    const bytes = headers["content-encoding"] === "gzip" ? gunzipSync(received) : received;
    const path = url.replace(/\?.*$/s, "");
    requests.push(`${method} ${path}`);
    const isKnown = [`token ${token}`, `update-token ${token}`].includes(headers.authorization ?? "");
    const body = jsonIn(bytes.toString());
    const found = isKnown ? answerTo(path, body) : undefined;
    const code = isKnown ? 404 : 401;
    response.writeHead(found ? 200 : code, { "content-type": "application/json" });
    response.end(JSON.stringify(found ?? { code, message: `${method} ${path}` }));
  });
  return {
    env: { PULUMI_BACKEND_URL: `http://127.0.0.1:${await listen(server)}`, PULUMI_ACCESS_TOKEN: token },
    /** deployments, by organization/project/stack */
    stacks,
    /** `METHOD path` of each request, since this was last called */
    takeRequests: (): string[] => requests.splice(0),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** The definition of an environment is YAML. */
const jsonIn = (text: string): Json => {
  try {
    return JSON.parse(text || "{}") as Json;
  } catch {
    return {};
  }
};

/** As https://pkg.go.dev/github.com/pulumi/esc#Value writes them: a text that begins with `secret:` is one. */
const wrapped = (environment: Json): Json => ({ properties: wrappedMembers(environment) });
const wrappedMembers = (members: Json): Json =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, wrappedValue(value)]));
const wrappedValue = (value: unknown): Json => {
  if (typeof value === "object") return { value: wrappedMembers(value as Json) };
  const [, secret] = /^secret:(.*)$/s.exec(String(value)) ?? [];
  return secret === undefined ? { value } : { value: secret, secret: true };
};
