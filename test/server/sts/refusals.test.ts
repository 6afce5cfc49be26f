// docs/faults.md#tokens-that-must-be-refused in process: the tables of `must-refuse` against an exchange of the test's own.
// Here the tests can compare the audit line's reason with each row, and an identity can have fields that the API would refuse.
import { afterAll, describe, expect, it } from "vitest";
import { type Identity, isUidp } from "../../../schema/index.ts";
import { NOON_MS } from "../../harness/clock.ts";
import {
  API,
  AUTH_URL,
  claimsFrom,
  createService,
  DENIED,
  GROUP,
  identity,
  NOW,
  OTHER_RSA,
  payloadOf,
  RSA,
  SUBJECT,
  sign,
  startIssuer,
  UID,
  UNAUTHENTICATED,
} from "../../harness/sts.ts";
import { claimRows } from "./must-refuse/claim-rows.ts";
import { headerRows } from "./must-refuse/header-rows.ts";
import { identityControls, identityRows } from "./must-refuse/identity-rows.ts";
import { CONTROLS, deniedText, KEYS, type Row, type Target, trustExactly } from "./must-refuse/target.ts";

const issuer = await startIssuer(Object.values(KEYS));
afterAll(() => issuer.close());

const claims: Target["claims"] = (changes) => claimsFrom(issuer.url, changes);
const target: Target = { authUrl: AUTH_URL, api: API, issuer, claims };
const trusting = (claimMatch?: Identity["claimMatch"]) => identity(claimMatch ? { claimMatch } : trustExactly(target));

/** Denied with the fixed text and for this reason, without a lastSeenTime. Returns how many connections were made. */
const expectRefusal = async (bearer: string, reason: string, record = trusting(), invalid?: string) => {
  const before = issuer.connections();
  const { sts, events, seen } = createService([record]);
  const expected = reason === "expired" ? { code: "PERMISSION_DENIED" } : { ...DENIED, message: deniedText(invalid) };
  await expect(sts.exchange({ identity: UID }, bearer)).rejects.toMatchObject(expected);
  expect(events).toMatchObject([{ decision: "denied", reason }]);
  expect(seen).toEqual([]);
  return issuer.connections() - before;
};

describe.each([
  ["header", headerRows],
  ["claims", claimRows],
  ["identity", identityRows],
])("refused by the %s", (_, rows) => {
  it.each(rows.map((row): [number, string, Row] => [row.row, row.what, row]))(
    "row %i: %s",
    async (_row, _what, row) => {
      const { bearer, reason, relationship = trustExactly, isOffline = false, invalid } = row;
      const connections = await expectRefusal(await bearer(target), reason, identity(relationship(target)), invalid);
      if (isOffline) expect(connections).toBe(0);
    },
  );
});

describe("taken", () => {
  it.each(CONTROLS)("a token that is signed with %s", async (alg, key) => {
    const { sts, events } = createService([trusting()]);
    expect(await sts.exchange({ identity: UID }, await sign(claims(), key, { alg }))).toHaveProperty("token");
    expect(events).toMatchObject([{ decision: "granted", reason: "granted" }]);
  });

  it.each([
    ["exp a moment within the leeway", { exp: NOW - 59, iat: NOW - 600 }],
    ["nbf and iat at the end of the leeway", { nbf: NOW + 60, iat: NOW + 60 }],
    ["a life of a day", { iat: NOW, exp: NOW + 86_400 }],
    ["neither iat nor nbf", { iat: undefined }],
    ["our aud among others", { aud: ["other", API] }],
    ["the bare host as aud", { aud: "issuer.irm.example" }],
  ])("a token with %s", async (_, changes) => {
    const { sts } = createService([trusting()]);
    expect(await sts.exchange({ identity: UID }, await sign(claims(changes)))).toHaveProperty("token");
  });

  it.each(identityControls.map((row) => [row.what, row] as const))("by %s", async (_, { bearer, relationship }) => {
    const { sts } = createService([identity(relationship?.(target) ?? {})]);
    expect(await sts.exchange({ identity: UID }, await bearer(target))).toHaveProperty("token");
  });

  it.each(["jwk", "jku", "x5u", "x5c"])("row 4: a token whose %s is ignored", async (name) => {
    const values = {
      jwk: OTHER_RSA.jwk,
      jku: "https://attacker.example",
      x5u: "https://attacker.example",
      x5c: ["AA"],
    };
    const { sts } = createService([trusting()]);
    const bearer = await sign(claims(), RSA, { [name]: values[name as keyof typeof values] });
    expect(await sts.exchange({ identity: UID }, bearer)).toHaveProperty("token");
  });

  it("row 24: a claim named __proto__ is a claim like another", async () => {
    const record = trusting({ issuer: issuer.url, subject: SUBJECT, claims: JSON.parse('{"__proto__":"x"}') });
    await expectRefusal(await sign(claims()), "claim", record, "__proto__");
    const { sts } = createService([record]);
    const token = await sign(JSON.stringify(claims()).replace("{", '{"__proto__":"x",'));
    expect(await sts.exchange({ identity: UID }, token)).toHaveProperty("token");
  });
});

describe("row 7: a token in the wrong place", () => {
  it("of the API cannot be exchanged again, whatever the identity's pattern", async () => {
    const { sts, events } = createService([trusting({ issuerPattern: ".*", subjectPattern: ".*" })]);
    const { token = "" } = await sts.exchange({ identity: UID }, await sign(claims()));
    await expect(sts.exchange({ identity: UID }, token)).rejects.toMatchObject(DENIED);
    expect(events).toMatchObject([{ decision: "granted" }, { decision: "denied", reason: "own_issuer" }]);
  });

  it("of a workload is not accepted by the API", async () => {
    const { sts } = createService([trusting()]);
    await expect(sts.verifyApiToken(await sign(claims({ aud: API })))).rejects.toMatchObject(UNAUTHENTICATED);
  });
});

it("row 22: a pattern must match the issuer before any fetch", async () => {
  const record = trusting({ issuerPattern: "https://issuer\\.example", subject: SUBJECT });
  expect(await expectRefusal(await sign(claims()), "issuer", record)).toBe(0);
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
    expect(await expectRefusal(await sign(claims()), "identity_malformed", trusting(claimMatch))).toBe(0);
  });

  it("two relationships", async () => {
    const staticKeys = { issuer: issuer.url, subject: SUBJECT, issuerKeys: JSON.stringify({ keys: [RSA.jwk] }) };
    await expectRefusal(await sign(claims()), "identity_malformed", { ...trusting(), staticKeys });
  });

  it("a service of the platform", async () => {
    const record = identity({ servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" });
    expect(await expectRefusal(await sign(claims()), "identity_kind", record)).toBe(0);
  });
});

describe("row 26: a missing identity", () => {
  it.each([
    ["an unknown one", `${GROUP}/0000000000000002`],
    ["what is no uid", "../etc/passwd"],
    ["what is no uid, in SQL", "' OR 1=1 --"],
    ["a uid in capitals", UID.toUpperCase()],
  ])("%s is not looked up, and nothing is fetched for an untrusted issuer", async (_, uid) => {
    const before = issuer.connections();
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
    expect(issuer.connections()).toBe(before);
  });

  it("another tenant's", async () => {
    const other = {
      ...trusting({ issuer: issuer.url, subject: "repo:other-org/app" }),
      uid: `${GROUP}/0000000000000003`,
    };
    const { sts } = createService([trusting(), other]);
    const expected = { ...DENIED, message: deniedText("sub") };
    await expect(sts.exchange({ identity: other.uid }, await sign(claims()))).rejects.toMatchObject(expected);
  });

  it("a custom identity provider", async () => {
    const { sts, events } = createService([trusting()]);
    const request = { identity: UID, identityProvider: GROUP };
    await expect(sts.exchange(request, await sign(claims()))).rejects.toMatchObject(DENIED);
    expect(events).toMatchObject([{ reason: "identity_provider" }]);
  });
});

describe("row 28 and 29: an identity with static keys", () => {
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
  const privateJwk = { ...OTHER_RSA.privateKey.export({ format: "jwk" }), kid: OTHER_RSA.kid };
  const created = new Date(NOON_MS - 366 * 86_400_000).toISOString();

  it.each<[string, Identity, string]>([
    ["after its expirationTime", withKeys({ expirationTime: new Date(NOON_MS).toISOString() }), "static_keys_expired"],
    ["after a year without one", withKeys({}, { createTime: created }), "static_keys_expired"],
    ["with an expirationTime that is none", withKeys({ expirationTime: "soon" }), "static_keys_expired"],
    ["when they are no keys", withKeys({ issuerKeys: "keys" }), "identity_malformed"],
    ["when they are private", withKeys({ issuerKeys: JSON.stringify({ keys: [privateJwk] }) }), "key"],
  ])("is refused %s, without a connection", async (_, record, reason) => {
    expect(await expectRefusal(await sign(claims(), OTHER_RSA), reason, record)).toBe(0);
  });

  it("is assumed for its own audience, and gets the API's", async () => {
    const { sts } = createService([withKeys({ audiences: ["mine"] })]);
    const token = await sign(claims({ aud: "mine" }), OTHER_RSA);
    expect(payloadOf((await sts.exchange({ identity: UID }, token)).token).aud).toBe(API);
  });
});

describe("a token of which one character is changed", () => {
  it("is refused, whichever character it is", async () => {
    const { sts, events } = createService([trusting()]);
    const token = await sign(claims());
    expect(await sts.exchange({ identity: UID }, token)).toHaveProperty("token");
    for (const [i, character] of [...token].entries()) {
      const changed = token.slice(0, i) + (character === "A" ? "B" : "A") + token.slice(i + 1);
      await expect(sts.exchange({ identity: UID }, changed)).rejects.toMatchObject(DENIED);
    }
    expect(events.filter(({ decision }) => decision === "granted")).toHaveLength(1);
  });
});
