// The limits of an exchange and a refresh, in every encoding: each limit is applied or refused, and none is dropped.
// Otherwise a caller would silently get more than requested.
import { describe, expect, it } from "vitest";
import { capabilitiesFromBits, type OperationName } from "../../../schema/index.ts";
import { queryText, serve } from "../../harness/api-server.ts";
import { createUid } from "../../harness/records.ts";
import { payloadOf } from "../../harness/sts.ts";
import { grpcMethodOf } from "../../support/grpc.ts";
import type { Answer, Body } from "../../support/http.ts";
import { expectInvalid, expectRefusal, type Violations } from "../../support/refusal.ts";

const FORM = "application/x-www-form-urlencoded";

const api = await serve({ refreshTokens: true });
const group: string = await createUid(api, "groups", api.organization, { name: "narrow" });
// With the issuer and subject of the owner, so that only `identity` distinguishes the two.
const claimMatch = { issuer: api.issuer, subject: "owner" };
const second: string = await createUid(api, "identities", api.organization, { name: "two", claimMatch });
const audience: string = api.baseUrl.replace("127.0.0.1", "localhost");
const workload: string = await api.identityToken("owner");

type Operation = "Exchange" | "ExchangeRefreshToken";
type Encoding = (operation: Operation, token: string, request: Body) => Promise<Answer>;

const PATHS = { Exchange: "/sts/exchange", ExchangeRefreshToken: "/sts/exchange_refresh_token" } as const;

const snake = (request: Body): Body =>
  Object.fromEntries(
    Object.entries(request).map(([name, value]) => [name.replace(/[A-Z]/g, (c) => `_${c}`).toLowerCase(), value]),
  );

const post = (operation: Operation, token: string, body: string, contentType?: string, query: Body = {}) =>
  api.call("POST", PATHS[operation], {
    token,
    query,
    body: Buffer.from(body),
    headers: { "content-type": contentType as string },
  });

const ENCODINGS: Record<string, Encoding> = {
  "the query of a POST": (operation, token, query) => api.call("POST", PATHS[operation], { token, query }),
  "a form": (operation, token, request) => post(operation, token, queryText(request).slice(1), FORM),
  "a form in snake_case, with a charset": (operation, token, request) =>
    post(operation, token, queryText(snake(request)).slice(1), `${FORM}; charset=UTF-8`),
  JSON: (operation, token, request) => post(operation, token, JSON.stringify(request), "application/json"),
  "JSON in snake_case": (operation, token, request) =>
    post(operation, token, JSON.stringify(snake(request)), "Application/JSON; charset=utf-8"),
  "JSON, one text for a list of one": (operation, token, request) => {
    const single = Object.entries(request).map(([name, value]) => [name, value?.length === 1 ? value[0] : value]);
    return post(operation, token, JSON.stringify(Object.fromEntries(single)), "application/json");
  },
  "a query and JSON": (operation, token, { aud, ...request }) =>
    post(operation, token, JSON.stringify(request), "application/json", { aud }),
  gRPC: async (operation, token, request) => {
    const { code, message, details, json } = await api.grpc().call(operation, request, { token });
    return {
      status: code === 0 ? 200 : -code,
      headers: {},
      text: message,
      json: code === 0 ? json : { code, message, details },
    };
  },
};
const GET: Encoding = (_, token, query) => api.call("GET", "/sts/exchange", { token, query });

const capOf = (answer: Answer, token = answer.json.token): Body =>
  Object.fromEntries(
    Object.entries(payloadOf(token).cap as Record<string, string>).map(([at, bits]) => [
      at,
      capabilitiesFromBits(bits),
    ]),
  );

const [cap, scopes] = [["groups.list"], [group]];
const LISTS = ["CAP_IAM_GROUPS_LIST"];
const LIMITS: [what: string, request: Body, claims: Body][] = [
  ["aud", { aud: [audience] }, { aud: audience }],
  ["cap", { cap }, { cap: { [api.organization]: LISTS } }],
  ["scope", { scope: group }, { scopes }],
  ["scopes", { scopes }, { scopes }],
  ["cap and scopes", { cap, scopes }, { cap: { [group]: LISTS }, scopes }],
];

const expectGranted = (answer: Answer, token: string, expected: Body) => {
  expect(answer.status, answer.text).toBe(200);
  const { aud, internal } = payloadOf(token) as { aud: unknown; internal?: { scopes?: string[] } };
  const own: Body = { aud, cap: capOf(answer, token), scopes: internal?.scopes };
  for (const [name, value] of Object.entries(expected)) expect([name, own[name]]).toEqual([name, value]);
};

describe.each([...Object.entries(ENCODINGS), ["the query of a GET", GET] as const])(
  "an exchange by %s",
  (_, encode) => {
    const exchange = (request: Body) =>
      encode("Exchange", workload, { aud: [api.baseUrl], identity: api.identity, ...request });

    it.each(LIMITS)("has its limit applied: %s", async (_name, request, claims) => {
      const answer = await exchange(request);
      expectGranted(answer, answer.json.token, claims);
    });

    it("assumes the identity that it names", async () => {
      for (const uid of [api.identity, second])
        expect(payloadOf((await exchange({ identity: uid })).json.token).sub).toBe(uid);
      expect((await exchange({ identity: `${second.slice(0, -1)}f` })).json.code).toBe(7);
    });

    it("is refused with an identity provider, which does not exist", async () => {
      expect((await exchange({ identityProvider: group })).json).toMatchObject({
        code: 7,
        message: "Permission denied: the token may not be exchanged for this identity",
      });
    });

    it.each(["cap", "scopes"])("is refused with an empty item of %s", async (field) => {
      expect((await exchange({ [field]: ["groups.list", ""] })).json).toMatchObject({
        code: 3,
        message: `Invalid argument: ${field}: must not have an empty item`,
      });
    });
  },
);

describe.each(Object.entries(ENCODINGS))("a refresh by %s", (_, encode) => {
  const family = async (): Promise<string> =>
    (await api.exchange(workload, { aud: [api.baseUrl, audience], identity: api.identity })).json.refreshToken;

  it.each(LIMITS)("has its limit applied: %s", async (_name, request, claims) => {
    const answer = await encode("ExchangeRefreshToken", await family(), { aud: [api.baseUrl], ...request });
    expectGranted(answer, answer.json.token?.token, claims);
  });
});

describe.each(Object.keys(PATHS) as Operation[])("a request of %s", (operation) => {
  const UNKNOWN = "is not a field of the request";

  it.each(Object.entries(ENCODINGS).filter(([name]) => name !== "gRPC"))(
    "by %s is refused with a limit that is misspelt, or empty",
    async (_, encode) => {
      const request = { aud: [api.baseUrl], caps: ["groups.list"], Scope: group, scope: "" };
      const { status, json } = await encode(operation, workload, request);
      expect(status).toBe(400);
      expect(json.details[1].fieldViolations).toEqual(
        expect.arrayContaining([
          { field: "caps", description: UNKNOWN },
          { field: "scope", description: "must not be empty; leave it out" },
        ]),
      );
    },
  );

  it("over gRPC is refused with a field that has no number here", async () => {
    const { path } = grpcMethodOf(operation as OperationName);
    // Field 3 of an exchange was `cluster`, a limit; 100 is not assigned.
    const number = operation === "Exchange" ? 3 : 100;
    const key = number < 16 ? [(number << 3) | 2] : [((number << 3) & 127) | 128 | 2, number >> 4];
    const answer = await api.grpc().bytes(path, Buffer.from([...key, 1, 97]), { token: workload });
    expect(answer.code).toBe(3);
    expect(answer.details[1]?.fieldViolations[0]).toEqual({
      field: String(number),
      description: "is not the number of a field of the request",
    });
  });

  it.each([
    ["text/plain", "the content type must be application/json or application/x-www-form-urlencoded, not text/plain"],
    ["multipart/form-data; boundary=x", /not multipart\/form-data$/],
    ["application/xml", /not application\/xml$/],
    ["application/grpc", /not application\/grpc$/],
    ["", /, but the request has none$/],
  ])("with a body of the content type «%s» is 415", async (contentType, message) => {
    const headers: Body = contentType ? { "content-type": contentType } : {};
    const target = `${PATHS[operation]}${queryText({ aud: api.baseUrl })}`;
    const answer = await fetch(api.authUrl + target, {
      method: "POST",
      headers: { authorization: `Bearer ${workload}`, ...headers },
      body: Buffer.from('{"cap":["groups.list"]}'),
    });
    const json = (await answer.json()) as Body;
    expect([answer.status, json.code]).toEqual([415, 3]);
    expect(json.message).toMatch(message);
  });

  it.each<[string, string, Violations]>([
    ["that gives a name twice", '{"cap":["groups.list"],"cap":["groups.create"]}', { cap: "must be given once" }],
    ["that gives one field in two spellings", '{"scope":"a","sco\\u0070e":"b"}', { scope: "must be given once" }],
    ["with a number", '{"cap":[1],"scope":2}', { scope: "must be a string", "cap[0]": "must be a string" }],
    ["with an object", '{"scopes":{"a":"b"}}', { "scopes[0]": "must be a string" }],
    ["with a list for a text", '{"scope":["a"]}', { scope: "must be a string" }],
    ["that is a list", "[]", { "": "the body must be a JSON object" }],
  ])("with JSON %s is INVALID_ARGUMENT", async (_, body, violations) => {
    expectInvalid(await post(operation, workload, body, "application/json", { aud: api.baseUrl }), violations);
  });

  it("with malformed JSON is INVALID_ARGUMENT", async () => {
    const answer = await post(operation, workload, "aud=x&cap=groups.list", "application/json", { aud: api.baseUrl });
    expect(answer.json.message).toMatch(/^Invalid argument: the body is not JSON in UTF-8: /);
  });

  it("names one field in the query and in JSON: INVALID_ARGUMENT, unless it is a list", async () => {
    const twice = await post(operation, workload, `{"scope":"${group}"}`, "application/json", {
      aud: api.baseUrl,
      scope: group,
    });
    expectInvalid(twice, { scope: "must be given once" });
  });

  it("counts null as absent", async () => {
    const answer = await post(operation, workload, '{"scope":null,"cap":null}', "application/json", {});
    expectInvalid(answer, { aud: "Audience must be specified" });
  });
});

it.each([
  ["twice in the query", (own: string) => [`?identity=${own}&identity=${own}`, ""], "identity"],
  ["twice in the form", (own: string) => ["", `identity=${own}&identity=${own}`], "identity"],
  ["in the query and in the form", (own: string) => [`?identity=${own}`, "identity=another"], "identity"],
  ["in two ways", (own: string) => ["", `identity=${own}&identityProvider=a&identity_provider=`], "identityProvider"],
  ["in two spellings, one each", () => ["?identityProvider=", "identity_provider=a"], "identityProvider"],
] as const)(
  "a field that is no list, %s, is refused: a proxy between would read another value",
  async (_, request, field) => {
    const [query = "", form = ""] = request(api.identity);
    const target = `/sts/exchange?aud=${encodeURIComponent(api.baseUrl)}${query.replace("?", "&")}`;
    const answer = await api.call("POST", target, { token: workload, body: form, headers: { "content-type": FORM } });
    expectInvalid(answer, { [field]: "must be given once" });
  },
);

it.each([
  ["a form", "cap=groups.create", FORM],
  ["JSON", '{"cap":["groups.create"]}', "application/json"],
])("a list in the query and in %s is the union", async (_, body, contentType) => {
  const query = { aud: api.baseUrl, identity: api.identity, cap: "groups.list" };
  const answer = await post("Exchange", workload, body, contentType, query);
  expect(capOf(answer)).toEqual({ [api.organization]: ["CAP_IAM_GROUPS_CREATE", "CAP_IAM_GROUPS_LIST"] });
});

it("a GET with a body is INVALID_ARGUMENT: its limits could only be dropped", async () => {
  const answer = await api.call("GET", "/sts/exchange", {
    token: workload,
    query: { aud: api.baseUrl, identity: api.identity },
    body: { cap: ["groups.list"] },
  });
  expectInvalid(answer, { "": "a GET has no body; use the query, or POST" });
});

it("a refused limit returns no token, and an unknown name is quoted in part", async () => {
  const name = "n".repeat(1000);
  const answer = await api.call("POST", "/sts/exchange", { token: workload, query: { aud: api.baseUrl, [name]: "x" } });
  expectRefusal(answer, "INVALID_ARGUMENT", `${"n".repeat(100)}: is not a field of the request`, {
    details: [expect.objectContaining({ fieldViolations: [expect.anything()] })],
  });
});
