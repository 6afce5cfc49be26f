// Rows 3 and 11 to 18 of docs/faults.md#tokens-that-must-be-refused over every wire: the documents of issuers, and their hosts.
// The server is never sent to another host, and a bad issuer does not affect others.
import { describe, expect, it } from "vitest";
import { DISCOVERY, OTHER_RSA, RSA, SUBJECT, sign, startIssuer } from "../../../harness/sts.ts";
import { forgedByExponentOne, rsaWith } from "../weak-key.ts";
import { expectNoToken, trusting, useAttackedServer, withIssuers } from "./attacked-server.ts";
import { DOCUMENT_ROWS, KEY_ROWS } from "./document-rows.ts";
import { WIRES } from "./wire.ts";

const SECOND_MS = 1000;

// An attacker's name service can answer any address.
const INTERNAL = new Map(
  Object.entries({
    "loopback.example": "127.0.0.1",
    "a.private.example": "10.0.0.1",
    "b.private.example": "172.16.0.1",
    "c.private.example": "192.168.0.1",
    "carrier.example": "100.64.0.1",
    "metadata.example": "169.254.169.254",
    "agent.example": "168.63.129.16",
    "this-host.example": "0.0.0.0",
    "loopback-6.example": "::1",
    "unique-local.example": "fd00::1",
    "link-local.example": "fe80::1",
    "mapped.example": "::ffff:127.0.0.1",
    "translated.example": "64:ff9b::7f00:1",
    "6to4.example": "2002:7f00:1::",
  }).map(([host, address]) => [host, [{ address, family: address.includes(":") ? 6 : 4 }]]),
);

describe.each(WIRES)("over %s", (_, wire) => {
  const attacked = useAttackedServer(wire, { resolve: async (host) => INTERNAL.get(host) ?? [] });

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

  describe("row 13: an issuer in our own network", () => {
    it.each([...INTERNAL])("%s, which resolves to %j, gets no connection", async (host) => {
      const issuer = `https://${host}:${attacked().issuer.port}`;
      const identity = await attacked().identity(trusting(issuer));
      const before = attacked().issuer.connections();
      await attacked().expectDenied(await sign(attacked().claims({ iss: issuer })), { identity }, "document");
      expect(attacked().server.log.at(-2)).toContain("the host resolves to an address that is not public");
      expect(attacked().issuer.connections()).toBe(before);
    });

    it.each([
      ["10.0.0.1", "https://10.0.0.1"],
      ["a cloud's metadata", "https://169.254.169.254"],
      ["a private address, version 6", "https://[fd00:ec2::254]"],
      ["a mapped address", "https://[::ffff:a00:1]"],
    ])("%s in its URL gets no connection", async (_what, issuer) => {
      const identity = await attacked().identity(trusting(issuer));
      attacked().takeOutgoing();
      await attacked().expectDenied(await sign(attacked().claims({ iss: issuer })), { identity }, "document");
      expect(attacked().takeOutgoing()).toEqual([]);
    });
  });

  describe("row 16: endless requests", () => {
    it("cause one fetch, whatever the key, and one in 30 seconds for an unknown key", () =>
      withIssuers(async (issuer) => {
        const identity = await attacked().identity(trusting(issuer.url));
        const ask = async (kid: string) => {
          const bearer = await sign(attacked().claims({ iss: issuer.url }), OTHER_RSA, { kid });
          return (await attacked().exchange(bearer, { identity })).code;
        };
        const codes = await Promise.all(Array.from({ length: 20 }, (_unused, i) => ask(`unknown-${i}`)));
        expect(new Set(codes)).toEqual(new Set(["PERMISSION_DENIED"]));
        expect(issuer.paths).toEqual([DISCOVERY, "/jwks"]);
        attacked().server.clock.advance(30 * SECOND_MS);
        await Promise.all([ask("unknown-a"), ask("unknown-b")]);
        expect(issuer.paths).toHaveLength(4);
        attacked().server.clock.advance(-30 * SECOND_MS);
      }));
  });

  it("row 17: a key that the issuer has removed is accepted for at most ten minutes", () =>
    withIssuers(async (issuer) => {
      const identity = await attacked().identity(trusting(issuer.url));
      const { clock } = attacked().server;
      const ask = async () => {
        const now = Math.floor(clock() / SECOND_MS);
        const bearer = await sign(attacked().claims({ iss: issuer.url, iat: now, exp: now + 60 }));
        return (await attacked().exchange(bearer, { identity })).code;
      };
      expect(await ask()).toBe("OK");
      issuer.publish([OTHER_RSA.jwk]);
      clock.advance(600 * SECOND_MS - 1);
      expect(await ask()).toBe("OK");
      clock.advance(1);
      expect(await ask()).toBe("PERMISSION_DENIED");
      clock.advance(-600 * SECOND_MS);
    }));

  it("an issuer that never answers delays no other exchange", async () => {
    const dead = await startIssuer();
    const reached = Promise.withResolvers<void>();
    dead.handlers[DISCOVERY] = () => reached.resolve();
    const identity = await attacked().identity(trusting(dead.url));
    let isWaiting = true;
    const waiting = Promise.all(
      Array.from({ length: 20 }, async () => {
        const { code } = await attacked().exchange(await sign(attacked().claims({ iss: dead.url })), { identity });
        isWaiting = false;
        return code;
      }),
    );
    await reached.promise;
    const alive = await attacked().identity({ claimMatch: { issuer: attacked().issuer.url, subject: SUBJECT } });
    for (let i = 0; i < 20; i += 1)
      expect((await attacked().exchange(await sign(attacked().claims(), RSA), { identity: alive })).code).toBe("OK");
    expect(isWaiting).toBe(true);
    expect(dead.connections()).toBe(1);
    await dead.close();
    expect(new Set(await waiting)).toEqual(new Set(["PERMISSION_DENIED"]));
  });

  it("row 34: the log of these tests has no token and no part of one", () => expectNoToken(attacked()));
});
