// Signed tokens as no library would write them, and signatures in another spelling.
import { constants, type KeyObject, sign as signWith } from "node:crypto";

interface Header {
  alg: string;
  [name: string]: unknown;
}

const base64url = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/** A compact token (RFC 7515 section 7.1) of any header and payload; a text is signed unchanged. */
export const signToken = (payload: object | string, privateKey: KeyObject, header: Header): string => {
  const signed = `${base64url(header)}.${base64url(payload)}`;
  return `${signed}.${signatureOf(header.alg, privateKey, Buffer.from(signed)).toString("base64url")}`;
};

/** By the algorithm of JWS (RFC 7518 section 3.1, RFC 8037 section 3.1). */
const signatureOf = (alg: string, key: KeyObject, signed: Buffer): Buffer => {
  if (alg === "EdDSA") return signWith(null, signed, key);
  const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_DIGEST: saltLength } = constants;
  const pss = alg.startsWith("PS") && { padding, saltLength };
  return signWith(`sha${alg.slice(2)}`, signed, { key, dsaEncoding: "ieee-p1363", ...pss });
};

/** A token whose signature begins with a zero byte: one of 256 does. `attempt` gives the payload of each try. */
export const signWithLeadingZero = (attempt: (jti: string) => object, privateKey: KeyObject, header: Header) => {
  for (let i = 0; ; i += 1) {
    const token = signToken(attempt(`try ${i}`), privateKey, header);
    if (signatureBytes(token)[0] === 0) return token;
  }
};

export const signatureBytes = (token: string): Buffer =>
  Buffer.from(token.slice(token.lastIndexOf(".") + 1), "base64url");

export const withSignature = (token: string, signature: Buffer): string =>
  `${token.slice(0, token.lastIndexOf("."))}.${signature.toString("base64url")}`;
