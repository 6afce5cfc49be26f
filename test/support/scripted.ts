// A transport that answers from a script, and a session of the provider over it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Env } from "../../client/config.ts";
import { readConfig } from "../../client/credentials.ts";
import { AttemptError } from "../../client/retry.ts";
import type { HttpAnswer, HttpRequest, Transport } from "../../client/transport.ts";
import { methodsWith } from "../../provider/engine/methods.ts";
import { stackOf } from "../../provider/run/journal.ts";
import { journalPath } from "../../provider/run/journal-path.ts";
import { sessionWith } from "../../provider/run/session.ts";
import { ApiError, apiError, type Code, codes, statusFromError } from "../../schema/index.ts";
import { manualClock, START_MS } from "../harness/clock.ts";

export const ORG = "720909c9f5279097d847ad02a2f24ba8f59de36a";
export const GROUP = `${ORG}/a033a6fabe0bfa0d`;
export const IDENTITY = `${GROUP}/1111111111111111`;
export const ROLE = "63921b2c44617e3f2603851537be0123af4a57d7";
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export const json = (value: unknown, status = 200, headers = {}): HttpAnswer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(value),
});

/** An error as the API sends it. */
export const refusal = (code: Code, text: string, headers = {}): HttpAnswer =>
  json(statusFromError(apiError(code, text), "iam.chainguard.dev"), codes[code].http, headers);

export const page = (status: number): HttpAnswer => ({
  status,
  headers: { "content-type": "text/html" },
  body: "<html>Bearer secret</html>",
});

export const lostAnswer = (sent: boolean): AttemptError =>
  new AttemptError({ sent }, new ApiError("UNAVAILABLE", sent ? "other side closed" : "connect ECONNREFUSED"));

export interface Recorded extends HttpRequest {
  json: Record<string, unknown> | undefined;
}

type Step = HttpAnswer | Error | ((request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>);

/** Answers each request with the next step; the last one repeats. */
export const scriptedTransport = (...steps: Step[]): { transport: Transport; requests: Recorded[] } => {
  const requests: Recorded[] = [];
  return {
    requests,
    transport: async (request) => {
      requests.push({ ...request, json: request.body === undefined ? undefined : JSON.parse(request.body) });
      const step = (steps.length > 1 ? steps.shift() : steps[0]) as Step;
      if (step instanceof Error) throw step;
      return typeof step === "function" ? step(request) : step;
    },
  };
};

/** Has the form of a token, without a valid signature. */
export const tokenWith = (claims: object, mark = "c2ln"): string =>
  [...[{ alg: "none" }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")), mark].join(".");
/** The same of a workload's. */
export const jwt = (mark: string): string => tokenWith({ sub: mark }, mark);

export const BASE_URL = "https://console-api.example.com";

export const getter =
  (config: Record<string, string> = {}) =>
  (key: string): string | undefined =>
    config[key];

/** Of this process; gone with it. */
export const journalFolder = mkdtempSync(join(tmpdir(), "irm-journal-"));
process.on("exit", () => rmSync(journalFolder, { recursive: true, force: true }));

/** What the constructor of a resource adds. */
export const keyOf = (name: string): { __key: string } => ({ __key: `organization/project/stack/Test::${name}` });

/** A session whose requests are answered by a script. */
export const scriptedSession = (...steps: Step[]) => {
  const { transport: answer, requests } = scriptedTransport(...steps);
  // Requests for the time are not part of the script.
  const transport: Transport = async (request) =>
    request.url.pathname.startsWith("/ping/")
      ? json({}, 200, { date: new Date(START_MS).toUTCString() })
      : answer(request);
  const clock = manualClock();
  const env: Env = { IRM_BASE_URL: BASE_URL, IRM_TOKEN: "api-token", IRM_JOURNAL: usedJournal(BASE_URL) };
  const outside = { env, clock, transport, log: () => undefined };
  const session = sessionWith(readConfig(getter(), env), outside);
  // Nor is what was there before.
  session.ownership.originOf = () => "created";
  return { session, requests, clock };
};

/** A folder with the journal of the stack that `keyOf` names: this machine created its records, so no search for others is needed. */
export const usedJournal = (baseUrl: string): string => {
  const journal = mkdtempSync(join(journalFolder, "s-"));
  const config = readConfig(getter(), { IRM_BASE_URL: baseUrl, IRM_JOURNAL: journal });
  writeFileSync(journalPath(stackOf(keyOf("").__key), config, {}, process.cwd()), "");
  return journal;
};

/** What the stack configuration of `scriptedMethods` has. */
export const SCRIPTED_CONFIG = { config: { get: getter({ "irm:baseUrl": BASE_URL }) } };

/** The methods of a process whose requests are answered by a script; `env` has its credentials. */
export const scriptedMethods = (env: Record<string, string>, ...steps: Step[]) => {
  const { transport, requests } = scriptedTransport(...steps);
  const messages: string[] = [];
  const own = { IRM_BASE_URL: BASE_URL, IRM_JOURNAL: usedJournal(BASE_URL), ...env };
  const environment = { env: own, clock: manualClock(), transport, log: (text: string) => void messages.push(text) };
  return { methods: methodsWith(environment), requests, messages };
};

/** The group of the uid that a request asks for; of a create, a new one. */
export const groupAsked = ({ method, url }: HttpRequest): HttpAnswer => {
  const uid = method === "POST" ? GROUP : /\/groups\/(.+)$/.exec(url.pathname)?.[1];
  return json({ uid: uid ?? GROUP, name: "eng", createTime: new Date(START_MS).toISOString() });
};

/** The same, of a process that has its configuration and a token. By default each answer is a group. */
export const configuredMethods = async (...steps: Step[]) => {
  const own = scriptedMethods({ IRM_TOKEN: "token" }, ...(steps.length > 0 ? steps : [groupAsked]));
  await own.methods.group.configure(SCRIPTED_CONFIG);
  return own;
};
