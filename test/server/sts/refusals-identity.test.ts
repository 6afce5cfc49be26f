// The must-refuse list (faults, section 2.1), the rows that turn on the identity: its patterns, claims, keys, and whether
// there is one.
import { afterAll, describe, expect, it } from "vitest";
import { type Identity, isUidp } from "../../../schema/index.ts";
import {
  API,
  claimsFrom,
  createService,
  DENIED,
  expectDenied,
  GROUP,
  identity,
  NOW_MS,
  OTHER_RSA,
  payloadOf,
  RSA,
  SUBJECT,
  sign,
  startIssuer,
  UID,
} from "./fixture.ts";

const issuer = await startIssuer([RSA]);
afterAll(() => issuer.close());

const claims = (changes: Record<string, unknown> = {}) => claimsFrom(issuer.url, changes);
const trusting = (claimMatch: Identity["claimMatch"] = { issuer: issuer.url, subject: SUBJECT }) =>
  identity({ claimMatch });

/** Denied, for this reason; answers how many connections were made meanwhile. */
const denied = async (bearer: string, reason: string, record = trusting()) => {
  const before = issuer.connections();
  await expectDenied(bearer, reason, record);
  return issuer.connections() - before;
};

describe("a pattern", () => {
  const rows: [row: number, pattern: string, subject: string][] = [
    [19, "repo:org/app", "xrepo:org/app-evil"],
    [19, "repo:org/app", "repo:org/app-evil"],
    [19, "repo:org/app", "xrepo:org/app"],
    [20, "a|b", "evil-b"],
    [20, "a|b", "a-evil"],
    [20, "a)|(b", "b"],
    [21, "^(a+)+$", `${"a".repeat(100)}!`],
    [22, "repo:org/app\\.js", "repo:org/appxjs"],
  ];
  it.each(rows)("row %i: «%s» does not match «%s»", async (_, subjectPattern, sub) => {
    await denied(await sign(claims({ sub })), "subject", trusting({ issuer: issuer.url, subjectPattern }));
  });

  it("row 22: matches no issuer that is not the URL of one, without a connection", async () => {
    const record = trusting({ issuerPattern: ".*", subject: SUBJECT });
    expect(await denied(await sign(claims({ iss: "evil" })), "token_claims", record)).toBe(0);
  });

  it("row 22: is the issuer's before anything is fetched", async () => {
    const record = trusting({ issuerPattern: "https://issuer\\.example", subject: SUBJECT });
    expect(await denied(await sign(claims()), "issuer", record)).toBe(0);
  });

  it("matches in full", async () => {
    const issuerPattern = "http://127\\.0\\.0\\.1:[0-9]+";
    const { sts } = createService([
      trusting({ issuerPattern, subjectPattern: "repo:.*", audiencePattern: "https://.*" }),
    ]);
    expect(await sts.exchange({ identity: UID }, await sign(claims()))).toHaveProperty("token");
  });
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
  ])("%s", async (_, claimMatch) => {
    expect(await denied(await sign(claims()), "identity_malformed", trusting(claimMatch))).toBe(0);
  });

  it("two relationships", async () => {
    const staticKeys = { issuer: issuer.url, subject: SUBJECT, issuerKeys: JSON.stringify({ keys: [RSA.jwk] }) };
    const record = { ...trusting(), staticKeys };
    expect(await denied(await sign(claims()), "identity_malformed", record)).toBe(0);
  });

  it("a service of the platform", async () => {
    const record = identity({ servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" });
    expect(await denied(await sign(claims()), "identity_kind", record)).toBe(0);
  });
});

describe("row 24: a further claim", () => {
  const wanted = { env: "prod", protected: "true", "a.b": "c", constructor: "x" };
  const given = { env: "prod", protected: true, "a.b": "c", constructor: "x" };
  const record = () =>
    trusting({
      issuer: issuer.url,
      subject: SUBJECT,
      claims: wanted,
      claimPatterns: { ref: "refs/heads/(main|next)" },
    });

  it("is met by an equal text, a boolean, a matching text", async () => {
    const { sts } = createService([record()]);
    const token = await sign(claims({ ...given, ref: "refs/heads/next" }));
    expect(await sts.exchange({ identity: UID }, token)).toHaveProperty("token");
  });

  it.each<[string, Record<string, unknown>]>([
    ["is missing", { env: undefined }],
    ["is null", { env: null }],
    ["is a list", { env: ["prod"] }],
    ["is an object", { env: { prod: true } }],
    ["is nested", { env: undefined, claims: { env: "prod" } }],
    ["is a path into an object", { "a.b": undefined, a: { b: "c" } }],
    ["is a number", { protected: 1 }],
    ["is another boolean", { protected: false }],
    ["is of another case", { env: "Prod" }],
    ["is what every object inherits", { constructor: undefined }],
    ["does not match in full", { ref: "refs/heads/main2" }],
    ["is longer than 4 KiB", { env: "prod".repeat(2000) }],
  ])("refuses when it %s", async (_, changes) => {
    await denied(await sign(claims({ ...given, ref: "refs/heads/main", ...changes })), "claim", record());
  });

  it("named __proto__ is a claim like another", async () => {
    const wantsProto = JSON.parse('{"__proto__":"x"}');
    const protoRecord = trusting({ issuer: issuer.url, subject: SUBJECT, claims: wantsProto });
    await denied(await sign(claims()), "claim", protoRecord);
    const { sts } = createService([protoRecord]);
    const token = await sign(JSON.stringify(claims()).replace("{", '{"__proto__":"x",'));
    expect(await sts.exchange({ identity: UID }, token)).toHaveProperty("token");
  });
});

describe("row 26 and 33: an identity that is not there answers like one that does not match", () => {
  it.each([
    ["an unknown one", `${GROUP}/0000000000000002`],
    ["what is no uid", "../etc/passwd"],
    ["what is no uid, in SQL", "' OR 1=1 --"],
    ["a uid in capitals", UID.toUpperCase()],
  ])("%s", async (_, uid) => {
    const before = issuer.connections();
    const asked: string[] = [];
    const { sts, events } = createService([trusting()], {
      identities: {
        get: (asking) => void asked.push(asking),
        withExactClaims: () => [],
        hasIssuer: () => false,
        seen: () => {},
      },
    });
    await expect(sts.exchange({ identity: uid }, await sign(claims()))).rejects.toMatchObject(DENIED);
    expect(events).toMatchObject([{ reason: "identity_unknown" }]);
    expect(asked.every(isUidp)).toBe(true);
    expect(issuer.connections()).toBe(before);
  });

  it("another tenant's", async () => {
    const other = {
      ...trusting({ issuer: issuer.url, subject: "repo:other-org/app" }),
      uid: `${GROUP}/0000000000000003`,
    };
    const { sts } = createService([trusting(), other]);
    await expect(sts.exchange({ identity: other.uid }, await sign(claims()))).rejects.toMatchObject(DENIED);
  });

  it("a custom identity provider", async () => {
    const { sts, events } = createService([trusting()]);
    const request = { identity: UID, identityProvider: GROUP };
    await expect(sts.exchange(request, await sign(claims()))).rejects.toMatchObject(DENIED);
    expect(events).toMatchObject([{ reason: "identity_provider" }]);
  });
});

describe("row 28 and 29: an identity with keys of its own", () => {
  const withKeys = (fields: Partial<NonNullable<Identity["staticKeys"]>> = {}, changes: Partial<Identity> = {}) =>
    identity({
      staticKeys: {
        issuer: issuer.url,
        subject: SUBJECT,
        issuerKeys: JSON.stringify({ keys: [OTHER_RSA.jwk] }),
        ...fields,
      },
      ...changes,
    });
  const created = new Date(NOW_MS - 366 * 86_400_000).toISOString();

  it.each<[string, Identity, Record<string, unknown>, string]>([
    [
      "after its expirationTime",
      withKeys({ expirationTime: new Date(NOW_MS).toISOString() }),
      {},
      "static_keys_expired",
    ],
    ["after a year without one", withKeys({}, { createTime: created }), {}, "static_keys_expired"],
    ["with an expirationTime that is none", withKeys({ expirationTime: "soon" }), {}, "static_keys_expired"],
    ["for another audience than its own", withKeys({ audiences: ["mine"] }), {}, "audience"],
    ["for another subject", withKeys(), { sub: "evil" }, "subject"],
    ["for another issuer", withKeys({ issuer: "https://a.example" }), {}, "issuer"],
    ["when they are no keys", withKeys({ issuerKeys: "keys" }), {}, "identity_malformed"],
    ["when they are private", withKeys({ issuerKeys: JSON.stringify({ keys: [privateJwk()] }) }), {}, "key"],
  ])("is refused %s, without a connection", async (_, record, changes, reason) => {
    expect(await denied(await sign(claims(changes), OTHER_RSA), reason, record)).toBe(0);
  });

  it("is refused with a key of its issuer that it does not hold, without a connection", async () => {
    expect(await denied(await sign(claims()), "key", withKeys())).toBe(0);
  });

  it("is refused with a token that names no key when several could be meant", async () => {
    const issuerKeys = JSON.stringify({ keys: [RSA.jwk, OTHER_RSA.jwk] });
    const bearer = await sign(claims(), RSA, { kid: undefined });
    expect(await denied(bearer, "key", withKeys({ issuerKeys }))).toBe(0);
  });

  it("is assumed for its own audience", async () => {
    const { sts } = createService([withKeys({ audiences: ["mine"] })]);
    const token = await sign(claims({ aud: "mine" }), OTHER_RSA);
    expect(payloadOf((await sts.exchange({ identity: UID }, token)).token).aud).toBe(API);
  });
});

const privateJwk = () => ({ ...OTHER_RSA.privateKey.export({ format: "jwk" }), kid: OTHER_RSA.kid });
