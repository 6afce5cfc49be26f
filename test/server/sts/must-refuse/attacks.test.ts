// Attacks over every wire. First rows 7, 22 and 26 of docs/faults.md#tokens-that-must-be-refused, which take more than one
// token against one identity. Then attacks beyond the list: our keys in other places, uids of other kinds, ambiguous JSON.
// None succeeds, and none causes an internal error.
import { createPrivateKey, createPublicKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { IAM } from "../../../harness/api-server.ts";
import { createRecord } from "../../../harness/records.ts";
import { API_KEY, DEV_KEY, key, SUBJECT, sign } from "../../../harness/sts.ts";
import type { Body } from "../../../support/http.ts";
import { expectNoToken, trusting, useAttackedServer } from "./attacked-server.ts";
import { WIRES } from "./wire.ts";

const ownKey = ({ kid, privateJwk }: typeof API_KEY) => {
  const privateKey = createPrivateKey({ key: privateJwk, format: "jwk" });
  return key(kid, { privateKey, publicKey: createPublicKey(privateKey) });
};
const BINDINGS = `${IAM}/roleBindings`;
const [OURS, DEV] = [ownKey(API_KEY), ownKey(DEV_KEY)];

describe.each(WIRES)("over %s", (_, wire) => {
  const attacked = useAttackedServer(wire);

  const granted = async (identity: string, bearer: string): Promise<void> => {
    expect((await attacked().exchange(bearer, { identity })).code).toBe("OK");
  };

  it("row 7: an API token is not exchanged again, whatever the identity's patterns", async () => {
    const identity = await attacked().identity({ claimMatch: { issuerPattern: ".*", subjectPattern: ".*" } });
    const { token } = await attacked().exchanged(identity);
    attacked().takeOutgoing();
    await attacked().expectDenied(token, { identity }, "own_issuer");
    expect(attacked().takeOutgoing()).toEqual([]);
  });

  it("row 26: another tenant's identity is denied; who holds its issuer's token learns that the subject differs", async () => {
    const { server } = attacked();
    const { uid: tenant } = await createRecord(server, "groups", "", { name: "another tenant" });
    const body = { name: "ci", claimMatch: { issuer: attacked().issuer.url, subject: "repo:other-org/app" } };
    const { uid: identity } = await createRecord(server, "identities", tenant, body);
    await attacked().expectDenied(await sign(attacked().claims()), { identity }, "subject", "sub");
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

  it("our key does not sign for the development issuer, nor its key for us", async () => {
    const identity = await attacked().identity(trusting(attacked().server.issuer));
    const claims = attacked().claims({ iss: attacked().server.issuer });
    await granted(identity, await sign(claims, DEV));
    await attacked().expectDenied(await sign(claims, OURS), { identity }, "key");
    const own = attacked().claims({ iss: attacked().authUrl });
    for (const using of [DEV, OURS]) await attacked().expectDenied(await sign(own, using), { identity }, "own_issuer");
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

  const spelled = (member: string) => sign(JSON.stringify(attacked().claims()).replace("{", `{${member},`));

  it.each([
    ["lists, thousands deep", `"a":${"[".repeat(5000)}${"]".repeat(5000)}`],
    ["objects, thousands deep", `"a":${'{"a":'.repeat(1500)}1${"}".repeat(1500)}`],
    ["a number beyond all numbers", '"a":1e400'],
    ["half a character in a claim outside the rule", '"a":"\\ud800"'],
    ["names of the object prototype", '"__proto__":{"sub":"x"},"constructor":1,"toString":null,"hasOwnProperty":0'],
  ])("ambiguous JSON in a token: %s: accepted, because the rule ignores it", async (_what, member) => {
    await granted(await attacked().identity(), await spelled(member));
  });

  it("an expiry below __proto__ is none", async () => {
    const claims = JSON.stringify(attacked().claims({ exp: undefined }));
    const bearer = await sign(claims.replace("{", '{"__proto__":{"exp":9999999999},'));
    await attacked().expectDenied(bearer, { identity: await attacked().identity() }, "times");
  });

  it("a claim of the rule with the name __proto__ is stored, and must match", async () => {
    const claimMatch = JSON.parse(`{"claims":{"__proto__":"x"}}`) as Body;
    const exact = { issuer: attacked().issuer.url, subject: SUBJECT };
    const identity = await attacked().identity({ claimMatch: { ...claimMatch, ...exact } });
    await attacked().expectDenied(await sign(attacked().claims()), { identity }, "claim", "__proto__");
    await granted(identity, await spelled('"__proto__":"x"'));
  });

  it("row 34: the log of all this holds no token and no part of one", () => expectNoToken(attacked()));
});
