// docs/faults.md#tokens-that-must-be-refused in process: what no wire carries, identities that the API would not store, and how an
// identity is found. Each refusal has the fixed text and one audit line with its reason, sets no lastSeenTime, and makes no connection unless it says so.
import { expect, it } from "vitest";
import { type Identity, isUidp } from "../../../schema/index.ts";
import { NOON_MS } from "../../harness/clock.ts";
import {
  ANYONE,
  claimsFrom,
  createService,
  DENIED,
  GROUP,
  identity,
  ORG,
  OTHER_RSA,
  SUBJECT,
  serveIssuer,
  sign,
  UID,
} from "../../harness/sts.ts";

const issuer = await serveIssuer();
const stranger = await serveIssuer();

const claims = () => claimsFrom(issuer.url);
const exact = { issuer: issuer.url, subject: SUBJECT };
const ANY = { issuerPattern: ".*", subject: SUBJECT };
const OTHER = { issuer: "https://a.example", subject: SUBJECT };
const trusting = (claimMatch: Identity["claimMatch"] = exact) => identity({ claimMatch });
const withKeys = (fields: Partial<NonNullable<Identity["staticKeys"]>> = {}, changes: Partial<Identity> = {}) =>
  identity({ staticKeys: { ...exact, issuerKeys: JSON.stringify({ keys: [OTHER_RSA.jwk] }), ...fields }, ...changes });
const ending = (ms: number) => withKeys({ expirationTime: new Date(ms).toISOString() });
const twin = { ...trusting(), uid: `${ORG}/0000000000000001` };
const privateJwk = { ...OTHER_RSA.privateKey.export({ format: "jwk" }), kid: OTHER_RSA.kid };
const aYearAgo = new Date(NOON_MS - 366 * 86_400_000).toISOString();

const minted = async (audience?: string) =>
  (await createService([]).sts.devIssuer?.mint({ subject: "me", audience })) ?? "";
const own = await sign(claims());
const signed = await sign(claims(), OTHER_RSA);

interface Case {
  records?: Identity[];
  uid?: string;
  bearer?: string;
  dev?: boolean;
  /** an identity trusts the issuer of the token, whose keys are fetched before anything is said */
  fetches?: true;
}
const malformed = (claimMatch: Identity["claimMatch"]): Case => ({ records: [trusting(claimMatch)] });
const keyed = (record: Identity): Case => ({ records: [record], bearer: signed });

it.each<[what: string, reason: string, Case]>([
  ["row 30: a newline behind the token", "token_shape", { bearer: `${own}\n` }],
  ["row 23: both an issuer and a pattern", "identity_malformed", malformed({ ...OTHER, issuerPattern: ".*" })],
  ["row 23: neither issuer nor pattern", "identity_malformed", malformed({ subject: SUBJECT })],
  ["row 23: an empty issuer", "identity_malformed", malformed({ issuer: "", subject: SUBJECT })],
  ["row 23: an empty pattern", "identity_malformed", malformed({ issuerPattern: "", subject: SUBJECT })],
  ["row 23: both a subject and a pattern", "identity_malformed", malformed({ ...ANY, subjectPattern: ".*" })],
  ["row 23: neither subject nor pattern", "identity_malformed", malformed({ issuerPattern: ".*" })],
  ["row 23: two audiences", "identity_malformed", malformed({ ...ANY, audience: "a", audiencePattern: ".*" })],
  ["row 23: an empty audience", "identity_malformed", malformed({ ...ANY, audience: "" })],
  ["row 23: two relationships", "identity_malformed", { records: [{ ...trusting(OTHER), ...withKeys() }] }],
  [
    "row 23: a service of the platform",
    "identity_kind",
    { records: [identity({ servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" })] },
  ],
  ["row 26: an unknown identity", "identity_unknown", { uid: `${GROUP}/0000000000000002`, records: [] }],
  ["row 26: what is no uid, which is not looked up", "identity_unknown", { uid: "../etc/passwd", records: [] }],
  ["no identity, and none has this subject", "identity_unknown", { uid: "", records: [] }],
  [
    "no identity, and two have this subject",
    "identity_unknown",
    { uid: "", records: [trusting(), twin], fetches: true },
  ],
  [
    "no identity, and the only one matches by a pattern",
    "identity_unknown",
    { uid: "", records: [trusting({ issuer: issuer.url, subjectPattern: ".*" })], fetches: true },
  ],
  ["row 28: keys after their expirationTime", "static_keys_expired", keyed(ending(NOON_MS))],
  ["row 28: keys after a year without one", "static_keys_expired", keyed(withKeys({}, { createTime: aYearAgo }))],
  ["row 28: an expirationTime that is none", "static_keys_expired", keyed(withKeys({ expirationTime: "soon" }))],
  ["row 29: keys that are none", "identity_malformed", keyed(withKeys({ issuerKeys: "keys" }))],
  ["row 29: a private key", "key", keyed(withKeys({ issuerKeys: JSON.stringify({ keys: [privateJwk] }) }))],
  [
    "anyone, by an issuer that no identity trusts",
    "issuer",
    { uid: ANYONE, bearer: await sign(claimsFrom(stranger.url)) },
  ],
  [
    "anyone, by a development issuer that this server lacks",
    "issuer",
    { uid: ANYONE, bearer: await minted(), dev: false },
  ],
  ["anyone, for another audience", "audience", { uid: ANYONE, bearer: await minted("https://elsewhere.example") }],
])("%s", async (_, reason, { records = [trusting()], uid = UID, bearer = own, dev = true, fetches }) => {
  const before = issuer.connections() + stranger.connections();
  const { sts, events, seen } = createService(records, { dev });
  await expect(sts.exchange({ identity: uid }, bearer)).rejects.toMatchObject(DENIED);
  expect(events).toMatchObject([{ decision: "denied", reason }]);
  expect(seen).toEqual([]);
  if (!fetches) expect(issuer.connections() + stranger.connections()).toBe(before);
});

it("only a uid is looked up", async () => {
  const asked: string[] = [];
  const identities = {
    get: (asking: string) => void asked.push(asking),
    withExactClaims: () => [],
    hasIssuer: () => false,
    organizationsWith: () => [],
    seen: () => {},
  };
  const { sts } = createService([], { identities });
  for (const uid of ["../etc/passwd", `${GROUP}/0000000000000002`])
    await expect(sts.exchange({ identity: uid }, own)).rejects.toMatchObject(DENIED);
  expect([asked.length > 0, asked.every(isUidp)]).toEqual([true, true]);
});

it("row 28: an identity is assumed a moment before its keys expire, without a connection", async () => {
  const before = issuer.connections();
  const { sts } = createService([ending(NOON_MS + 1)]);
  const { token } = await sts.exchange({ identity: UID }, signed);
  expect(await sts.verifyApiToken(token ?? "")).toMatchObject({ subject: UID });
  expect(issuer.connections()).toBe(before);
});
