// A process of a run that a command of ours starts: its requests go to the copy or to the gate, below addresses that stay, and to no other place.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { parseConfig } from "../../client/config.ts";
import {
  ELSEWHERE_FILE,
  inRun,
  isOnTwins,
  mayRemove,
  RUN_FILE,
  type RunFile,
  readElsewhere,
  runIn,
  runNotice,
} from "../../client/run-file.ts";
import type { HttpRequest } from "../../client/transport.ts";
import { testFolder } from "../support/test-folder.ts";

const folder = testFolder();

const SERVICE = "https://console-api.example.com/irm";
const TWIN = { address: SERVICE, url: "http://127.0.0.1:4711", token: "token-of-the-twin" };

let count = 0;
let place = "";
const envOf = (content: object = {}, mode = 0o600): Record<string, string> => {
  const file = join(place, RUN_FILE);
  const whole = { kind: "review", pid: process.pid, journal: join(place, "journal"), services: [TWIN], ...content };
  writeFileSync(file, JSON.stringify(whole), { mode });
  chmodSync(file, mode);
  return { IRM_RUN: file, IRM_BASE_URL: SERVICE };
};

const applying = (further: object = {}) => envOf({ kind: "apply", journal: undefined, ...further });

beforeEach(() => {
  count += 1;
  place = folder.path(`${count}`);
  mkdirSync(place);
});

const send = async (env: Record<string, string>, url: string): Promise<string> => {
  const sent: string[] = [];
  const transport = inRun(async (request) => {
    sent.push(`${request.url.href} ${request.token}`);
    return { status: 200, headers: {}, body: "" };
  }, env);
  const request: HttpRequest = { method: "GET", url: new URL(url), token: "t", timeoutMs: 1 };
  await transport(request);
  return sent.join();
};

test("an apply removes what its change removes, and a review all that an exclusive set would", () => {
  const uid = "a".repeat(40);
  expect(mayRemove({}, uid)).toBe(true);
  expect(mayRemove(envOf(), uid)).toBe(true);
  place = `${place}-other`;
  mkdirSync(place);
  const env = envOf({ removes: [uid] });
  expect([mayRemove(env, uid), mayRemove(env, "b".repeat(40))]).toEqual([true, false]);
});

test("in a run on a copy a request below the address of the service goes to the twin", async () => {
  expect(await send(envOf(), `${SERVICE}/iam/v2beta1/groups?pageSize=1`)).toBe(
    "http://127.0.0.1:4711/iam/v2beta1/groups?pageSize=1 t",
  );
});

test.each([
  ["https://console-api.example.com/iam/v2beta1/groups", "the path is not below that of the service"],
  ["https://console-api.example.com/irm-2/groups", "another path that begins alike"],
  ["https://console-api.example.com.evil.example/irm/groups", "another host that begins alike"],
  ["http://console-api.example.com/irm/groups", "another protocol"],
  ["https://console-api.example.com:8443/irm/groups", "another port"],
])("in a run on a copy a request to %s is refused and noted: %s", async (url) => {
  const env = envOf();
  const { origin } = new URL(url);
  await expect(send(env, url)).rejects.toThrow(
    `this run is part of a review, and ${origin} is not the service that it has copied; nothing is sent there`,
  );
  expect(readFileSync(join(place, ELSEWHERE_FILE), "utf8")).toBe(`${origin}\n`);
});

test("in a run on a copy the configuration keeps the address, and has the journal and the token of the run", () => {
  const { config, credentials } = parseConfig((key) => ({ "irm:journal": "/of/the/stack" })[key], envOf());
  expect(config).toMatchObject({ baseUrl: SERVICE, journal: join(place, "journal") });
  expect(credentials).toEqual({ env: { IRM_TOKEN: TWIN.token } });
  expect(existsSync(join(place, ELSEWHERE_FILE))).toBe(false);
});

test("in a run on a copy a provider of another service is not configured, and noted", () => {
  const { config, problems } = parseConfig(
    (key) => ({ "irm:baseUrl": "https://other.example", "irm:tokenEnv": "OTHER" })[key],
    { ...envOf(), IRM_ALLOW_TOKEN_SOURCES: "OTHER" },
    { keys: ["irm:baseUrl", "irm:tokenEnv"], provider: "acme" },
  );
  expect(config).toBeUndefined();
  expect(problems[0]).toBe(
    "this run is part of a review, and https://other.example is not the service that it has copied; nothing is sent there",
  );
  expect(readFileSync(join(place, ELSEWHERE_FILE), "utf8")).toBe("https://other.example\n");
});

const noticeIn = (env: Record<string, string>) => runNotice(runIn(env)?.run as RunFile);

test("in a run on a copy the output says so", () => {
  expect(noticeIn(envOf())).toBe(
    `this run is part of a review, and changes nothing: ${SERVICE} is its twin at http://127.0.0.1:4711`,
  );
  expect(isOnTwins(envOf())).toBe(true);
  expect([runIn({}), isOnTwins({})]).toEqual([undefined, false]);
});

test("through the gate a request below the address of the service goes to the gate", async () => {
  expect(await send(applying(), `${SERVICE}/iam/v2beta1/groups`)).toBe("http://127.0.0.1:4711/iam/v2beta1/groups t");
});

test("through the gate a request may take longer: the gate looks for what a lost answer was about", async () => {
  const timeouts: number[] = [];
  const transport = inRun(async ({ timeoutMs }) => {
    timeouts.push(timeoutMs);
    return { status: 200, headers: {}, body: "" };
  }, applying());
  await transport({ method: "GET", url: new URL(`${SERVICE}/x`), token: "t", timeoutMs: 60_000 });
  expect(timeouts).toEqual([180_000]);
});

test("through the gate a request to a service without a gate is refused and noted", async () => {
  await expect(send(applying(), "https://other.example/iam/v2beta1/groups")).rejects.toThrow(
    "this run goes through the gate of npx pulumi-irm apply, and https://other.example is not the service that it applies a change to; nothing is sent there",
  );
  expect(readElsewhere(place)).toEqual(["https://other.example"]);
});

test("through the gate the configuration has its bearer and no identity, and keeps journal and settings", () => {
  const settings: Record<string, string> = {
    "irm:journal": "/of/the/stack",
    "irm:identity": `${"a".repeat(40)}/${"b".repeat(16)}`,
    "irm:requestTimeout": "7",
  };
  const { config, credentials } = parseConfig((key) => settings[key], { ...applying(), IRM_TOKEN: "of-the-service" });
  expect(config).toEqual({
    ...{ baseUrl: SERVICE, authUrl: SERVICE.replace("console-api", "issuer"), journal: "/of/the/stack" },
    ...{ requestTimeoutMs: 7000, credentials },
  });
  expect(credentials).toEqual({ env: { IRM_TOKEN: TWIN.token } });
});

test("through the gate the output says so, and it waits as any run on a service", () => {
  expect(noticeIn(applying())).toBe("this run goes through the gate of npx pulumi-irm apply");
  expect(isOnTwins(applying())).toBe(false);
});

const PID_MAX = 2 ** 22;
const ELSEWHERE = { ...TWIN, url: "https://evil.example" };

test.each<[string, () => Record<string, string>, string]>([
  ["relative", () => ({ IRM_RUN: "run.json" }), "must be an absolute path"],
  ["missing", () => ({ IRM_RUN: "/nowhere/run.json" }), "names a file that cannot be read"],
  ["open to others", () => envOf({}, 0o644), "others have access to the file"],
  ["of a process that has ended", () => envOf({ pid: PID_MAX + 1 }), "that review has ended"],
  ["of an apply that has ended", () => applying({ pid: PID_MAX + 1 }), "that apply has ended"],
  ["of another kind", () => envOf({ kind: "destroy" }), "the file is not one of this version"],
  ["with a twin elsewhere", () => envOf({ services: [ELSEWHERE] }), "the file is not one of this version"],
])("a variable that none of our commands has set stops the run a file that is %s", async (_, make, problem) => {
  const env = { IRM_BASE_URL: SERVICE, ...make() };
  const text = `environment IRM_RUN: ${problem}; only npx pulumi-irm review and npx pulumi-irm apply set IRM_RUN: unset it`;
  expect(parseConfig(undefined, env)).toMatchObject({ config: undefined, problems: [text] });
  await expect(send(env, `${SERVICE}/x`)).rejects.toThrow(text);
});
