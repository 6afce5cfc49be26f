// Signed tokens that repeat with their seed: what OpenSSL draws at random, the salt of RSA-PSS and the secret number of
// ECDSA, comes from the seed. Not for anything but tests: these numbers can be guessed.
import { constants, createECDH, createHash, type KeyObject, privateEncrypt, sign as signWith } from "node:crypto";
import { bytesFromInteger, integerFromBytes, inverse } from "./integer.ts";
import type { Random } from "./random.ts";
import { CURVES } from "./seeded-key.ts";

const base64url = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/** A compact token (RFC 7515 section 7.1) of any header and payload; a text is signed unchanged. */
export const signSeeded = (
  random: Random,
  payload: object | string,
  privateKey: KeyObject,
  header: { alg: string; [name: string]: unknown },
): string => {
  const signed = `${base64url(header)}.${base64url(payload)}`;
  return `${signed}.${signatureOf(random, header.alg, privateKey, Buffer.from(signed)).toString("base64url")}`;
};

/** The signature of a JWS algorithm (RFC 7518 section 3.1, RFC 8037 section 3.1). */
export const signatureOf = (random: Random, alg: string, privateKey: KeyObject, signed: Buffer): Buffer => {
  const hash = `sha${alg.slice(2)}`;
  switch (alg.slice(0, 2)) {
    case "RS":
      return signWith(hash, signed, privateKey);
    case "PS":
      return signPss(random, hash, privateKey, signed);
    case "ES":
      return signEcdsa(random, hash, privateKey, signed);
    default:
      return signWith(null, signed, privateKey);
  }
};

// RFC 8017 section 9.1.1, for a modulus of whole bytes and a salt as long as the hash (RFC 7518 section 3.5).
const signPss = (random: Random, hash: string, key: KeyObject, signed: Buffer): Buffer => {
  const length = (key.asymmetricKeyDetails?.modulusLength as number) / 8;
  const digest = createHash(hash).update(signed).digest();
  const salt = Buffer.from(random.hex(2 * digest.length), "hex");
  const seed = createHash(hash)
    .update(Buffer.concat([Buffer.alloc(8), digest, salt]))
    .digest();
  const block = Buffer.alloc(length - digest.length - 1);
  block[block.length - salt.length - 1] = 1;
  salt.copy(block, block.length - salt.length);
  const mask = maskOf(hash, seed, block.length);
  for (const [i, byte] of mask.entries()) block[i] = (block[i] as number) ^ byte;
  // The encoded message is a bit shorter than the modulus.
  block[0] = (block[0] as number) & 0x7f;
  const encoded = Buffer.concat([block, seed, Buffer.from([0xbc])]);
  return privateEncrypt({ key, padding: constants.RSA_NO_PADDING }, encoded);
};

// MGF1, RFC 8017 section B.2.1.
const maskOf = (hash: string, seed: Buffer, length: number): Buffer => {
  const blocks: Buffer[] = [];
  for (let i = 0; Buffer.concat(blocks).length < length; i += 1) {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(i);
    blocks.push(createHash(hash).update(seed).update(counter).digest());
  }
  return Buffer.concat(blocks).subarray(0, length);
};

// Orders of the curves, SEC 2 sections 2.4.2, 2.5.1 and 2.6.1.
const ORDERS: Readonly<Record<keyof typeof CURVES, bigint>> = {
  "P-256": 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  "P-384": 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
  "P-521":
    0x1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
};

// FIPS 186-5 section 6.4.1; r and s one after the other (RFC 7518 section 3.4).
const signEcdsa = (random: Random, hash: string, key: KeyObject, signed: Buffer): Buffer => {
  const jwk = key.export({ format: "jwk" }) as { crv: keyof typeof CURVES; d: string };
  const order = ORDERS[jwk.crv];
  const length = Math.ceil(order.toString(16).length / 2);
  // A number shorter than the order is below it. No hash of these algorithms is longer than its order.
  const secret = Buffer.from(random.hex(2 * (length - 1)), "hex");
  const ecdh = createECDH(CURVES[jwk.crv]);
  ecdh.setPrivateKey(secret);
  const r = integerFromBytes(ecdh.getPublicKey().subarray(1, 1 + length)) % order;
  const digest = integerFromBytes(createHash(hash).update(signed).digest());
  const d = integerFromBytes(Buffer.from(jwk.d, "base64url"));
  const s = (inverse(integerFromBytes(secret), order) * ((digest + r * d) % order)) % order;
  return Buffer.concat([bytesFromInteger(r, length), bytesFromInteger(s, length)]);
};

/** The form that X.509 has for an ECDSA signature (RFC 3279 section 2.2.3), from that of JOSE. */
export const derFromEcdsa = (signature: Buffer): Buffer => {
  const half = signature.length / 2;
  const integers = [signature.subarray(0, half), signature.subarray(half)].map((bytes) => {
    const value = bytesFromInteger(integerFromBytes(bytes));
    // A highest bit that is set would make it negative.
    const content = (value[0] as number) & 0x80 ? Buffer.concat([Buffer.alloc(1), value]) : value;
    return Buffer.concat([Buffer.from([0x02, content.length]), content]);
  });
  const content = Buffer.concat(integers);
  const length = content.length < 0x80 ? [content.length] : [0x81, content.length];
  return Buffer.concat([Buffer.from([0x30, ...length]), content]);
};

/** A token whose signature begins with a zero byte: one of 256 does. `attempt` gives the payload of each try. */
export const signWithLeadingZero = (
  random: Random,
  attempt: (jti: string) => object,
  privateKey: KeyObject,
  header: { alg: string; [name: string]: unknown },
): string => {
  for (;;) {
    const token = signSeeded(random, attempt(random.hex(16)), privateKey, header);
    if (signatureBytes(token)[0] === 0) return token;
  }
};

export const signatureBytes = (token: string): Buffer =>
  Buffer.from(token.slice(token.lastIndexOf(".") + 1), "base64url");

export const withSignature = (token: string, signature: Buffer): string =>
  `${token.slice(0, token.lastIndexOf("."))}.${signature.toString("base64url")}`;
