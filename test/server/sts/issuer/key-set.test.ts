import { expect, it } from "vitest";
import { jwksViolation } from "../../../../server/sts/index.ts";
import { parseKeySet } from "../../../../server/sts/issuer/key-set.ts";
import { ec, ed25519, OTHER_RSA, RSA, rsa } from "../../../harness/sts.ts";
import { MODULUS, rsaWith } from "../weak-key.ts";

const P256 = ec("ec-1", "P-256").jwk;
const ED = ed25519("ed-1").jwk;
const setOf = (...keys: unknown[]) => JSON.stringify({ keys });

const unsupported = "key 1: its kty, crv and alg name no supported algorithm";

const modulus = "key 1: the modulus of an RSA key has no small factor";

const exponent = "key 1: the exponent of an RSA key is odd, at least 65537 and below 2^256";

const padded = () => {
  const { jwk } = rsa("padded", 1024);
  return { ...jwk, n: Buffer.concat([Buffer.alloc(128), Buffer.from(`${jwk.n}`, "base64url")]).toString("base64url") };
};

it.each([
  ["one key", setOf(RSA.jwk)],
  ["a key of each kind", setOf(RSA.jwk, P256, ec("a", "P-384").jwk, ec("b", "P-521").jwk, ED)],
  ["a key for signatures", setOf({ ...RSA.jwk, use: "sig", key_ops: ["verify"], alg: "PS256" })],
  ["the largest exponent", setOf(rsaWith({ e: 2n ** 256n - 1n }))],
  ["a key without a name", setOf({ ...RSA.jwk, kid: undefined })],
  ["keys without names", setOf({ ...RSA.jwk, kid: undefined }, { ...ED, kid: undefined })],
])("jwksViolation has nothing against %s", (_, text) => expect(jwksViolation(text)).toBeUndefined());

const flipped = `${P256.y}`.replace(/^./, (first) => (first === "A" ? "B" : "A"));
it.each<[string, string, string]>([
  ["no JSON", "keys", "not JSON"],
  ["no set", JSON.stringify(RSA.jwk), 'not an object with a list of "keys"'],
  ["a list", JSON.stringify([RSA.jwk]), 'not an object with a list of "keys"'],
  ["keys twice", '{"keys":[],"keys":[]}', "a JSON object has the same name twice"],
  ["no key", setOf(), "it has no key"],
  ["101 keys", setOf(...new Array(101).fill(RSA.jwk)), "more than 100 keys"],
  ["a key that is a text", setOf("key"), "key 1: not an object"],
  ["1024 bits", setOf(RSA.jwk, rsa("short", 1024).jwk), "key 2: an RSA key has 2048 to 8192 bits"],
  ["1024 bits behind zeros", setOf(padded()), "key 1: an RSA key has 2048 to 8192 bits"],
  ["2047 bits", setOf(rsaWith({ n: MODULUS >> 1n })), "key 1: an RSA key has 2048 to 8192 bits"],
  ["8193 bits", setOf(rsaWith({ n: (1n << 8192n) + 1n })), "key 1: an RSA key has 2048 to 8192 bits"],
  ...[0n, 1n, 2n, 3n, 17n, 65_535n, 65_536n, 65_538n, 2n ** 256n, 2n ** 256n + 1n].map(
    (e): [string, string, string] => [`the exponent ${e}`, setOf(rsaWith({ e })), exponent],
  ),
  ["an even modulus", setOf(rsaWith({ n: MODULUS - 1n })), modulus],
  ["a factor of 751", setOf(rsaWith({ n: MODULUS - (MODULUS % 751n) })), modulus],
  ["a kid twice", setOf(RSA.jwk, { ...OTHER_RSA.jwk, kid: "rsa-1" }), "key 1: its kid is not the only one"],
  ["a kid that is a number", setOf({ ...RSA.jwk, kid: 1 }), "key 1: kid is not a string"],
  ["a private key", setOf(RSA.privateKey.export({ format: "jwk" })), "key 1: it has private parts"],
  ["a secret", setOf({ kty: "oct", k: "c2VjcmV0" }), "key 1: it has private parts"],
  ["a key for encryption", setOf({ ...RSA.jwk, use: "enc" }), 'key 1: its use is not "sig"'],
  ["a key that may only sign", setOf({ ...RSA.jwk, key_ops: ["sign"] }), 'key 1: its key_ops lack "verify"'],
  ["key_ops as a text", setOf({ ...RSA.jwk, key_ops: "verify" }), 'key 1: its key_ops lack "verify"'],
  ["another key's alg", setOf({ ...P256, alg: "RS256" }), unsupported],
  ["another curve's alg", setOf({ ...P256, alg: "ES384" }), unsupported],
  ["HS256 on an RSA key", setOf({ ...RSA.jwk, alg: "HS256" }), unsupported],
  ["a curve of a currency", setOf({ ...P256, crv: "secp256k1" }), unsupported],
  ["no kty", setOf({ ...RSA.jwk, kty: undefined }), unsupported],
  ["a point off the curve", setOf({ ...P256, y: flipped }), "key 1: its members do not make a key"],
  ["no modulus", setOf({ kty: "RSA", e: "AQAB" }), "key 1: its members do not make a key"],
])("jwksViolation refuses %s", (_, text, reason) =>
  expect(jwksViolation(text)).toBe(`must be a JSON Web Key Set of public keys: ${reason}`),
);

it("parseKeySet leaves out what may not verify and keeps the rest: issuers publish keys for other purposes too", () => {
  const { keys, refused } = parseKeySet(setOf({ ...OTHER_RSA.jwk, use: "enc" }, RSA.jwk));
  expect(keys).toMatchObject([{ keyId: "rsa-1", algorithms: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] }]);
  expect(refused).toEqual(['key 1: its use is not "sig"']);
});

it("parseKeySet leaves out both keys of one name, even if only one is for signatures", () => {
  expect(parseKeySet(setOf({ ...OTHER_RSA.jwk, kid: "rsa-1", use: "enc" }, RSA.jwk)).keys).toEqual([]);
});
