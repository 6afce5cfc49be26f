// What a caller can try and learn: rows 32 and 33 of docs/faults.md#tokens-that-must-be-refused, over every wire. The last test
// searches the whole log of the server.
import { describe, expect, it, vi } from "vitest";
import { IAM, openHttp, queryText } from "../../../harness/api-server.ts";
import { OTHER_RSA, RSA, SUBJECT, sign } from "../../../harness/sts.ts";
import { DENIED_TEXT, expectNoToken, trusting, UNAUTHENTICATED, useAttackedServer } from "./attacked-server.ts";
import { deniedText } from "./target.ts";
import { WIRES } from "./wire.ts";

describe.each(WIRES)("over %s", (_, wire) => {
  const attacked = useAttackedServer(wire);

  describe("row 32: the place of a token", () => {
    it.each<[string, (token: string) => string[]]>([
      ["nowhere", () => []],
      ["in two headers", (token) => [`Bearer ${token}`, `Bearer ${token}`]],
      ["beside an empty header", (token) => [`Bearer ${token}`, ""]],
      ["behind another's", (token) => ["Bearer other", `Bearer ${token}`]],
      ["twice in one header", (token) => [`Bearer ${token}, Bearer ${token}`]],
      ["twice in one header, without a comma", (token) => [`Bearer ${token} ${token}`]],
      ["before a comma", (token) => [`Bearer ${token},`]],
      ["behind a scheme alone", () => ["Bearer "]],
      ["behind an empty text", () => [""]],
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
      const [workload, { token, refreshToken }] = [
        await sign(attacked().claims()),
        await attacked().exchanged(identity),
      ];
      for (const used of [workload, token, refreshToken]) attacked().tokens.add(used);
      const { connection } = attacked();
      expect(await connection.exchange(authorization(workload), { identity })).toMatchObject(UNAUTHENTICATED);
      expect(await connection.exchangeRefreshToken(authorization(refreshToken), {})).toMatchObject(UNAUTHENTICATED);
      expect(await connection.listGroups(authorization(token))).toMatchObject(UNAUTHENTICATED);
    });

    it.each(["Bearer", "bearer", "BEARER"])("in one header as %s: schemes have no case (RFC 9110)", async (scheme) => {
      const { connection } = attacked();
      const identity = await attacked().identity();
      const workload = await sign(attacked().claims());
      const { code, body } = await connection.exchange([`${scheme} ${workload}`], { identity });
      attacked().tokens.add(body.token);
      expect([code, (await connection.listGroups([`${scheme} ${body.token}`])).code]).toEqual(["OK", "OK"]);
    });

    it("not in the query, the form or a cookie", async () => {
      const { server } = attacked();
      const identity = await attacked().identity();
      const token = await sign(attacked().claims());
      attacked().tokens.add(token);
      const client = openHttp(server.authUrl);
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
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 404]);
    });
  });

  describe("row 33: what callers can distinguish", () => {
    // The caller has a valid token of a trusted issuer, or an invented one. Only the holder of a valid token of the identity's own
    // issuer learns the claim that does not match.
    const unknown = "720909c9f5279097d847ad02a2f24ba8f59de36a/a033a6fabe0bfa0d";
    const matching = (fields: object) =>
      attacked().identity({ claimMatch: { issuer: attacked().issuer.url, subject: SUBJECT, ...fields } });
    const identities: [what: string, identity: () => Promise<string | undefined>, invalid?: string][] = [
      ["one that does not exist", async () => unknown],
      ["one that trusts another subject", () => matching({ subject: "x" }), "sub"],
      ["one that trusts another issuer", () => attacked().identity(trusting("https://elsewhere.example"))],
      ["one that wants another audience", () => matching({ audience: "x" }), "sub"],
      ["one that wants another claim", () => matching({ claims: { env: "prod" } }), "sub"],
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

    /** What a caller is answered, and what the server did for it. */
    const watched = async (token: string, uid: string | undefined) => {
      attacked().takeOutgoing();
      const verify = vi.spyOn(crypto.subtle, "verify");
      const { code, message, details } = await attacked().exchange(token, uid ? { identity: uid } : {});
      const steps = { outgoing: attacked().takeOutgoing(), verifications: verify.mock.calls.length };
      verify.mockRestore();
      return { code, message, details, ...steps };
    };
    // A client that another file of this process has left open may connect again to a server of its own.
    const isFetch = (one: string) => !one.startsWith("127.0.0.1:") || attacked().issuer.url.endsWith(one);
    const details = [{ "@type": "google.rpc.ErrorInfo", reason: "PERMISSION_DENIED", domain: "iam.chainguard.dev" }];

    it.each([
      ["a good token", RSA, true],
      ["a forged token", OTHER_RSA, false],
    ])("with %s all identities of other issuers give the same answer, after the same steps", async (_, key, isGood) => {
      const token = await sign(attacked().claims({ sub: "unknown", jti: undefined }), key, { kid: RSA.kid });
      for (const [what, identity, invalid] of identities) {
        const uid = await identity();
        // The issuer's keys are known, as they are in a server at work.
        await attacked().exchange(await sign(attacked().claims()), { identity: await attacked().identity() });
        const { outgoing, ...seen } = await watched(token, uid);
        const message = isGood ? deniedText(invalid) : DENIED_TEXT;
        expect(seen, what).toEqual({ code: "PERMISSION_DENIED", message, details, verifications: 1 });
        expect(outgoing.filter(isFetch), what).toEqual([]);
      }
    });

    it("nor with a token of an untrusted issuer: nothing is fetched or verified", async () => {
      const token = await sign(attacked().claims({ iss: "https://untrusted.example" }));
      for (const [what, identity] of identities) {
        const denied = { code: "PERMISSION_DENIED", message: DENIED_TEXT, details, outgoing: [], verifications: 0 };
        expect(await watched(token, await identity()), what).toEqual(denied);
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
      const expiry = "Token Expiry: 2026-01-28 11:55:00 +0000 UTC";
      expect(message).toBe(`Permission denied: verifying token: oidc: token is expired (${expiry})`);
    });
  });

  it("row 34: the log of these tests and the console have no token and no part of one", () => {
    expectNoToken(attacked());
    // One stood in a path.
    expect(attacked().logged()).toContain("[token]");
  });
});
