import { describe, expect, it } from "vitest";
import { capabilitiesFromBits, type ExchangeRequest, type Identity, isUidp, RawToken } from "../../../schema/index.ts";
import { createSigner } from "../../../server/sts/index.ts";
import { NOON_MS } from "../../harness/clock.ts";
import {
  ANYONE,
  API,
  API_KEY,
  AUTH_URL,
  CONSOLE,
  claimsFrom,
  createService,
  DENIED,
  GROUP,
  headerOf,
  identity,
  NOW,
  ORG,
  OTHER_RSA,
  payloadOf,
  RSA,
  SUBJECT,
  serveIssuer,
  sign,
  UID,
  UNAUTHENTICATED,
} from "../../harness/sts.ts";
import { KEYS } from "./must-refuse/target.ts";

const issuer = await serveIssuer(Object.values(KEYS));

const ci = () => identity({ claimMatch: { issuer: issuer.url, subject: SUBJECT } });

const ANY = { subjectPattern: ".*" };
/** A token that is taken. */
const good = () => sign(claimsFrom(issuer.url));

describe("a workload's token is exchanged for an API token", () => {
  it("that names no key, when the issuer has one of its algorithm", async () => {
    const { sts } = createService([ci()]);
    const token = await sign(claimsFrom(issuer.url), KEYS.P384, { alg: "ES384", kid: undefined });
    expect(await sts.exchange({ identity: UID }, token)).toHaveProperty("token");
  });

  it("that names Google in its short form", async () => {
    const staticKeys = {
      issuer: "https://accounts.google.com",
      subject: SUBJECT,
      issuerKeys: JSON.stringify({ keys: [RSA.jwk] }),
    };
    const { sts } = createService([identity({ staticKeys })]);
    const { token } = await sts.exchange({ identity: UID }, await sign(claimsFrom("accounts.google.com")));
    expect(payloadOf(token).act).toMatchObject({ iss: "https://accounts.google.com" });
  });

  it("with the documented claims, and a response of only the token and its expiry", async () => {
    const { sts } = createService([ci()], {
      capabilitiesOf: () => new Map([[GROUP, new Set(["CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST"])]]),
    });
    const upstream = claimsFrom(issuer.url, {
      email: "ci@my-org.example",
      email_verified: true,
      aud: ["other", AUTH_URL],
    });
    const reply = await sts.exchange({ identity: UID }, await sign(upstream));
    expect(reply).toEqual({ token: expect.any(String), expiry: "2026-01-28T13:00:00.000Z" });
    expect(RawToken.parse(reply)).toEqual(reply);
    const { token } = reply;
    expect(headerOf(token)).toEqual({ alg: "RS256", kid: expect.any(String), typ: "JWT" });
    const { cap, ...claims } = payloadOf(token);
    expect(claims).toEqual({
      iss: AUTH_URL,
      sub: UID,
      aud: API,
      iat: NOW,
      exp: NOW + 3600,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      act: { iss: issuer.url, sub: SUBJECT, aud: AUTH_URL },
      email: "ci@my-org.example",
      email_verified: true,
    });
    expect(Object.keys(cap as object)).toEqual([GROUP]);
    expect(capabilitiesFromBits((cap as Record<string, string>)[GROUP] ?? "")).toEqual([
      "CAP_IAM_GROUPS_LIST",
      "CAP_IAM_ROLES_LIST",
    ]);
  });

  it("without a malformed email, and with an empty cap claim when its identity is bound nowhere", async () => {
    const { sts } = createService([ci()]);
    const upstream = claimsFrom(issuer.url, { email: "e".repeat(256), email_verified: "true" });
    const { token } = await sts.exchange({ identity: UID }, await sign(upstream));
    expect(Object.keys(payloadOf(token))).toEqual(["iss", "sub", "aud", "iat", "exp", "jti", "act", "cap"]);
    expect(payloadOf(token).cap).toEqual({});
  });

  it("unless that would exceed the header of a request", async () => {
    const { sts, events } = createService([ci()]);
    const bearer = await good();
    const scopesAt = (depth: number) =>
      Array.from({ length: 50 }, (_, i) => ORG + `/${i.toString(16).padStart(16, "0")}`.repeat(depth));
    expect(await sts.exchange({ identity: UID, scopes: scopesAt(10) }, bearer)).toHaveProperty("token");
    const scopes = scopesAt(15);
    await expect(sts.exchange({ identity: UID, scopes }, bearer)).rejects.toMatchObject(DENIED);
    expect(events).toMatchObject([{ decision: "granted" }, { decision: "denied", reason: "token_size" }]);
  });
});

it("without an identity it is the only one of the exact issuer and subject", async () => {
  const { sts, events } = createService([ci(), identity({ uid: `${ORG}/0000000000000001` })]);
  const { token } = await sts.exchange({}, await good());
  expect(payloadOf(token).sub).toBe(UID);
  expect(events).toMatchObject([{ identity: UID }]);
});

it.each([
  ["none exists", () => []],
  ["two exist", () => [ci(), { ...ci(), uid: `${ORG}/0000000000000001` }]],
  ["the only one matches by a pattern", () => [identity({ claimMatch: { ...ANY, issuer: issuer.url } })]],
])("without an identity it is denied when %s", async (_, records) => {
  const { sts, events } = createService(records());
  await expect(sts.exchange({ identity: "" }, await good())).rejects.toMatchObject(DENIED);
  expect(events).toMatchObject([{ decision: "denied", reason: "identity_unknown" }]);
});

describe("the identity that anyone may assume", () => {
  it("accepts a token of an issuer that some identity trusts, whatever its subject", async () => {
    const { sts } = createService([ci()]);
    const token = await sign(claimsFrom(issuer.url, { sub: "somebody else" }));
    expect(payloadOf((await sts.exchange({ identity: ANYONE }, token)).token).sub).toBe(ANYONE);
  });

  it("is denied to an issuer that no identity trusts, without a connection", async () => {
    const stranger = await serveIssuer();
    const { sts, events } = createService([ci()]);
    const token = await sign(claimsFrom(stranger.url));
    await expect(sts.exchange({ identity: ANYONE }, token)).rejects.toMatchObject(DENIED);
    expect(events).toMatchObject([{ reason: "issuer", identity: ANYONE }]);
    expect(stranger.connections()).toBe(0);
  });

  it("is denied to the development issuer of a server without one", async () => {
    const token = (await createService([]).sts.devIssuer?.mint({ subject: "me" })) ?? "";
    const { sts } = createService([], { dev: false });
    expect(sts.devIssuer).toBeUndefined();
    await expect(sts.exchange({ identity: ANYONE }, token)).rejects.toMatchObject(DENIED);
  });

  it("is denied to a token for another audience", async () => {
    const { sts, events } = createService([]);
    const token = (await sts.devIssuer?.mint({ subject: "me", audience: "https://elsewhere.example" })) ?? "";
    await expect(sts.exchange({ identity: ANYONE }, token)).rejects.toMatchObject(DENIED);
    expect(events).toMatchObject([{ reason: "audience" }]);
  });
});

it.each<[string, ExchangeRequest, unknown]>([
  ["is a text when it is one", { aud: [CONSOLE] }, CONSOLE],
  ["is a list when there are several", { aud: [API, CONSOLE] }, [API, CONSOLE]],
  ["is split at commas", { aud: [`${CONSOLE},${API}`] }, [CONSOLE, API]],
  ["is deduplicated", { aud: [API, API] }, API],
])("the requested audience %s", async (_, request, expected) => {
  const { sts } = createService([ci()]);
  const { token } = await sts.exchange({ identity: UID, ...request }, await good());
  expect(payloadOf(token).aud).toEqual(expected);
});

const MISSING = "Audience must be specified";
const OURS = `must be ${API} or ${CONSOLE}`;
it.each<[string, string[] | undefined, string]>([
  ["absent", undefined, MISSING],
  ["an empty list", [], MISSING],
  ["empty", [""], MISSING],
  ["nothing but commas", [",", ""], MISSING],
  ["another host", ["https://evil.example"], OURS],
  ["ours with more behind it", [`${API}/`], OURS],
  ["one of ours and another", [API, "https://evil.example"], OURS],
  ["one of ours and another in one text", [`${API},https://evil.example`], OURS],
])("the requested audience is refused when it is %s", async (_, aud, description) => {
  const { sts, events } = createService([ci()]);
  await expect(sts.exchange({ identity: UID, aud }, await good())).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: `Invalid argument: aud: ${description}`,
    fieldViolations: [{ field: "aud", description }],
  });
  expect(events).toMatchObject([{ decision: "denied", reason: "request" }]);
});

it("a bearer that is missing is unauthenticated", async () => {
  const { sts, events } = createService([ci()]);
  await expect(sts.exchange({ identity: UID }, "")).rejects.toMatchObject(UNAUTHENTICATED);
  expect(events).toMatchObject([{ decision: "denied", reason: "missing_bearer" }]);
});

it("an identity that is deleted while its token is signed gets no token", async () => {
  const records = [ci()];
  const clock = () => NOON_MS;
  const signer = createSigner({ clock, keys: [API_KEY] });
  const signAfterDelete: typeof signer.sign = (claims) => {
    records.pop();
    return signer.sign(claims);
  };
  const { sts, events, seen } = createService(records, { signer: { ...signer, sign: signAfterDelete } });
  await expect(sts.exchange({ identity: UID }, await good())).rejects.toMatchObject(DENIED);
  expect(events).toMatchObject([{ decision: "denied", reason: "identity_unknown", detail: "deleted meanwhile" }]);
  expect(seen).toEqual([]);
});

it("a failure of the server is an internal error that keeps its cause, and is logged as denied", async () => {
  const cause = new Error("the disk is full");
  const { sts, events } = createService([ci()], {
    capabilitiesOf: () => {
      throw cause;
    },
  });
  await expect(sts.exchange({ identity: UID }, await good())).rejects.toMatchObject({
    code: "INTERNAL",
    message: "Internal: the token could not be exchanged",
    cause,
  });
  expect(events).toMatchObject([{ decision: "denied", reason: "internal" }]);
});

it("the audit line names the token by issuer, subject, key and a hash of its id, and has no part of it", async () => {
  const { sts, events } = createService([ci()]);
  const bearer = await good();
  const { token = "" } = await sts.exchange({ identity: UID }, bearer);
  expect(events).toEqual([
    {
      event: "sts.exchange",
      time: "2026-01-28T12:00:00.000Z",
      decision: "granted",
      reason: "granted",
      identity: UID,
      issuer: issuer.url,
      subject: SUBJECT,
      kid: "rsa-1",
      jtiHash: "78bd7e9dd0822031dac9e9c233de52844a1ec79909d45eb40d7d66587f70e029",
      audience: [API],
    },
  ]);
  for (const part of [...bearer.split("."), ...token.split("."), "upstream-1"])
    expect(JSON.stringify(events)).not.toContain(part);
});

// docs/internals/faults.md#tokens-that-must-be-refused in process: what no wire carries, and identities that the API would not store.
/** It has answered nobody. */
const silent = await serveIssuer();

const claims = () => claimsFrom(silent.url);
const trusting = (claimMatch: Identity["claimMatch"] = { issuer: silent.url, subject: SUBJECT }) =>
  identity({ claimMatch });

/** Denied with the fixed text and for this reason, without a lastSeenTime and without a connection. */
const expectRefusal = async (bearer: string, reason: string, record = trusting()) => {
  const before = silent.connections();
  const { sts, events, seen } = createService([record]);
  await expect(sts.exchange({ identity: UID }, bearer)).rejects.toMatchObject(DENIED);
  expect(events).toMatchObject([{ decision: "denied", reason }]);
  expect(seen).toEqual([]);
  expect(silent.connections()).toBe(before);
};

it("row 30: a newline behind", async () => expectRefusal(`${await sign(claims())}\n`, "token_shape"));

const withKeys = (fields: Partial<NonNullable<Identity["staticKeys"]>> = {}, changes: Partial<Identity> = {}) =>
  identity({
    staticKeys: {
      issuer: silent.url,
      subject: SUBJECT,
      issuerKeys: JSON.stringify({ keys: [OTHER_RSA.jwk] }),
      ...fields,
    },
    ...changes,
  });

describe("row 23: an identity that says too much or too little matches nothing", () => {
  it.each<[string, Identity["claimMatch"]]>([
    ["both an issuer and a pattern", { issuer: "https://a.example", issuerPattern: ".*", subject: SUBJECT }],
    ["neither issuer nor pattern", { subject: SUBJECT }],
    ["an empty issuer", { issuer: "", subject: SUBJECT }],
    ["an empty pattern", { issuerPattern: "", subject: SUBJECT }],
    ["both a subject and a pattern", { issuerPattern: ".*", subject: SUBJECT, subjectPattern: ".*" }],
    ["neither subject nor pattern", { issuerPattern: ".*" }],
    ["both an audience and a pattern", { issuerPattern: ".*", subject: SUBJECT, audience: "a", audiencePattern: ".*" }],
    ["an empty audience", { issuerPattern: ".*", subject: SUBJECT, audience: "" }],
  ])("%s", async (_, claimMatch) => expectRefusal(await sign(claims()), "identity_malformed", trusting(claimMatch)));

  it("two relationships, and a service of the platform", async () => {
    const both = { ...trusting({ issuer: "https://a.example", subject: SUBJECT }), ...withKeys() };
    await expectRefusal(await sign(claims()), "identity_malformed", both);
    const record = identity({ servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" });
    await expectRefusal(await sign(claims()), "identity_kind", record);
  });
});

it.each([
  ["an unknown one", `${GROUP}/0000000000000002`],
  ["what is no uid", "../etc/passwd"],
  ["what is no uid, in SQL", "' OR 1=1 --"],
  ["a uid in capitals", UID.toUpperCase()],
])(
  "row 26: a missing identity: %s is not looked up, and nothing is fetched for an untrusted issuer",
  async (_, uid) => {
    const before = silent.connections();
    const asked: string[] = [];
    const { sts, events } = createService([trusting()], {
      identities: {
        get: (asking) => void asked.push(asking),
        withExactClaims: () => [],
        hasIssuer: () => false,
        organizationsWith: () => [],
        seen: () => {},
      },
    });
    await expect(sts.exchange({ identity: uid }, await sign(claims()))).rejects.toMatchObject(DENIED);
    expect(events).toMatchObject([{ reason: "identity_unknown" }]);
    expect(asked.every(isUidp)).toBe(true);
    expect(silent.connections()).toBe(before);
  },
);

describe("row 28 and 29: an identity with static keys", () => {
  const privateJwk = { ...OTHER_RSA.privateKey.export({ format: "jwk" }), kid: OTHER_RSA.kid };
  const created = new Date(NOON_MS - 366 * 86_400_000).toISOString();
  const ending = (ms: number) => withKeys({ expirationTime: new Date(ms).toISOString() });

  it.each<[string, Identity, string]>([
    ["after its expirationTime", ending(NOON_MS), "static_keys_expired"],
    ["after a year without one", withKeys({}, { createTime: created }), "static_keys_expired"],
    ["with an expirationTime that is none", withKeys({ expirationTime: "soon" }), "static_keys_expired"],
    ["when they are no keys", withKeys({ issuerKeys: "keys" }), "identity_malformed"],
    ["when they are private", withKeys({ issuerKeys: JSON.stringify({ keys: [privateJwk] }) }), "key"],
  ])("is refused %s, without a connection", async (_, record, reason) =>
    expectRefusal(await sign(claims(), OTHER_RSA), reason, record),
  );

  it("is assumed a moment before its expirationTime, without a connection", async () => {
    const before = silent.connections();
    const { sts } = createService([ending(NOON_MS + 1)]);
    const { token } = await sts.exchange({ identity: UID }, await sign(claims(), OTHER_RSA));
    expect(await sts.verifyApiToken(token ?? "")).toMatchObject({ subject: UID });
    expect(silent.connections()).toBe(before);
  });
});
