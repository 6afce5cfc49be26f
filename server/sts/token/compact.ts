// Decodes the compact form of a signed token (RFC 7515 section 7.1) without verifying it. The token has three parts with one
// spelling each, and a header that asks for a signature only. Encrypted, detached and padded forms are refused.
import { isObject, type Json } from "../../../schema/index.ts";
import { type Reason, refusal } from "./refusal.ts";
import { ownValue, parseStrictJson } from "./strict-json.ts";

export const MAX_TOKEN_BYTES = 16 * 1024;

// Asymmetric only: for a symmetric one, the issuer's public key would be the secret (RFC 8725 section 2.1).
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

// `crit` and `b64` change what is signed (RFC 7797), `enc` and `zip` change the payload. `jwk`, `jku`, `x5u` and `x5c` are
// ignored: the key comes from the issuer's set, whatever the token says.
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

const isTokenType = (type: unknown): boolean =>
  typeof type === "string" && TYPES.includes(type.toLowerCase().replace(/^application\//, ""));
