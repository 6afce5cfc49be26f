// Attacks over every wire. First rows 7, 22 and 26 of docs/faults.md#tokens-that-must-be-refused, which take more than one token against
// one identity. Then attacks beyond the list: our keys and tokens in other places, uids of other kinds, ambiguous JSON,
// concurrent uses of one refresh token. None succeeds, and none causes an internal error.
import { createPrivateKey, createPublicKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { IAM } from "../../../harness/api-server.ts";
import { createRecord } from "../../../harness/records.ts";
import { API_KEY, DEV_KEY, key, payloadOf, RSA, SUBJECT, sign } from "../../../harness/sts.ts";
import type { Body } from "../../../support/http.ts";
import {
  bearer,
  DENIED_TEXT,
  expectNoToken,
  trusting,
  UNAUTHENTICATED,
  useAttackedServer,
  withIssuers,
} from "./attacked-server.ts";
import { WIRES } from "./wire.ts";

const ownKey = ({ kid, privateJwk }: typeof API_KEY) => {
  const privateKey = createPrivateKey({ key: privateJwk, format: "jwk" });
  return key(kid, { privateKey, publicKey: createPublicKey(privateKey) });
};
const BINDINGS = `${IAM}/roleBindings`;
const [OURS, DEV] = [ownKey(API_KEY), ownKey(DEV_KEY)];

describe.each(WIRES)("over %s", (_, wire) => {
  const attacked = useAttackedServer(wire);

  const granted = async (identity: string, bearer?: string): Promise<Body> => {
    const { code, body } = await attacked().exchange(bearer ?? (await sign(attacked().claims())), { identity });
    expect(code).toBe("OK");
    return body;
  };

  describe("row 7: a token in the wrong place", () => {
    it("an API token is not exchanged again, whatever the identity's patterns", async () => {
      const identity = await attacked().identity({ claimMatch: { issuerPattern: ".*", subjectPattern: ".*" } });
      const { token } = await attacked().exchanged(identity);
      attacked().takeOutgoing();
      await attacked().expectDenied(token, { identity }, "own_issuer");
      expect(attacked().takeOutgoing()).toEqual([]);
    });

    it("the API refuses a workload's token, even with its own audience", async () => {
      const token = await sign(attacked().claims({ aud: attacked().api }));
      attacked().tokens.add(token);
      expect(await attacked().connection.listGroups(bearer(token))).toMatchObject(UNAUTHENTICATED);
    });

    it("the API refuses a token of the development issuer", async () => {
      const token = await attacked().server.identityToken("owner", { audience: attacked().api });
      expect(await attacked().connection.listGroups(bearer(token))).toMatchObject(UNAUTHENTICATED);
    });
  });

  describe("row 26: an identity", () => {
    it("of another tenant is denied; only the holder of a token of its issuer learns that the subject differs", async () => {
      const { server } = attacked();
      const { uid: tenant } = await createRecord(server, "groups", "", { name: "another tenant" });
      const body = { name: "ci", claimMatch: { issuer: attacked().issuer.url, subject: "repo:other-org/app" } };
      const { uid: identity } = await createRecord(server, "identities", tenant, body);
      await attacked().expectDenied(await sign(attacked().claims()), { identity }, "subject", "sub");
    });

    it("of a custom identity provider is denied: this server trusts no such provider", async () => {
      const request = { identity: await attacked().identity(), identityProvider: attacked().server.organization };
      await attacked().expectDenied(await sign(attacked().claims()), request, "identity_provider");
    });
  });

  it("row 22: a broad issuer pattern is stored, with a warning in the log", async () => {
    const claimMatch = { issuerPattern: "https://x.example.com", subject: SUBJECT };
    const identity = await attacked().identity({ claimMatch });
    await attacked().identity({ claimMatch: { issuerPattern: "https://x\\.example\\.com", subject: SUBJECT } });
    const warnings = attacked()
      .server.log.map((line) => JSON.parse(line) as Body)
      .filter(({ level }) => level === "warn");
    expect(warnings).toMatchObject([
      { identity: expect.any(String), issuerPattern: ".*" },
      {
        event: "an issuer pattern may match more than was meant",
        identity,
        issuerPattern: "https://x.example.com",
        reason: "a dot without a backslash matches any character",
      },
    ]);
    // The one that it matches by mistake is asked, and has no address here.
    attacked().takeOutgoing();
    await attacked().expectDenied(
      await sign(attacked().claims({ iss: "https://xaexample.com" })),
      { identity },
      "document",
    );
    expect(attacked().takeOutgoing()).toEqual(["xaexample.com:"]);
  });

  describe("the exchange, by keys and names of ours", () => {
    it("a workload's key with our key's name is not a key of its issuer", async () => {
      const identity = await attacked().identity();
      await attacked().expectDenied(await sign(attacked().claims(), RSA, { kid: OURS.kid }), { identity }, "key");
    });

    it("our key does not sign for the development issuer, nor its key for us", async () => {
      const identity = await attacked().identity(trusting(attacked().server.issuer));
      const claims = attacked().claims({ iss: attacked().server.issuer });
      await granted(identity, await sign(claims, DEV));
      await attacked().expectDenied(await sign(claims, OURS), { identity }, "key");
      const own = attacked().claims({ iss: attacked().authUrl });
      for (const using of [DEV, OURS])
        await attacked().expectDenied(await sign(own, using), { identity }, "own_issuer");
    });

    it("an issuer that publishes our key as its own gains nothing from our tokens", () =>
      withIssuers(async (issuer) => {
        issuer.publish([OURS.jwk, RSA.jwk]);
        const relationship = { claimMatch: { issuerPattern: ".*", subjectPattern: ".*", audiencePattern: ".*" } };
        const identity = await attacked().identity(relationship);
        await granted(identity, await sign(attacked().claims({ iss: issuer.url })));
        await attacked().expectDenied(attacked().server.owner.token, { identity }, "own_issuer");
      }));
  });

  it.each<[string, () => Promise<string> | string]>([
    ["a root group", () => attacked().server.organization],
    ["a role", () => attacked().server.role("owner")],
    ["a role binding", async () => (await attacked().server.ok("GET", BINDINGS)).roleBindings[0].uid as string],
    ["an identity with a slash behind", () => `${attacked().server.identity}/`],
    ["an identity and a newline", () => `${attacked().server.identity}\n`],
    ["an identity in percent signs", () => attacked().server.identity.replace("/", "%2F")],
    ["two identities", () => `${attacked().server.identity},${attacked().server.identity}`],
  ])("the uid of %s is not an identity's", async (_what, uid) => {
    await attacked().expectDenied(await sign(attacked().claims()), { identity: await uid() }, "identity_unknown");
  });

  it("a uid that is as long as the request is not in the log", async () => {
    const before = attacked().server.log.length;
    const identity = attacked().server.organization + "/0123456789abcdef".repeat(1000);
    await attacked().expectDenied(await sign(attacked().claims()), { identity }, "identity_unknown");
    for (const line of attacked().server.log.slice(before)) expect(line.length).toBeLessThan(1000);
  });

  describe("ambiguous JSON in a token", () => {
    const spelled = (member: string) => sign(JSON.stringify(attacked().claims()).replace("{", `{${member},`));

    it.each([
      ["lists, thousands deep", `"a":${"[".repeat(5000)}${"]".repeat(5000)}`],
      ["objects, thousands deep", `"a":${'{"a":'.repeat(1500)}1${"}".repeat(1500)}`],
      ["a number beyond all numbers", '"a":1e400'],
      ["half a character in a claim outside the rule", '"a":"\\ud800"'],
      ["names of the object prototype", '"__proto__":{"sub":"x"},"constructor":1,"toString":null,"hasOwnProperty":0'],
    ])("%s: accepted, because the rule ignores it", async (_what, member) => {
      await granted(await attacked().identity(), await spelled(member));
    });

    it.each([
      ["subject", '"sub":{"__proto__":"x"}', "token_claims"],
      ["expiry", '"exp":1e400', "token_claims"],
      ["expiry", '"__proto__":{"exp":9999999999}', "times"],
    ])("a %s in another form: %s", async (_what, member, reason) => {
      const claims = attacked().claims(reason === "times" ? { exp: undefined } : {});
      const bearer = await sign(JSON.stringify(claims).replace("{", `{${member},`));
      await attacked().expectDenied(bearer, { identity: await attacked().identity() }, reason);
    });

    it("a claim of the rule with the name __proto__ is stored, and must match", async () => {
      const claimMatch = JSON.parse(`{"claims":{"__proto__":"x"}}`) as Body;
      const exact = { issuer: attacked().issuer.url, subject: SUBJECT };
      const identity = await attacked().identity({ claimMatch: { ...claimMatch, ...exact } });
      await attacked().expectDenied(await sign(attacked().claims()), { identity }, "claim", "__proto__");
      await granted(identity, await spelled('"__proto__":"x"'));
    });
  });

  it.each(["constructor", "__proto__", "toString", "groups.list,groups.delete"])(
    "the capability %s does not exist and grants nothing",
    async (cap) => {
      const request = { identity: attacked().server.identity, cap: [cap] };
      const { code, body } = await attacked().exchange(await attacked().server.identityToken("owner"), request);
      expect(code).toBe("OK");
      expect(payloadOf(body.token)).toMatchObject({ cap: {}, internal: { cap: "AAAAAAAAAAA" } });
    },
  );

  it("row 31: of concurrent uses of a refresh token one succeeds, and its family still ends", async () => {
    const { refreshToken } = await granted(await attacked().identity());
    attacked().takeReasons();
    const use = (token: string) => attacked().connection.exchangeRefreshToken([`Bearer ${token}`], {});
    const results = await Promise.all(Array.from({ length: 8 }, () => use(refreshToken)));
    const [winner, ...others] = results.toSorted((a, b) => Number(b.code === "OK") - Number(a.code === "OK"));
    expect(winner?.code).toBe("OK");
    for (const other of others) expect(other).toMatchObject({ code: "PERMISSION_DENIED", message: DENIED_TEXT });
    const next = winner?.body.refreshToken.token as string;
    for (const token of [next, winner?.body.token.token]) attacked().tokens.add(token);
    expect(await use(next)).toMatchObject({ code: "PERMISSION_DENIED", message: DENIED_TEXT });
    const reasons = attacked().takeReasons();
    expect(reasons.filter((reason) => reason === "granted")).toHaveLength(1);
    expect(reasons).toHaveLength(9);
  });

  it("row 34: the log of all this holds no token and no part of one", () => expectNoToken(attacked()));
});
