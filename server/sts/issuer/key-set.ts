// Reads a JSON Web Key Set (RFC 7517) to public keys that may verify a signature, and picks one for a token. It drops weak,
// private and ambiguous keys, and keys for other purposes. The set of an identity must not contain any such key.

import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { isObject, type Json } from "../../../schema/index.ts";
import { ownValue, parseStrictJson } from "../token/compact.ts";
import { refusal } from "../token/refusal.ts";

const MAX_KEYS = 100;
const PRIVATE_PARTS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
const RSA_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];
const CURVE_ALGORITHMS: Record<string, string> = {
  "EC P-256": "ES256",
  "EC P-384": "ES384",
  "EC P-521": "ES512",
  "OKP Ed25519": "EdDSA",
};

interface VerificationKey {
  keyId: string | undefined;
  /** the algorithms of its type; only its own `alg`, if it has one */
  algorithms: string[];
  key: KeyObject;
}
export type KeySet = readonly VerificationKey[];

/** The usable keys, and the reasons against the others. Throws TypeError if the text is not a set. */
export const parseKeySet = (text: string): { keys: VerificationKey[]; refused: string[] } => {
  const set = parseStrictJson(text);
  const members = isObject(set) ? ownValue(set, "keys") : undefined;
  if (!Array.isArray(members)) throw new TypeError('not an object with a list of "keys"');
  if (members.length > MAX_KEYS) throw new TypeError(`more than ${MAX_KEYS} keys`);
  const keys: VerificationKey[] = [];
  const refused: string[] = [];
  for (const [i, member] of members.entries()) {
    const read = readKey(member, members);
    if (typeof read === "string") refused.push(`key ${i + 1}: ${read}`);
    else keys.push(read);
  }
  return { keys, refused };
};

/** Why a text is not a set of public keys; undefined when it is one. */
export const jwksViolation = (text: string): string | undefined => {
  const reason = setRefusal(text);
  return reason === undefined ? undefined : `must be a JSON Web Key Set of public keys: ${reason}`;
};

const setRefusal = (text: string) => {
  try {
    const { keys, refused } = parseKeySet(text);
    return refused[0] ?? (keys.length === 0 ? "it has no key" : undefined);
  } catch (error) {
    return (error as TypeError).message;
  }
};

/** The key that a token names; without a name, the only one for its algorithm. */
export const pickKey = (keys: KeySet, keyId: string | undefined, algorithm: string): KeyObject => {
  const named = keyId === undefined ? keys : keys.filter((key) => key.keyId === keyId);
  if (named.length === 0) throw refusal("key", "the issuer has no such key");
  // The key defines its purpose; the token's header only has to agree (RFC 8725 section 3.1).
  const [first, ...others] = named.filter((key) => key.algorithms.includes(algorithm));
  if (!first) throw refusal("key", "the key is not one of the token's algorithm");
  if (others.length > 0) throw refusal("key", "the token names no key and the issuer has several");
  return first.key;
};

/** False when only another fetch can find the key. */
export const hasKey = (keys: KeySet, keyId: string | undefined, algorithm: string): boolean =>
  keys.some((key) => (keyId === undefined ? key.algorithms.includes(algorithm) : key.keyId === keyId));

const readKey = (jwk: unknown, all: readonly unknown[]): VerificationKey | string => {
  if (!isObject(jwk)) return "not an object";
  const keyId = ownValue(jwk, "kid");
  if (keyId !== undefined && typeof keyId !== "string") return "kid is not a string";
  if (keyId !== undefined && all.filter((other) => isObject(other) && ownValue(other, "kid") === keyId).length > 1)
    return "its kid is not the only one";
  if (PRIVATE_PARTS.some((part) => Object.hasOwn(jwk, part))) return "it has private parts";
  const use = ownValue(jwk, "use");
  if (use !== undefined && use !== "sig") return 'its use is not "sig"';
  const operations = ownValue(jwk, "key_ops");
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify")))
    return 'its key_ops lack "verify"';
  const algorithms = algorithmsOf(jwk);
  if (algorithms.length === 0) return "its kty, crv and alg name no supported algorithm";
  const key = importKey(jwk);
  return typeof key === "string" ? key : { keyId, algorithms, key };
};

const algorithmsOf = (jwk: Json) => {
  const type = ownValue(jwk, "kty");
  const ofCurve = CURVE_ALGORITHMS[`${type} ${ownValue(jwk, "crv")}`];
  const possible = type === "RSA" ? RSA_ALGORITHMS : ofCurve ? [ofCurve] : [];
  const declared = ownValue(jwk, "alg");
  return declared === undefined ? possible : possible.filter((algorithm) => algorithm === declared);
};

const importKey = (jwk: Json): KeyObject | string => {
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: "jwk" });
    return keyWeakness(key) ?? key;
  } catch {
    // a point off the curve, a missing or overlong member: OpenSSL does not report which
    return "its members do not make a key";
  }
};

// The upper bound protects this server: verification takes time quadratic in the modulus.
const RSA_BITS = { min: 2048, max: 8192 };
// FIPS 186-5 section 5.1. Anyone can sign for the exponent 1, and 2 has no private key. For 3 or 17, signatures can be forged
// against careless verifiers, and no known issuer uses them.
const RSA_EXPONENT = { min: 65_537n, below: 2n ** 256n };
// SP 800-56B Rev. 2 section 6.4.2.2: a modulus with a factor below 752 was not made of two large primes.
const SMALL_FACTORS = primesBelow(752);

// Why a key is too weak (RFC 8725 section 3.5, NIST SP 800-131A Rev. 2 section 3); undefined when it is not.
const keyWeakness = (key: KeyObject): string | undefined => {
  if (key.asymmetricKeyType !== "rsa") return undefined;
  // As OpenSSL counts: leading zero bytes make a number longer, not stronger.
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (modulusLength < RSA_BITS.min || modulusLength > RSA_BITS.max)
    return `an RSA key has ${RSA_BITS.min} to ${RSA_BITS.max} bits`;
  if (publicExponent % 2n === 0n || publicExponent < RSA_EXPONENT.min || publicExponent >= RSA_EXPONENT.below)
    return `the exponent of an RSA key is odd, at least ${RSA_EXPONENT.min} and below 2^256`;
  const modulus = BigInt(`0x${Buffer.from(String(key.export({ format: "jwk" }).n), "base64url").toString("hex")}`);
  if (SMALL_FACTORS.some((prime) => modulus % prime === 0n)) return "the modulus of an RSA key has no small factor";
  return undefined;
};

function primesBelow(limit: number) {
  const primes: number[] = [];
  for (let n = 2; n < limit; n += 1) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  return primes.map(BigInt);
}
