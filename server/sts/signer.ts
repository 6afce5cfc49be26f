// The keys that this server signs with: RS256 of 2048 bits or more. The newest signs; every one verifies and is published,
// so that a key can be retired after the last token that it signed. Keys are plain records that the caller stores.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
} from "node:crypto";
import { CompactSign } from "jose";

const RSA_BITS = 2048;

export interface StoredKey {
  /** thumbprint of the public key (RFC 7638) */
  kid: string;
  /** secret: the private key (RFC 7517) */
  privateJwk: JsonWebKey;
  createdMs: number;
}

export interface Signer {
  sign(claims: Record<string, unknown>): Promise<string>;
  /** the public key of that name, if it is one of ours */
  publicKey(kid: string): KeyObject | undefined;
  /** the public keys (RFC 7517), newest first */
  jwks(): { keys: JsonWebKey[] };
}

export const generateKey = (createdMs: number): StoredKey => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: RSA_BITS });
  const privateJwk = privateKey.export({ format: "jwk" });
  return { kid: thumbprint(privateJwk), privateJwk, createdMs };
};

/** Without keys, one that lives as long as the signer. */
export const createSigner = (options: { clock: () => number; keys?: readonly StoredKey[] }): Signer => {
  const stored = options.keys ?? [generateKey(options.clock())];
  const keys = stored.map(readKey).sort((a, b) => b.createdMs - a.createdMs);
  const [newest] = keys;
  if (!newest) throw new TypeError("a signer needs a key");
  const byId = new Map(keys.map((key) => [key.kid, key]));
  if (byId.size < keys.length) throw new TypeError("two signing keys have the same kid");
  const published = keys.map(publicJwk);
  const header = { alg: "RS256", kid: newest.kid, typ: "JWT" };
  return {
    sign: (claims) =>
      new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader(header).sign(newest.privateKey),
    publicKey: (kid) => byId.get(kid)?.publicKey,
    jwks: () => ({ keys: published }),
  };
};

type SigningKey = { kid: string; createdMs: number; privateKey: KeyObject; publicKey: KeyObject };

const readKey = ({ kid, privateJwk, createdMs }: StoredKey): SigningKey => {
  const privateKey = createPrivateKey({ key: privateJwk, format: "jwk" });
  if ((privateKey.asymmetricKeyDetails?.modulusLength ?? 0) < RSA_BITS)
    throw new TypeError(`the signing key ${kid} is not an RSA key of ${RSA_BITS} bits`);
  return { kid, createdMs, privateKey, publicKey: createPublicKey(privateKey) };
};

const publicJwk = ({ kid, publicKey }: SigningKey): JsonWebKey => ({
  ...publicKey.export({ format: "jwk" }),
  kid,
  alg: "RS256",
  use: "sig",
});

const thumbprint = ({ e, kty, n }: JsonWebKey): string =>
  createHash("sha256").update(JSON.stringify({ e, kty, n })).digest("base64url");
