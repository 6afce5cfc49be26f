// Key pairs that repeat with their seed. OpenSSL takes no seed, so the numbers are found here and imported as JWK.
import {
  checkPrimeSync,
  createECDH,
  createPrivateKey,
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
} from "node:crypto";
import { bytesFromInteger, integerFromBytes, inverse } from "./integer.ts";
import type { Random } from "./random.ts";

export interface KeyPair {
  privateKey: KeyObject;
  publicKey: KeyObject;
}

const EXPONENT = 65537n;

const pairFrom = (jwk: JsonWebKey): KeyPair => {
  const privateKey = createPrivateKey({ key: jwk, format: "jwk" });
  return { privateKey, publicKey: createPublicKey(privateKey) };
};

const randomBytes = (random: Random, length: number): Buffer => Buffer.from(random.hex(2 * length), "hex");

const text = (value: bigint): string => bytesFromInteger(value).toString("base64url");

export const seededRsa = (random: Random, bits = 2048): KeyPair => {
  const [p, q] = [seededPrime(random, bits / 2), seededPrime(random, bits / 2)];
  const d = inverse(EXPONENT, (p - 1n) * (q - 1n));
  return pairFrom({
    kty: "RSA",
    n: text(p * q),
    e: text(EXPONENT),
    d: text(d),
    p: text(p),
    q: text(q),
    dp: text(d % (p - 1n)),
    dq: text(d % (q - 1n)),
    qi: text(inverse(q, p)),
  });
};

// The two highest bits are set, so that the product of two has all its bits.
const seededPrime = (random: Random, bits: number): bigint => {
  const top = 3n << BigInt(bits - 2);
  let candidate = integerFromBytes(randomBytes(random, bits / 8)) | top | 1n;
  while ((candidate - 1n) % EXPONENT === 0n || !checkPrimeSync(candidate)) candidate += 2n;
  return candidate;
};

export const CURVES = { "P-256": "prime256v1", "P-384": "secp384r1", "P-521": "secp521r1" } as const;

export const seededEc = (random: Random, crv: keyof typeof CURVES): KeyPair => {
  const ecdh = createECDH(CURVES[crv]);
  // A private key shorter than the order is below it.
  const length = { "P-256": 31, "P-384": 47, "P-521": 65 }[crv];
  ecdh.setPrivateKey(randomBytes(random, length));
  const point = ecdh.getPublicKey();
  const half = (point.length - 1) / 2;
  const d = Buffer.concat([Buffer.alloc(half - length), ecdh.getPrivateKey()]);
  return pairFrom({
    kty: "EC",
    crv,
    x: point.subarray(1, 1 + half).toString("base64url"),
    y: point.subarray(1 + half).toString("base64url"),
    d: d.toString("base64url"),
  });
};

// RFC 8410 section 7: the same bytes stand before every private key of this kind.
const ED25519_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

export const seededEd25519 = (random: Random): KeyPair => {
  const key = Buffer.concat([ED25519_PREFIX, randomBytes(random, 32)]);
  const privateKey = createPrivateKey({ key, format: "der", type: "pkcs8" });
  return { privateKey, publicKey: createPublicKey(privateKey) };
};
