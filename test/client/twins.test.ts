// A process of a run on a copy: its requests go to the twin, below addresses that stay, and to no other place.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { parseConfig } from "../../client/config.ts";
import type { HttpRequest } from "../../client/transport.ts";
import { ELSEWHERE_FILE, onTwins, TWINS_FILE, twinsNotice } from "../../client/twins.ts";
import { temporaryFolder } from "../support/command.ts";

const folder = temporaryFolder();
afterAll(folder.remove);

const SERVICE = "https://console-api.example.com/irm";
const TWIN = { address: SERVICE, url: "http://127.0.0.1:4711", token: "token-of-the-twin" };

let count = 0;
let place = "";
/** The environment of a run, with another file each time. */
const envOf = (content: object = {}, mode = 0o600): Record<string, string> => {
  const file = join(place, TWINS_FILE);
  const whole = { pid: process.pid, journal: join(place, "journal"), services: [TWIN], ...content };
  writeFileSync(file, JSON.stringify(whole), { mode });
  chmodSync(file, mode);
  return { IRM_TWINS: file, IRM_BASE_URL: SERVICE };
};

beforeEach(() => {
  count += 1;
  place = folder.path(`${count}`);
  mkdirSync(place);
});

const send = async (env: Record<string, string>, url: string): Promise<string> => {
  const sent: string[] = [];
  const transport = onTwins(async (request) => {
    sent.push(`${request.url.href} ${request.token}`);
    return { status: 200, headers: {}, body: "" };
  }, env);
  const request: HttpRequest = { method: "GET", url: new URL(url), token: "t", timeoutMs: 1 };
  await transport(request);
  return sent.join();
};

describe("in a run on a copy", () => {
  test("the seal of the settings does not bind", () => {
    const env = { ...envOf(), IRM_SEAL: "of-an-earlier-change.json" };
    expect(parseConfig(undefined, env).config).not.toHaveProperty("seal");
  });

  test("a request below the address of the service goes to the twin", async () => {
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
  ])("a request to %s is refused and noted: %s", async (url) => {
    const env = envOf();
    const { origin } = new URL(url);
    await expect(send(env, url)).rejects.toThrow(
      `this run is part of a review, and ${origin} is not the service that it has copied; nothing is sent there`,
    );
    expect(readFileSync(join(place, ELSEWHERE_FILE), "utf8")).toBe(`${origin}\n`);
  });

  test("the configuration keeps the address, and has the journal and the token of the run", () => {
    const { config, credentials } = parseConfig((key) => ({ "irm:journal": "/of/the/stack" })[key], envOf());
    expect(config).toMatchObject({ baseUrl: SERVICE, journal: join(place, "journal") });
    expect(credentials).toEqual({ env: { IRM_TOKEN: TWIN.token } });
    expect(existsSync(join(place, ELSEWHERE_FILE))).toBe(false);
  });

  test("a provider of another service is not configured, and noted", () => {
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

  test("the output says so", () => {
    expect(twinsNotice(envOf())).toBe(
      `this run is part of a review, and changes nothing: ${SERVICE} is its twin at http://127.0.0.1:4711`,
    );
    expect(twinsNotice({})).toBeUndefined();
  });
});

describe("a variable that no review has set stops the run", () => {
  const PID_MAX = 2 ** 22;
  test.each<[string, () => Record<string, string>, string]>([
    ["relative", () => ({ IRM_TWINS: "twins.json" }), "must be an absolute path"],
    ["missing", () => ({ IRM_TWINS: "/nowhere/twins.json" }), "names a file that cannot be read"],
    ["open to others", () => envOf({}, 0o644), "others have access to the file"],
    ["of a process that has ended", () => envOf({ pid: PID_MAX + 1 }), "that review has ended"],
    [
      "with a twin elsewhere",
      () => envOf({ services: [{ ...TWIN, url: "https://evil.example" }] }),
      "the file is not one of this version",
    ],
  ])("a file that is %s", async (_, make, problem) => {
    const env = { IRM_BASE_URL: SERVICE, ...make() };
    const text = `environment IRM_TWINS: ${problem}; only npx pulumi-irm review sets IRM_TWINS: unset it`;
    expect(parseConfig(undefined, env)).toMatchObject({ config: undefined, problems: [text] });
    await expect(send(env, `${SERVICE}/x`)).rejects.toThrow(text);
  });
});
