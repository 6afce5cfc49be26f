// The server's signing keys: RS256 with 2048 bits or more, rotated by age or on demand. Keys are plain records
// that the caller stores, each before it is published.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
} from "node:crypto";
import { promisify } from "node:util";
import { CompactSign } from "jose";
import { API_TOKEN_LIFE_MS } from "../../../schema/index.ts";

const RSA_BITS = 2048;

/** A key as JSON (RFC 7517). Not the type of node:crypto, which is missing from @types/node 26: programs reach this one. */
type Jwk = Readonly<Record<string, unknown>>;

export interface StoredKey {
  /** thumbprint of the public key (RFC 7638) */
  kid: string;
  /** secret: the private key (RFC 7517) */
  privateJwk: Jwk;
  createdMs: number;
}

/** A KeyObject of node:crypto, opaque to programs: their compilation needs no types of Node for this one. */
interface PublicKey {
  readonly type: string;
}

export interface Signer {
  sign(claims: Record<string, unknown>): Promise<string>;
  /** the public key of this name, if it is ours */
  publicKey(kid: string): PublicKey | undefined;
  /** the public keys (RFC 7517), newest first */
  jwks(): { keys: Jwk[] };
  /** Generates the next key: published now, it signs in ten minutes, and the key before it ends 70 minutes after that. */
  rotate(): Promise<void>;
}

interface SignerOptions {
  clock: () => number;
  /** default: a key that lives as long as the signer */
  keys?: readonly StoredKey[];
  /** Stores all of them or none. */
  save?: (keys: readonly StoredKey[]) => void;
  /** one line for each rotation */
  log?: (event: Record<string, unknown>) => void;
}

export const generateKey = (createdMs: number): StoredKey => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: RSA_BITS });
  return storedKey(privateKey, createdMs);
};

export const createSigner = ({ clock, save, log, ...options }: SignerOptions): Signer => {
  const stored = options.keys ?? [generateKey(clock())];
  let keys = stored.map(readKey).sort((a, b) => a.createdMs - b.createdMs);
  if (keys.length === 0) throw new TypeError("a signer needs a key");
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length) throw new TypeError("two signing keys have the same kid");
  let rotating: Promise<void> | undefined;
  let triedMs = -Infinity;

  const makeNext = async () => {
    triedMs = clock();
    // In the thread pool: it takes as long as hundreds of exchanges.
    const { privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: RSA_BITS });
    const createdMs = clock();
    const next = readKey(storedKey(privateKey, createdMs));
    const all = [...liveKeys(keys, createdMs), next];
    save?.(all.map(({ kid, privateJwk, createdMs: madeMs }) => ({ kid, privateJwk, createdMs: madeMs })));
    keys = all;
    const signsFrom = new Date(createdMs + JWKS_CACHE_MS).toISOString();
    log?.({ event: "sts.key", outcome: "rotated", kid: next.kid, signsFrom });
  };
  const rotate = () => {
    rotating ??= makeNext()
      .catch((error: unknown) => {
        log?.({ event: "sts.key", outcome: "failed", detail: (error as Error).message });
        throw error;
      })
      .finally(() => {
        rotating = undefined;
      });
    return rotating;
  };
  // In the background: the current key signs until its successor may. A failure starts a pause.
  const rotateIfDue = () => {
    const now = clock();
    if (!isRotationDue(keys, now) || (now >= triedMs && now - triedMs < JWKS_CACHE_MS)) return;
    // `rotate` has already logged it.
    rotate().catch(() => undefined);
  };
  rotateIfDue();

  return {
    rotate,
    async sign(claims) {
      rotateIfDue();
      const { kid, privateKey } = signingKey(keys, clock());
      const header = { alg: "RS256", kid, typ: "JWT" };
      return new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader(header).sign(privateKey);
    },
    publicKey: (kid) => liveKeys(keys, clock()).find((key) => key.kid === kid)?.publicKey,
    jwks: () => ({
      keys: liveKeys(keys, clock())
        .reverse()
        .map(({ publicJwk }) => publicJwk),
    }),
  };
};

interface SigningKey extends StoredKey {
  privateKey: KeyObject;
  publicKey: KeyObject;
  publicJwk: Jwk;
}

const storedKey = (privateKey: KeyObject, createdMs: number): StoredKey => {
  const privateJwk = privateKey.export({ format: "jwk" });
  const { e, kty, n } = privateJwk;
  const kid = createHash("sha256").update(JSON.stringify({ e, kty, n })).digest("base64url");
  return { kid, privateJwk, createdMs };
};

const readKey = ({ kid, privateJwk, createdMs }: StoredKey): SigningKey => {
  const privateKey = createPrivateKey({ key: privateJwk as JsonWebKey, format: "jwk" });
  if ((privateKey.asymmetricKeyDetails?.modulusLength ?? 0) < RSA_BITS)
    throw new TypeError(`the signing key ${kid} is not an RSA key of ${RSA_BITS} bits`);
  const publicKey = createPublicKey(privateKey);
  const publicJwk = { ...publicKey.export({ format: "jwk" }), kid, alg: "RS256", use: "sig" };
  return { kid, privateJwk, createdMs, privateKey, publicKey, publicJwk };
};

// The periods in which a key signs and is accepted follow only from the creation times of the keys. A restart during a rotation changes
// nothing. A new key is published before it signs, for as long as clients may cache the key set. An old key is accepted until the last
// token that it signed has expired, and for the cache time after that.

const DAY_MS = 24 * 60 * 60 * 1000;
/** An older key gets a successor. */
const ROTATE_AFTER_MS = 30 * DAY_MS;
/** How long clients may cache our key set. */
const JWKS_CACHE_MS = 10 * 60 * 1000;

interface Made {
  createdMs: number;
}

/** The first key signs at once: no client has cached a key set without it. `keys` are in the order of creation. */
const signsFromMs = (keys: readonly Made[], i: number) =>
  i === 0 ? -Infinity : (keys[i] as Made).createdMs + JWKS_CACHE_MS;

const endsMs = (keys: readonly Made[], i: number) =>
  i === keys.length - 1 ? Infinity : signsFromMs(keys, i + 1) + API_TOKEN_LIFE_MS + JWKS_CACHE_MS;

/** The keys that are served and accepted. */
export const liveKeys = <K extends Made>(keys: readonly K[], nowMs: number): K[] =>
  keys.filter((_, i) => nowMs < endsMs(keys, i));

/** The newest key that clients have had time to fetch. */
export const signingKey = <K extends Made>(keys: readonly K[], nowMs: number): K =>
  keys.findLast((_, i) => signsFromMs(keys, i) <= nowMs) as K;

export const isRotationDue = (keys: readonly Made[], nowMs: number): boolean =>
  nowMs - Math.max(...keys.map(({ createdMs }) => createdMs)) >= ROTATE_AFTER_MS;
