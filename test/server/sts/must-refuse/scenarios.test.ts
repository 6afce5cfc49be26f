// The rows of docs/faults.md#tokens-that-must-be-refused that take more than one token against one identity, over every wire:
// 7, 22, 23, 26, 27, 28, 31 to 35. The last test searches the whole log of the server.

import { describe, expect, it, vi } from "vitest";
import { capabilitiesFromBits } from "../../../../schema/index.ts";
import { IAM, queryText } from "../../../harness/api-server.ts";
import { HOUR_MS } from "../../../harness/clock.ts";
import { createRecord } from "../../../harness/records.ts";
import { headerOf, OTHER_RSA, payloadOf, RSA, SUBJECT, sign } from "../../../harness/sts.ts";
import { type Body, createHttpClient } from "../../../support/http.ts";
import { DENIED_TEXT, expectNoToken, trusting, useAttackedServer } from "./attacked-server.ts";
import { deniedText } from "./target.ts";
import { WIRES } from "./wire.ts";

const UNAUTHENTICATED = {
  code: "UNAUTHENTICATED",
  message: "Unauthenticated: a valid bearer token is required",
  body: {},
};
const bearer = (token: string) => [`Bearer ${token}`];

describe.each(WIRES)("over %s", (_, wire) => {
  const attacked = useAttackedServer(wire);

  const exchanged = async (identity: string, request: Body = {}): Promise<Body> => {
    const { code, body } = await attacked().exchange(await sign(attacked().claims()), { identity, ...request });
    expect(code).toBe("OK");
    return body;
  };

  describe("row 7: a token in the wrong place", () => {
    it("an API token is not exchanged again, whatever the identity's patterns", async () => {
      const identity = await attacked().identity({ claimMatch: { issuerPattern: ".*", subjectPattern: ".*" } });
      const { token } = await exchanged(identity);
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

  describe("row 23: both or neither of exact and pattern, or an empty text", () => {
    it.each<[string, Body, [field: string, text: RegExp][]]>([
      [
        "both issuers",
        { issuer: "https://a.example", issuerPattern: ".*", subject: "s" },
        [["claimMatch.issuerPattern", /^only one of/]],
      ],
      ["no issuer", { subject: "s" }, [["claimMatch.issuer", /./]]],
      ["an empty issuer", { issuer: "", subject: "s" }, [["claimMatch.issuer", /./]]],
      [
        "both subjects",
        { issuer: "https://a.example", subject: "s", subjectPattern: ".*" },
        [["claimMatch.subjectPattern", /^only one of/]],
      ],
      ["no subject", { issuer: "https://a.example" }, [["claimMatch.subject", /./]]],
      ["an empty pattern", { issuer: "https://a.example", subjectPattern: "" }, [["claimMatch.subjectPattern", /./]]],
      [
        "both audiences",
        { issuer: "https://a.example", subject: "s", audience: "a", audiencePattern: "a" },
        [["claimMatch.audiencePattern", /^only one of/]],
      ],
    ])("%s is INVALID_ARGUMENT at create", async (_what, claimMatch, expected) => {
      const { server } = attacked();
      const body = { name: "ci", claimMatch };
      const answer = await server.call("POST", `${IAM}/identities/${server.organization}`, { body });
      expect([answer.status, answer.json.code]).toEqual([400, 3]);
      const { fieldViolations } = answer.json.details[1];
      for (const [field, text] of expected)
        expect(fieldViolations).toContainEqual({ field, description: expect.stringMatching(text) });
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

    it("that was deleted is denied, and its token is refused", async () => {
      const identity = await attacked().identity();
      const { token } = await exchanged(identity);
      await attacked().server.ok("DELETE", `${IAM}/identities/${identity}`);
      await attacked().expectDenied(await sign(attacked().claims()), { identity }, "identity_unknown");
      expect(await attacked().connection.listGroups(bearer(token))).toMatchObject(UNAUTHENTICATED);
    });

    it("without any binding gets a token with an empty cap, which reads no record", async () => {
      const { token } = await exchanged(await attacked().identity());
      expect(payloadOf(token).cap).toEqual({});
      const { code, body } = await attacked().connection.listGroups(bearer(token));
      expect([code, body.totalCount]).toEqual(["OK", "0"]);
    });

    it("of an AWS principal is not supported, whatever the bearer", async () => {
      const { server } = attacked();
      const awsIdentity = { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/ci", userId: "AROA:ci" };
      const created = await createRecord(server, "identities", server.organization, { name: "aws", awsIdentity });
      const result = await attacked().exchange("signed-request", { identity: created.uid });
      const message = "Unimplemented: AWS identities cannot be assumed here";
      expect(result).toMatchObject({ code: "UNIMPLEMENTED", message });
    });

    it("of a custom identity provider is denied: this server trusts no such provider", async () => {
      const request = { identity: await attacked().identity(), identityProvider: attacked().server.organization };
      await attacked().expectDenied(await sign(attacked().claims()), request, "identity_provider");
    });
  });

  describe("row 27: a request for more than the grants", () => {
    const bound = async (): Promise<string> => {
      const { server } = attacked();
      const identity = await attacked().identity();
      const body = { identityUid: identity, roleUid: await server.role("viewer") };
      await createRecord(server, "roleBindings", server.organization, body);
      return identity;
    };

    it.each([
      ["a capability that is not held", { cap: ["groups.delete"] }],
      ["a capability that does not exist", { cap: ["no.such"] }],
      ["another tenant's scope", { scopes: ["0475f6ba00000000000000000000000000005b60"] }],
      ["a malformed scope", { scopes: ["*"] }],
    ])("%s: nothing is granted and nothing revealed", async (_what, request) => {
      const { token } = await exchanged(await bound(), request);
      expect(payloadOf(token).cap).toEqual({});
      const { body } = await attacked().connection.listGroups(bearer(token));
      expect(body.totalCount).toBe("0");
    });

    it("a capability that is held and one that is not: the first", async () => {
      const { token } = await exchanged(await bound(), { cap: ["groups.list", "groups.delete"] });
      const { cap } = payloadOf(token) as Body;
      expect(capabilitiesFromBits(cap[attacked().server.organization])).toEqual(["CAP_IAM_GROUPS_LIST"]);
    });

    it("a foreign audience gets a full error, since ours are public", async () => {
      const result = await attacked().exchange(await sign(attacked().claims()), {
        identity: await bound(),
        aud: "https://evil.example",
      });
      const description = expect.stringMatching(/^must be http:/);
      expect(result).toMatchObject({
        code: "INVALID_ARGUMENT",
        details: [{}, { "@type": "google.rpc.BadRequest", fieldViolations: [{ field: "aud", description }] }],
      });
    });
  });

  it("row 28: static keys end with their expirationTime", async () => {
    const expirationTime = new Date(attacked().server.clock() + HOUR_MS).toISOString();
    const issuerKeys = JSON.stringify({ keys: [OTHER_RSA.jwk] });
    const staticKeys = { issuer: "https://workload.example", subject: SUBJECT, issuerKeys, expirationTime };
    const identity = await attacked().identity({ staticKeys });
    const signed = () => {
      const now = Math.floor(attacked().server.clock() / 1000);
      const changes = { iss: staticKeys.issuer, iat: now, exp: now + 60 };
      return sign(attacked().claims(changes), OTHER_RSA);
    };
    attacked().takeOutgoing();
    attacked().server.clock.advance(HOUR_MS - 1);
    expect((await attacked().exchange(await signed(), { identity })).code).toBe("OK");
    attacked().server.clock.advance(1);
    await attacked().expectDenied(await signed(), { identity }, "static_keys_expired");
    expect(attacked().takeOutgoing()).toEqual([]);
    attacked().server.clock.advance(-HOUR_MS);
  });

  it("row 31: a refresh token that is used again is refused and ends its family", async () => {
    const first = await exchanged(await attacked().identity());
    const use = async (token: string) => {
      attacked().tokens.add(token);
      return attacked().connection.exchangeRefreshToken(bearer(token), {});
    };
    const second = await use(first.refreshToken);
    expect(second.code).toBe("OK");
    attacked().tokens.add(second.body.token.token);
    const denied = { code: "PERMISSION_DENIED", message: DENIED_TEXT, body: {} };
    attacked().takeReasons();
    expect(await use(first.refreshToken)).toMatchObject(denied);
    expect(await use(second.body.refreshToken.token)).toMatchObject(denied);
    expect(attacked().takeReasons()).toEqual(["refresh_reused", "refresh_unknown"]);
  });

  describe("row 32: the place of a token", () => {
    it.each<[string, (token: string) => string[]]>([
      ["nowhere", () => []],
      ["in two headers", (token) => [`Bearer ${token}`, `Bearer ${token}`]],
      ["beside an empty header", (token) => [`Bearer ${token}`, ""]],
      ["behind another's", (token) => ["Bearer other", `Bearer ${token}`]],
      ["twice in one header", (token) => [`Bearer ${token}, Bearer ${token}`]],
      ["twice in one header, without a comma", (token) => [`Bearer ${token} ${token}`]],
      ["as Basic", (token) => [`Basic ${token}`]],
      ["as Basic, in base64", (token) => [`Basic ${Buffer.from(`token:${token}`).toString("base64")}`]],
      ["as a scheme of another name", (token) => [`Token ${token}`]],
      ["without a scheme", (token) => [token]],
      ["without a space", (token) => [`Bearer${token}`]],
      ["behind two spaces", (token) => [`Bearer  ${token}`]],
      ["in two headers, of which one is none", (token) => [`Bearer ${token}`, `Bearer\t${token}`]],
      ["behind a tab", (token) => [`Bearer\t${token}`]],
      ["as a parameter", (token) => [`Bearer token=${token}, realm=x`]],
      ["in quotes, behind a comma", (token) => [`Bearer x,"${token}"`]],
    ])("%s: unauthenticated, at the exchange, at the refresh and at the API", async (_what, authorization) => {
      const identity = await attacked().identity();
      const [workload, { token, refreshToken }] = [await sign(attacked().claims()), await exchanged(identity)];
      for (const used of [workload, token, refreshToken]) attacked().tokens.add(used);
      const { connection } = attacked();
      expect(await connection.exchange(authorization(workload), { identity })).toMatchObject(UNAUTHENTICATED);
      expect(await connection.exchangeRefreshToken(authorization(refreshToken), {})).toMatchObject(UNAUTHENTICATED);
      expect(await connection.listGroups(authorization(token))).toMatchObject(UNAUTHENTICATED);
    });

    it.each(["Bearer", "bearer", "BEARER"])("in one header as %s: schemes have no case (RFC 9110)", async (scheme) => {
      const identity = await attacked().identity();
      const token = await sign(attacked().claims());
      expect((await attacked().connection.exchange([`${scheme} ${token}`], { identity })).code).toBe("OK");
    });

    it("not in the query, the form or a cookie", async () => {
      const { server } = attacked();
      const identity = await attacked().identity();
      const token = await sign(attacked().claims());
      attacked().tokens.add(token);
      const client = createHttpClient(server.authUrl);
      const names = ["access_token", "token", "authorization", "bearer", "name", "order_by", "uidp.ids"];
      const query = queryText({ identity, ...Object.fromEntries(names.map((name) => [name, token])) });
      const form = { "content-type": "application/x-www-form-urlencoded" };
      const answers = await Promise.all([
        client.send({ method: "GET", target: `/sts/exchange${query}` }),
        client.send({ method: "POST", target: "/sts/exchange", headers: form, body: query.slice(1) }),
        client.send({
          method: "GET",
          target: `/sts/exchange?identity=${identity}`,
          headers: { cookie: `token=${token}` },
        }),
        client.send({ method: "GET", target: `/iam/v2beta1/groups${query}` }),
        client.send({ method: "GET", target: `/${token}` }),
      ]);
      client.close();
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 404]);
    });
  });

  describe("row 33: what callers can distinguish", () => {
    // The caller has a valid token of a trusted issuer, or an invented one. Only the holder of a valid token of the identity's own
    // issuer learns the claim that does not match.
    const unknown = "720909c9f5279097d847ad02a2f24ba8f59de36a/a033a6fabe0bfa0d";
    const identities: [what: string, identity: () => Promise<string | undefined>, invalid?: string][] = [
      ["one that does not exist", async () => unknown],
      [
        "one that trusts another subject",
        () => attacked().identity({ claimMatch: { issuer: attacked().issuer.url, subject: "x" } }),
        "sub",
      ],
      ["one that trusts another issuer", () => attacked().identity(trusting("https://elsewhere.example"))],
      [
        "one that wants another audience",
        () => attacked().identity({ claimMatch: { issuer: attacked().issuer.url, subject: SUBJECT, audience: "x" } }),
        "sub",
      ],
      [
        "one that wants another claim",
        () =>
          attacked().identity({
            claimMatch: { issuer: attacked().issuer.url, subject: SUBJECT, claims: { env: "prod" } },
          }),
        "sub",
      ],
      [
        "one that was deleted",
        async () => {
          const identity = await attacked().identity();
          await attacked().server.ok("DELETE", `${IAM}/identities/${identity}`);
          return identity;
        },
      ],
      ["none, where no identity has that subject", async () => undefined],
    ];

    it.each([
      ["a good token", RSA, true],
      ["a forged token", OTHER_RSA, false],
    ])("with %s all identities of other issuers give the same answer, after the same steps", async (_, key, isGood) => {
      const token = await sign(attacked().claims({ sub: "unknown", jti: undefined }), key, { kid: RSA.kid });
      const seen: unknown[] = [];
      for (const [, identity] of identities) {
        const uid = await identity();
        // The issuer's keys are known, as they are in a server at work.
        await attacked().exchange(await sign(attacked().claims()), { identity: await attacked().identity() });
        attacked().takeOutgoing();
        const verify = vi.spyOn(crypto.subtle, "verify");
        const { code, message, details } = await attacked().exchange(token, uid ? { identity: uid } : {});
        seen.push({
          code,
          message,
          details,
          fetches: attacked().takeOutgoing().length,
          verifications: verify.mock.calls.length,
        });
        verify.mockRestore();
      }
      const details = [{ "@type": "google.rpc.ErrorInfo", reason: "PERMISSION_DENIED", domain: "iam.chainguard.dev" }];
      const steps = { fetches: 0, verifications: 1 };
      expect(seen).toEqual(
        identities.map(([, , invalid]) => {
          const message = isGood ? deniedText(invalid) : DENIED_TEXT;
          return { code: "PERMISSION_DENIED", message, details, ...steps };
        }),
      );
    });

    it("nor with a token of an untrusted issuer: nothing is fetched or verified", async () => {
      const token = await sign(attacked().claims({ iss: "https://untrusted.example" }));
      for (const [, identity] of identities) {
        const uid = await identity();
        attacked().takeOutgoing();
        const verify = vi.spyOn(crypto.subtle, "verify");
        const { code, message } = await attacked().exchange(token, uid ? { identity: uid } : {});
        expect([code, message, attacked().takeOutgoing(), verify.mock.calls.length]).toEqual([
          "PERMISSION_DENIED",
          DENIED_TEXT,
          [],
          0,
        ]);
        verify.mockRestore();
      }
    });

    it("an expired token gets that error only if it would have been exchanged", async () => {
      const { clock } = attacked().server;
      const now = Math.floor(clock() / 1000);
      const expired = await sign(attacked().claims({ iat: now - 600, exp: now - 300 }));
      for (const [, identity] of identities) {
        const uid = await identity();
        if (!uid) continue;
        expect((await attacked().exchange(expired, { identity: uid })).message).toBe(DENIED_TEXT);
      }
      const { message } = await attacked().exchange(expired, { identity: await attacked().identity() });
      expect(message).toMatch(/^Permission denied: verifying token: oidc: token is expired \(Token Expiry: /);
    });
  });

  it("row 35: a rotation of the signing key breaks no live token", async () => {
    const { server } = attacked();
    const identity = await attacked().identity();
    const before = await exchanged(identity);
    await server.rotateKeys();
    server.clock.advance(10 * 60_000);
    const { clock } = server;
    const now = Math.floor(clock() / 1000);
    const fresh = await attacked().exchange(await sign(attacked().claims({ iat: now, exp: now + 60 })), { identity });
    expect(headerOf(fresh.body.token).kid).not.toBe(headerOf(before.token).kid);
    for (const { token } of [before, fresh.body])
      expect((await attacked().connection.listGroups(bearer(token))).code).toBe("OK");
    server.clock.advance(-10 * 60_000);
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

  it("row 34: the log of these tests and the console have no token and no part of one", () => {
    expectNoToken(attacked());
    // One stood in a path.
    expect(attacked().logged()).toContain("[token]");
  });
});
