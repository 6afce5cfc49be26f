// Which public keys are strong enough to trust their signatures (RFC 8725 section 3.5, NIST SP 800-131A Rev. 2 section 3).
// `key-set.ts` accepts strong curves only.
import type { KeyObject } from "node:crypto";

// The upper bound protects this server: verification takes time quadratic in the modulus.
const RSA_BITS = { min: 2048, max: 8192 };
// FIPS 186-5 section 5.1. Anyone can sign for the exponent 1, and 2 has no private key. For 3 or 17, signatures can be forged
// against careless verifiers, and no known issuer uses them.
const RSA_EXPONENT = { min: 65_537n, below: 2n ** 256n };
// SP 800-56B Rev. 2 section 6.4.2.2: a modulus with a factor below 752 was not made of two large primes.
const SMALL_FACTORS = primesBelow(752);

/** Why a key is too weak; undefined when it is not. */
export const keyWeakness = (key: KeyObject): string | undefined => {
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

function primesBelow(limit: number): bigint[] {
  const primes: number[] = [];
  for (let n = 2; n < limit; n += 1) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  return primes.map(BigInt);
}
