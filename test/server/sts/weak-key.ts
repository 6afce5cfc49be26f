// RSA keys that prove nothing, and tokens that verify by them.
import { createHash } from "node:crypto";
import { base64url, RSA } from "../../harness/sts.ts";
import type { Body } from "../../support/http.ts";
import { bytesFromInteger, integerFromBytes } from "../../support/integer.ts";

/** A public key like `RSA` with other numbers. */
export const rsaWith = (numbers: { n?: bigint; e?: bigint }): Body => {
  const written = Object.entries(numbers).map(([name, value]) => [name, bytesFromInteger(value).toString("base64url")]);
  return { ...RSA.jwk, ...Object.fromEntries(written) };
};

export const MODULUS = integerFromBytes(Buffer.from(`${RSA.jwk.n}`, "base64url"));

/** By the exponent 1 a signature is the encoded hash itself (RFC 8017 section 9.2): it takes no private key. */
export const forgedByExponentOne = (claims: Body): string => {
  const signed = `${base64url({ alg: "RS256", kid: RSA.kid })}.${base64url(claims)}`;
  const digest = createHash("sha256").update(signed).digest();
  const info = Buffer.concat([Buffer.from("3031300d060960864801650304020105000420", "hex"), digest]);
  const padding = Buffer.alloc(256 - 3 - info.length, 0xff);
  const encoded = Buffer.concat([Buffer.from([0, 1]), padding, Buffer.from([0]), info]);
  return `${signed}.${encoded.toString("base64url")}`;
};
