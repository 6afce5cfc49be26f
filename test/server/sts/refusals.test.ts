// docs/faults.md#tokens-that-must-be-refused in process: what no wire carries, and identities that the API would not store.
import { describe, expect, it } from "vitest";
import { type Identity, isUidp } from "../../../schema/index.ts";
import { NOON_MS } from "../../harness/clock.ts";
import {
  claimsFrom,
  createService,
  DENIED,
  GROUP,
  identity,
  OTHER_RSA,
  RSA,
  SUBJECT,
  serveIssuer,
  sign,
  UID,
} from "../../harness/sts.ts";

const issuer = await serveIssuer();

const claims = () => claimsFrom(issuer.url);
const trusting = (claimMatch: Identity["claimMatch"] = { issuer: issuer.url, subject: SUBJECT }) =>
  identity({ claimMatch });

/** Denied with the fixed text and for this reason, without a lastSeenTime and without a connection. */
const expectRefusal = async (bearer: string, reason: string, record = trusting()) => {
  const before = issuer.connections();
  const { sts, events, seen } = createService([record]);
  await expect(sts.exchange({ identity: UID }, bearer)).rejects.toMatchObject(DENIED);
  expect(events).toMatchObject([{ decision: "denied", reason }]);
  expect(seen).toEqual([]);
  expect(issuer.connections()).toBe(before);
};

it("row 30: a newline behind", async () => expectRefusal(`${await sign(claims())}\n`, "token_shape"));

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
});

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
    const before = issuer.connections();
    const { sts } = createService([ending(NOON_MS + 1)]);
    const { token } = await sts.exchange({ identity: UID }, await sign(claims(), OTHER_RSA));
    expect(await sts.verifyApiToken(token ?? "")).toMatchObject({ subject: UID });
    expect(issuer.connections()).toBe(before);
  });
});

it("a token of which one character is changed is refused, whichever character it is", async () => {
  const { sts, events } = createService([trusting()]);
  const token = await sign(claims(), RSA);
  expect(await sts.exchange({ identity: UID }, token)).toHaveProperty("token");
  for (const [i, character] of [...token].entries()) {
    const changed = token.slice(0, i) + (character === "A" ? "B" : "A") + token.slice(i + 1);
    await expect(sts.exchange({ identity: UID }, changed)).rejects.toMatchObject(DENIED);
  }
  expect(events.filter(({ decision }) => decision === "granted")).toHaveLength(1);
});
