// Rows 3 and 11 to 18 of docs/faults.md#tokens-that-must-be-refused over every wire: the documents of issuers, and their hosts.
// The server is never sent to another host, and a bad issuer does not affect others.
import { describe, expect, it } from "vitest";
import { sign } from "../../../harness/sts.ts";
import { forgedByExponentOne, rsaWith } from "../weak-key.ts";
import { expectNoToken, trusting, useAttackedServer, withIssuers } from "./attacked-server.ts";
import { DOCUMENT_ROWS, KEY_ROWS } from "./document-rows.ts";
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
  });

  it("row 34: the log of these tests has no token and no part of one", () => expectNoToken(attacked()));
});
