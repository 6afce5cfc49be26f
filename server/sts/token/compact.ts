// Decodes the compact form of a signed token (RFC 7515 section 7.1) without verifying it. The token has three parts with one
// spelling each, and a header that asks for a signature only. Encrypted, detached and padded forms are refused.

import type { KeyObject } from "node:crypto";
import { isObject, type Json } from "../../../schema/index.ts";
import { hasDuplicateName } from "../../base/duplicate-name.ts";
import { type Reason, refusal } from "./refusal.ts";

export const MAX_TOKEN_BYTES = 16 * 1024;

// Asymmetric only: for a symmetric one, the issuer's public key would be the secret (RFC 8725 section 2.1).
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

// `crit` and `b64` change what is signed (RFC 7797), `enc` and `zip` change the payload. `jwk`, `jku`, `x5u` and `x5c` are
// ignored: the key always comes from the issuer's set.
const REFUSED_HEADERS = ["crit", "b64", "enc", "zip"];

// Explicit types exclude tokens for other purposes (RFC 8725 section 3.11): logout, DPoP, events.
const TYPES = ["jwt", "jose", "at+jwt"];

// Base64, URLs and thumbprints; no quote, space, backslash or percent sign, which no issuer uses.
const KEY_ID = /^(?!.*\.\.)[\w+/=.:@-]{1,255}$/;

export interface CompactToken {
  compact: string;
  algorithm: string;
  keyId: string | undefined;
  claims: Json;
}

export const decodeCompact = (compact: string): CompactToken => {
  if (compact.length > MAX_TOKEN_BYTES) throw refusal("token_shape", "longer than 16 KiB");
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(compact)) throw refusal("token_shape", "not three base64url parts");
  const [header, claims] = compact.split(".").map(decodePart) as [Buffer, Buffer, Buffer];
  return { compact, ...checkHeader(parseObject(header, "token_header")), claims: parseObject(claims, "token_claims") };
};

// Several texts can decode to the same bytes. The signature covers the text; a denylist or a log might not.
const decodePart = (part: string): Buffer => {
  const bytes = Buffer.from(part, "base64url");
  if (bytes.toString("base64url") !== part) throw refusal("token_shape", "not canonical base64url");
  return bytes;
};

const parseObject = (bytes: Buffer, reason: Reason): Json => {
  try {
    const value = parseStrictJson(bytes);
    if (isObject(value)) return value;
  } catch (error) {
    throw refusal(reason, (error as TypeError).message);
  }
  throw refusal(reason, "not a JSON object");
};

const checkHeader = (header: Json): Pick<CompactToken, "algorithm" | "keyId"> => {
  const algorithm = ownValue(header, "alg");
  if (typeof algorithm !== "string" || !ALGORITHMS.includes(algorithm))
    throw refusal("token_header", "alg is not one of the list");
  const asked = REFUSED_HEADERS.find((name) => Object.hasOwn(header, name));
  if (asked) throw refusal("token_header", `${asked} is not supported`);
  const type = ownValue(header, "typ");
  if (type !== undefined && !isTokenType(type)) throw refusal("token_header", "typ does not name a token");
  const keyId = ownValue(header, "kid");
  if (keyId !== undefined && (typeof keyId !== "string" || !KEY_ID.test(keyId)))
    throw refusal("token_header", "kid is not the name of a key");
  return { algorithm, keyId };
};

const isTokenType = (type: unknown) =>
  typeof type === "string" && TYPES.includes(type.toLowerCase().replace(/^application\//, ""));

// The length of a key's signatures. The standards fix it, but not every library checks it. OpenSSL accepts an RSA-PSS signature
// without its leading zero bytes, so one token would have several spellings.

// r and s, each as long as the order of the curve (RFC 7518 section 3.4).
const EC_BYTES: Readonly<Record<string, number>> = { prime256v1: 2 * 32, secp384r1: 2 * 48, secp521r1: 2 * 66 };
/** RFC 8032 section 5.1.6 */
const ED25519_BYTES = 64;

/** True when the last part of a compact token is as long as a signature of the key. */
export const hasSignatureLength = (compact: string, key: KeyObject): boolean => {
  const bytes = Buffer.byteLength(compact.slice(compact.lastIndexOf(".") + 1), "base64url");
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  // As long as the modulus (RFC 8017, sections 8.1.2 and 8.2.2).
  if (type === "rsa") return bytes === Math.ceil((details?.modulusLength ?? Number.NaN) / 8);
  if (type === "ec") return bytes === EC_BYTES[details?.namedCurve ?? ""];
  return type === "ed25519" && bytes === ED25519_BYTES;
};

// JSON that two parsers cannot read differently: UTF-8 without a byte order mark, and each name once in an object. RFC 8259
// section 4 leaves duplicates to the parser; RFC 7515 section 4 forbids them in a header.

/** Throws a TypeError that does not repeat the input. */
export const parseStrictJson = (input: Uint8Array | string): unknown => {
  const text = typeof input === "string" ? input : decodeUtf8(input);
  const value = parse(text);
  if (hasDuplicateName(text, value)) throw new TypeError("a JSON object has the same name twice");
  return value;
};

/** A member of the object itself: not `__proto__` or `constructor` of the prototype. */
export const ownValue = (object: Json, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

const decodeUtf8 = (bytes: Uint8Array) => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // the decoder's own text adds nothing
    throw new TypeError("not UTF-8");
  }
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // the parser's own text quotes the input, which may be a token
    throw new TypeError("not JSON");
  }
};
