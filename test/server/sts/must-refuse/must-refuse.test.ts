// docs/internals/faults.md#tokens-that-must-be-refused over every wire, against one server. Each refusal has the fixed text,
// leaves one audit line with its reason and returns nothing else; the server connects only to the issuer that the
// identity trusts, and is never sent to another host. The last test of a wire searches the whole log.
import { createPrivateKey, createPublicKey } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { IAM, openHttp, queryText } from "../../../harness/api-server.ts";
import { createRecord } from "../../../harness/records.ts";
import { API_KEY, DEV_KEY, key, OTHER_RSA, RSA, SUBJECT, sign } from "../../../harness/sts.ts";
import { mutatedTokens } from "../../../soak/mutated-token.ts";
import type { Body } from "../../../support/http.ts";
import { forgedByExponentOne, rsaWith } from "../weak-key.ts";
import {
  DENIED_DETAILS as details,
  expectNoToken,
  trusting,
  UNAUTHENTICATED,
  useAttackedServer,
  withIssuers,
} from "./attacked-server.ts";
import { MUTATIONS } from "./mutation.ts";
import { CONTROL_ROWS, DOCUMENT_ROWS, KEY_ROWS, TOKEN_ROWS } from "./rows.ts";
import { CONTROLS, deniedText, type Row } from "./target.ts";
import { WIRES } from "./wire.ts";

// An attacker's name service can answer any address: issuer/address.test.ts has all that are not public.
const INTERNAL = new Map(
  Object.entries({
    "loopback.example": "127.0.0.1",
    "metadata.example": "169.254.169.254",
    "loopback-6.example": "::1",
    "mapped.example": "::ffff:127.0.0.1",
  }).map(([host, address]) => [host, [{ address, family: address.includes(":") ? 6 : 4 }]]),
);

const named = (rows: Row[]) => rows.map((row): [number, string, Row] => [row.row, row.what, row]);
const ownKey = ({ kid, privateJwk }: typeof API_KEY) => {
  const privateKey = createPrivateKey({ key: privateJwk, format: "jwk" });
  return key(kid, { privateKey, publicKey: createPublicKey(privateKey) });
};
const BINDINGS = `${IAM}/roleBindings`;
const [OURS, DEV] = [ownKey(API_KEY), ownKey(DEV_KEY)];

describe.each(WIRES)("over %s", (_, wire) => {
  const attacked = useAttackedServer(wire, async (host) => INTERNAL.get(host) ?? []);

  describe.each(TOKEN_ROWS)("refused by the %s", (_group, rows) => {
    it.each(named(rows))("row %i: %s", async (_row, _what, row) => {
      const { claimMatch, staticKeys } = row.relationship?.(attacked()) ?? {};
      const identity = await attacked().identity(claimMatch || staticKeys ? { claimMatch, staticKeys } : undefined);
      const bearer = await row.bearer(attacked());
      attacked().takeOutgoing();
      if (row.onWire === "UNAUTHENTICATED") {
        expect(await attacked().exchange(bearer, { identity })).toMatchObject(UNAUTHENTICATED);
      } else await attacked().expectDenied(bearer, { identity }, row.reason, row.invalid);
      const outgoing = attacked().takeOutgoing();
      const allowed = row.isOffline ? [] : [`127.0.0.1:${attacked().issuer.port}`];
      expect(outgoing.filter((host) => !allowed.includes(host))).toEqual([]);
      const { lastSeenTime, createTime } = await attacked().server.ok("GET", `/iam/v2beta1/identities/${identity}`);
      expect(lastSeenTime).toBe(createTime);
    });
  });

  it.each(CONTROLS)("a token that is signed with %s is taken", async (alg, key) => {
    const identity = await attacked().identity();
    const { code, body } = await attacked().exchange(await sign(attacked().claims(), key, { alg }), { identity });
    expect(code).toBe("OK");
    expect((await attacked().connection.listGroups([`Bearer ${body.token}`])).code).toBe("OK");
  });

  it.each(CONTROL_ROWS.map((row) => [row.what, row] as const))("a token is taken by %s", async (_what, row) => {
    const identity = await attacked().identity(row.relationship?.(attacked()));
    expect((await attacked().exchange(await row.bearer(attacked()), { identity })).code).toBe("OK");
  });

  it.each([
    ["jwk", OTHER_RSA.jwk],
    ["jku", "https://attacker.example"],
    ["x5u", "https://attacker.example"],
    ["x5c", ["AA"]],
  ])("row 4: a token whose %s is ignored is taken", async (name, value) => {
    const bearer = await sign(attacked().claims(), RSA, { [name]: value });
    expect((await attacked().exchange(bearer, { identity: await attacked().identity() })).code).toBe("OK");
  });

  describe("an issuer that publishes", () => {
    it.each(DOCUMENT_ROWS)("row %i: %s is refused", (_row, _what, detail, change) =>
      withIssuers(async (issuer, other) => {
        change(issuer, other);
        const identity = await attacked().identity(trusting(issuer.url));
        await attacked().expectDenied(await sign(attacked().claims({ iss: issuer.url })), { identity }, "document");
        expect(attacked().server.log.at(-2)).toContain(JSON.stringify(detail));
        expect(other.connections()).toBe(0);
      }),
    );

    it.each(KEY_ROWS)("row %i: %s is refused", (_row, _what, change) =>
      withIssuers(async (issuer, other) => {
        change(issuer, other);
        const identity = await attacked().identity(trusting(issuer.url));
        await attacked().expectDenied(await sign(attacked().claims({ iss: issuer.url })), { identity }, "key");
      }),
    );

    it("row 18: a key with the exponent 1 is refused, since anyone could sign for it", () =>
      withIssuers(async (issuer) => {
        issuer.publish([rsaWith({ e: 1n })]);
        const identity = await attacked().identity(trusting(issuer.url));
        const bearer = forgedByExponentOne(attacked().claims({ iss: issuer.url }));
        await attacked().expectDenied(bearer, { identity }, "key");
      }));

    it("valid documents is accepted", () =>
      withIssuers(async (issuer) => {
        const identity = await attacked().identity(trusting(issuer.url));
        const bearer = await sign(attacked().claims({ iss: issuer.url }));
        expect((await attacked().exchange(bearer, { identity })).code).toBe("OK");
      }));
  });

  it.each([...INTERNAL])("row 13: %s, which resolves to %j, gets no connection", async (host) => {
    const issuer = `https://${host}:${attacked().issuer.port}`;
    const identity = await attacked().identity(trusting(issuer));
    const before = attacked().issuer.connections();
    await attacked().expectDenied(await sign(attacked().claims({ iss: issuer })), { identity }, "document");
    expect(attacked().server.log.at(-2)).toContain("the host resolves to an address that is not public");
    expect(attacked().issuer.connections()).toBe(before);
  });

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
    const before = attacked().server.log.length;
    const claimMatch = { issuerPattern: "https://x.example.com", subject: SUBJECT };
    const identity = await attacked().identity({ claimMatch });
    await attacked().identity({ claimMatch: { issuerPattern: "https://x\\.example\\.com", subject: SUBJECT } });
    const lines = attacked()
      .server.log.slice(before)
      .map((line) => JSON.parse(line) as Body);
    expect(lines.filter(({ level }) => level === "warn")).toMatchObject([
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
        const message = deniedText(isGood ? invalid : undefined);
        expect(seen, what).toEqual({ code: "PERMISSION_DENIED", message, details, verifications: 1 });
        expect(outgoing.filter(isFetch), what).toEqual([]);
      }
    });

    it("nor with a token of an untrusted issuer: nothing is fetched or verified", async () => {
      const token = await sign(attacked().claims({ iss: "https://untrusted.example" }));
      for (const [what, identity] of identities) {
        const denied = { code: "PERMISSION_DENIED", message: deniedText(), details, outgoing: [], verifications: 0 };
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
        expect((await attacked().exchange(expired, { identity: uid })).message).toBe(deniedText());
      }
      const { message } = await attacked().exchange(expired, { identity: await attacked().identity() });
      const expiry = "Token Expiry: 2026-01-28 11:55:00 +0000 UTC";
      expect(message).toBe(`Permission denied: verifying token: oidc: token is expired (${expiry})`);
    });
  });

  it("row 34: the log of these tests, at level debug, and the console have no token and no part of one, wherever a caller puts it by mistake", async () => {
    const { server, tokens, logged } = attacked();
    const workload = await server.identityToken("owner", { claims: { secret: "s3cr3t-claim" } });
    const { nextPageToken } = await server.ok("GET", `${IAM}/roles`, { query: { page_size: 1 } });
    await server.call("GET", `${IAM}/roles`, { query: { page_token: `${nextPageToken}x` } });
    const group = `${IAM}/groups/${server.organization}`;
    for (const token of [server.owner.token, workload, nextPageToken]) {
      for (const form of [token, `${token}x`, token.toUpperCase(), `${token} ${token}`]) {
        tokens.add(form);
        await server.call("GET", group, { token: form });
      }
      for (const query of [{ token }, { access_token: token }]) await server.call("GET", group, { token: null, query });
      for (const body of [{ description: token }, `{"token": ${token}}`]) await server.call("PATCH", group, { body });
      await server.exchange(workload, { aud: token, identity: token, cap: token, scopes: token });
      await server.call("POST", "/dev-issuer/token", { body: { subject: token, claims: { token } } });
    }
    // The key's name is public and in the log; the key is not.
    tokens.add(`${API_KEY.privateJwk.n}`);
    expectNoToken(attacked());
    expect(logged()).not.toContain("s3cr3t-claim");
    // One stood in a path.
    expect(logged()).toContain("[token]");
  });
});

it("every row of the list that is about one token is in these tables", () => {
  const rows = new Set(TOKEN_ROWS.flatMap(([, own]) => own.map(({ row }) => row)));
  expect([...rows].toSorted((a, b) => a - b)).toEqual([
    1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 19, 20, 21, 22, 24, 25, 28, 29, 30, 33,
  ]);
});

// The quick part; the long one is a part of `npm run soak`.
it("1,000 mutated tokens are refused on every wire, and valid ones between them are accepted", async () => {
  const { figures, failures } = await mutatedTokens({ seed: 20_260_128, rounds: 1_000 });
  expect(failures).toEqual([]);
  expect(figures).toMatchObject({
    "mutated tokens refused": 1024,
    "kinds of mutation": Object.keys(MUTATIONS).length,
    // One fetch of two documents a wire, and one more for the first unknown key.
    "connections to the issuer": expect.toSatisfy((count: number) => count >= 4 && count <= 8),
  });
  expect(figures["good tokens taken between"]).toBeGreaterThan(4 * CONTROLS.length);
});
