import { expect, it } from "vitest";
import { clientWith } from "../../client/client.ts";
import type { Env } from "../../client/config.ts";
import { LostAnswer, redactor } from "../../client/errors.ts";
import type { ApiError, RequestOf } from "../../schema/index.ts";
import { manualClock } from "../harness/clock.ts";
import {
  BASE_URL,
  GROUP,
  IDENTITY,
  json,
  jwt,
  lostAnswer,
  ORG,
  page,
  refusal,
  scriptedTransport,
} from "../support/scripted.ts";
import { rejectionOf } from "../support/thrown.ts";

const WORKLOAD_TOKEN = jwt("workload");
const WORKLOAD: Env = { IRM_IDENTITY_TOKEN: WORKLOAD_TOKEN };
// A request as the loop writes it: without what only the service sets.
const NEW = { parent: ORG, group: { name: "eng" } } as RequestOf<"CreateGroup">;
const group = json({ uid: GROUP, name: "eng" });
const token = (mark: string) => json({ token: `api-token-${mark}` });

const setUp = (env: Env, ...steps: Parameters<typeof scriptedTransport>) => {
  const { transport, requests } = scriptedTransport(...steps);
  const clock = manualClock();
  const config = {
    baseUrl: BASE_URL,
    authUrl: env.IRM_AUTH_URL ?? "https://issuer.example.com",
    identity: IDENTITY,
    requestTimeoutMs: 60_000,
  };
  return { ...clientWith({ config, env, clock, redactor: redactor(), transport }), requests, clock };
};

const errorOf = (run: Promise<unknown>): Promise<ApiError> => rejectionOf<ApiError>(run);

const failureOf = (...given: Parameters<typeof setUp>) => errorOf(setUp(...given).call("GetGroup", { uid: GROUP }));

const textsOf = (requests: { method: string; url: URL; token: string }[]) =>
  requests.map(({ method, url, token }) => `${method} ${url.host}${url.pathname} ${token}`);

it("call escapes control characters in the service's texts", async () => {
  const text = "no\u001b[2J\u009b1m\u202e\nforged line";
  const refused = refusal("INVALID_ARGUMENT", text);
  const status = JSON.parse(refused.body);
  status.details.push({
    "@type": "type.googleapis.com/google.rpc.BadRequest",
    fieldViolations: [{ field: "name\u001b", description: text }],
  });
  const { call } = setUp(WORKLOAD, token("1"), { ...refused, body: JSON.stringify(status) });
  const error = await errorOf(call("CreateGroup", NEW));
  const shown = "no\\u001b[2J\\u009b1m\\u202e\\u000aforged line";
  expect(error.message).toContain(shown);
  expect(error.fieldViolations).toContainEqual({ field: "name\\u001b", description: shown });
  expect(JSON.stringify([error.message, error.details])).not.toMatch(/\\u001b\[(?!2J)|\u009b|\u202e/);
});

it("call exchanges the workload's token as the API documents, and uses the API token", async () => {
  const { call, requests } = setUp(WORKLOAD, token("1"), group);
  expect(await call("GetGroup", { uid: GROUP })).toEqual({ uid: GROUP, name: "eng" });
  expect(requests[0]?.url.searchParams.getAll("aud")).toEqual([BASE_URL]);
  expect(requests[0]?.url.searchParams.get("identity")).toBe(IDENTITY);
  expect(textsOf(requests)).toEqual([
    `GET issuer.example.com/sts/exchange ${WORKLOAD_TOKEN}`,
    `GET console-api.example.com/iam/v2beta1/groups/${GROUP} api-token-1`,
  ]);
});

const ACTIONS = {
  ACTIONS_ID_TOKEN_REQUEST_URL: "https://actions.example.com",
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: "request-token",
};

it("call asks GitHub for a token whose audience is the issuer", async () => {
  const env = { ...ACTIONS, ACTIONS_ID_TOKEN_REQUEST_URL: "https://actions.example.com/oidc?api-version=2" };
  const { call, requests } = setUp(env, json({ value: "github-token" }), token("1"), group);
  await call("GetGroup", { uid: GROUP });
  expect(requests[0]?.url.search).toBe("?api-version=2&audience=https%3A%2F%2Fissuer.example.com");
  expect(requests.map(({ token }) => token)).toEqual(["request-token", "github-token", "api-token-1"]);
});

it("call reports that GitHub gave no token", async () => {
  expect(await failureOf(ACTIONS, page(403))).toMatchObject({
    code: "UNAVAILABLE",
    message: "GitHub Actions returned no OIDC token (HTTP 403)",
  });
});

it.each([
  ["no JSON", "opaque-token"],
  ["null", "null"],
  ["without a token", "{}"],
])("call asks GitHub again after a response that is %s, and does not quote it", async (_, body) => {
  const answer = { status: 200, headers: {}, body };
  const { call, requests } = setUp(ACTIONS, answer);
  const error = await errorOf(call("GetGroup", { uid: GROUP }));
  expect(error).toMatchObject({ code: "UNAVAILABLE", message: "GitHub Actions returned no OIDC token (HTTP 200)" });
  expect(requests).toHaveLength(5);
  const next = setUp(ACTIONS, answer, json({ value: "github-token" }), token("1"), group);
  await next.call("GetGroup", { uid: GROUP });
  expect(next.requests).toHaveLength(4);
});

it("call names the token that the exchange refused, the identity and the address", async () => {
  const { call, requests } = setUp(WORKLOAD, refusal("PERMISSION_DENIED", "verifying token: oidc: token is expired"));
  expect(await errorOf(call("GetGroup", { uid: GROUP }))).toMatchObject({
    code: "PERMISSION_DENIED",
    operation: "Exchange",
    message:
      `exchanging the token of IRM_IDENTITY_TOKEN for identity ${IDENTITY} at https://issuer.example.com/sts/exchange: ` +
      "Permission denied: verifying token: oidc: token is expired",
  });
  expect(requests).toHaveLength(1);
});

it.each([
  ["the token may not be exchanged for this identity", true],
  ["verifying token: oidc: token is expired (Token Expiry: 2026-01-28 12:54:21 +0000 UTC)", false],
  ['the token may not be exchanged for this identity: invalid "sub"', false],
])("call asks whether a local server was restarted where that is open: %s", async (text, isOpen) => {
  const refused = refusal("PERMISSION_DENIED", text);
  const { message } = await failureOf({ ...WORKLOAD, IRM_AUTH_URL: "http://127.0.0.1:8080" }, refused);
  expect(message.includes("Was this server restarted without --db?")).toBe(isOpen);
});

it("call asks for the address where a service answers that has no token exchange", async () => {
  const refused = refusal("NOT_FOUND", "there is no /iam/sts/exchange");
  const { message } = await failureOf({ ...WORKLOAD, IRM_AUTH_URL: "http://127.0.0.1:8080/iam" }, refused);
  expect(message).toContain(
    "there is no /iam/sts/exchange\nIs this the address of the token exchange? It comes from irm:authUrl (or IRM_AUTH_URL), and without one from irm:baseUrl (or IRM_BASE_URL).",
  );
  expect(message).not.toContain("restarted");
});

it("call refuses an exchange whose response has no token", async () => {
  expect(await failureOf(WORKLOAD, json({}))).toMatchObject({
    code: "UNKNOWN",
    message: expect.stringContaining("the response contains no token"),
  });
});

it("call retries the exchange, which changes nothing", async () => {
  const { call, requests } = setUp(WORKLOAD, page(502), lostAnswer(true), token("1"), group);
  await call("GetGroup", { uid: GROUP });
  expect(requests).toHaveLength(4);
});

it("call repeats a request once with a new token after a 401", async () => {
  const { call, requests } = setUp(WORKLOAD, token("1"), refusal("UNAUTHENTICATED", "expired"), token("2"), group);
  await call("CreateGroup", NEW);
  expect(requests.map(({ token }) => token)).toEqual([WORKLOAD_TOKEN, "api-token-1", WORKLOAD_TOKEN, "api-token-2"]);
});

const expired = refusal("UNAUTHENTICATED", "expired");
const denied = refusal("PERMISSION_DENIED", "groups.create is missing");
it.each<[string, Env, Parameters<typeof scriptedTransport>, string, number]>([
  ["a second 401", WORKLOAD, [token("1"), expired, token("2"), expired], "UNAUTHENTICATED", 4],
  ["a 401 with a given token, which cannot be renewed", { IRM_TOKEN: "given" }, [expired], "UNAUTHENTICATED", 1],
  ["a denial", WORKLOAD, [token("1"), denied], "PERMISSION_DENIED", 2],
])("call does not repeat a request after %s", async (_, env, steps, code, count) => {
  for (const operation of ["CreateGroup", "GetGroup"] as const) {
    const { call, requests, clock } = setUp(env, ...steps);
    const run = operation === "GetGroup" ? call(operation, { uid: GROUP }) : call(operation, NEW);
    expect(await errorOf(run)).toMatchObject({ code, operation });
    expect(requests).toHaveLength(count);
    expect(clock.sleeps).toEqual([]);
  }
});

it("call retries a denial with new tokens where the permission may not have arrived yet", async () => {
  const { call, requests, clock } = setUp(WORKLOAD, token("1"), denied, token("2"), denied, token("3"), group);
  await call("CreateGroup", NEW, { permissionIsNew: true });
  expect(requests.map(({ token }) => token).filter((used) => used !== WORKLOAD_TOKEN)).toEqual([
    "api-token-1",
    "api-token-2",
    "api-token-3",
  ]);
  expect(clock.sleeps).toEqual([0, 2_000]);
});

it("call stops waiting for a permission after five attempts", async () => {
  const { call, requests, clock } = setUp({ IRM_TOKEN: "given" }, refusal("PERMISSION_DENIED", "no"));
  const create = call("CreateGroup", NEW, { permissionIsNew: true });
  expect(await errorOf(create)).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(requests).toHaveLength(5);
  expect(clock.sleeps).toEqual([0, 2_000, 8_000, 16_000]);
});

const create = (call: ReturnType<typeof setUp>["call"]) => call("CreateGroup", NEW);

const unknown: [string, Parameters<typeof scriptedTransport>[0]][] = [
  ["a reset", lostAnswer(true)],
  ["503", refusal("UNAVAILABLE", "busy")],
  ["an answer without a uid", json({ name: "x" })],
];
for (const [reason, step] of unknown)
  it(`a create is sent once, and its outcome is unknown, after ${reason}`, async () => {
    const { call, requests } = setUp({ IRM_TOKEN: "given" }, step);
    expect(await errorOf(create(call))).toBeInstanceOf(LostAnswer);
    expect(requests).toHaveLength(1);
  });

it("a create is sent again when it certainly did not arrive", async () => {
  const { call, requests } = setUp(
    { IRM_TOKEN: "given" },
    lostAnswer(false),
    refusal("RESOURCE_EXHAUSTED", "slowly"),
    group,
  );
  await create(call);
  expect(requests).toHaveLength(3);
});

it("a create that never arrived has a known outcome", async () => {
  const { call } = setUp({ IRM_TOKEN: "given" }, lostAnswer(false));
  const error = await errorOf(create(call));
  expect(error).toMatchObject({ code: "UNAVAILABLE" });
  expect(error).not.toBeInstanceOf(LostAnswer);
});
