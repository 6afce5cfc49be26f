// Nearly valid tokens: each is a valid one with a change, or is signed by the right key for the wrong claims.
// Seeded. None equals a valid one, and none may be accepted.
import { createHmac, sign as signWith } from "node:crypto";
import { base64url, type Key, NOW } from "../../../harness/sts.ts";
import type { Body } from "../../../support/http.ts";
import type { Random } from "../../../support/random.ts";
import { signToken } from "../../../support/signature.ts";

/** A valid token, and what is needed to sign another. */
export interface Original {
  token: string;
  alg: string;
  key: Key;
}

/** What tokens are made from. */
export interface Sources {
  /** good tokens */
  all: readonly Original[];
  /** an untrusted key */
  stranger: Key;
}

export type Mutation = (random: Random, original: Original, sources: Sources) => string;

const partsOf = (token: string) => token.split(".") as [header: string, payload: string, signature: string];
const decode = (part: string): Body => JSON.parse(Buffer.from(part, "base64url").toString());
const join = (...parts: string[]) => parts.join(".");
const replaceAt = (text: string, i: number, by: string) => text.slice(0, i) + by + text.slice(i + 1);

// Values of a claim that make a token invalid.
const CLAIMS: ((random: Random) => Body)[] = [
  (random) => ({ sub: `repo:evil/${random.hex(6)}` }),
  () => ({ sub: undefined }),
  (random) => ({ aud: `https://${random.hex(6)}.example` }),
  () => ({ aud: [] }),
  (random) => ({ iss: `https://${random.hex(6)}.example` }),
  () => ({ iss: undefined }),
  (random) => ({ exp: NOW - 61 - random.below(1e6) }),
  (random) => ({ exp: NOW + 86_401 + random.below(1e9), iat: NOW }),
  () => ({ exp: String(NOW + 300) }),
  () => ({ exp: undefined }),
  (random) => ({ nbf: NOW + 61 + random.below(1e6) }),
  (random) => ({ iat: NOW + 61 + random.below(1e3), exp: NOW + 1e4 }),
];

const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

const changedClaims = (random: Random, token: string): Body => ({
  ...decode(partsOf(token)[1]),
  ...random.pick(CLAIMS)(random),
});

/** A bit of the bytes of one part. */
const bitFlip: Mutation = (random, { token }) => {
  const parts = partsOf(token);
  const i = random.below(3);
  const bytes = Buffer.from(parts[i] as string, "base64url");
  const at = random.below(bytes.length);
  bytes[at] = (bytes[at] as number) ^ (1 << random.below(8));
  parts[i] = bytes.toString("base64url");
  return join(...parts);
};

/** A character of the text, by any that a header can hold. */
const character: Mutation = (random, { token }) =>
  replaceAt(token, random.below(token.length), String.fromCharCode(0x21 + random.below(0x7e - 0x21)));

const length: Mutation = (random, { token }) => {
  const at = random.below(token.length);
  const piece = token.slice(at, at + 1 + random.below(8));
  return random.pick([
    token.slice(0, at),
    token.slice(at),
    token.slice(0, at) + token.slice(at + piece.length),
    token.slice(0, at) + piece + token.slice(at),
    token + piece,
    `${token}.${piece}`,
    token.replace(/\.[^.]*$/, ""),
    `${token}=`,
  ]);
};

/** Parts of several good tokens. */
const partSwap: Mutation = (random, _, { all }) =>
  join(...[0, 1, 2].map((i) => partsOf(random.pick(all).token)[i] as string));

/** The signature of one, over another's header or claims. */
const headerSwap: Mutation = (random, { token }, { all, stranger }) => {
  const [header, payload, signature] = partsOf(token);
  const changes: Body = random.pick([
    { alg: random.pick([...ALGORITHMS, "none", "HS256", "HS512"]) },
    { kid: random.pick(all).key.kid },
    { kid: random.hex(8) },
    { kid: undefined },
    { typ: random.pick(["JWE", "dpop+jwt", "secevent+jwt"]) },
    { crit: ["exp"] },
    { b64: false, crit: ["b64"] },
    { jwk: stranger.jwk },
    { jku: "https://evil.example/jwks" },
  ]);
  return join(base64url({ ...decode(header), ...changes }), payload, signature);
};

const claimSwap: Mutation = (random, { token }) => {
  const [header, , signature] = partsOf(token);
  return join(header, base64url(changedClaims(random, token)), signature);
};

/** The same claims and better ones, by a stranger's key under the name of a good one. */
const strangersKey: Mutation = (random, { token, key }, { stranger }) => {
  const claims = random.below(2) === 0 ? decode(partsOf(token)[1]) : changedClaims(random, token);
  const header = { alg: "RS256", kid: key.kid, ...(random.below(2) === 0 && { jwk: stranger.jwk }) };
  return signToken(claims, stranger.privateKey, header);
};

/** Claims that the issuer itself may not make. */
const wrongClaims: Mutation = (random, { token, alg, key }) =>
  signToken(changedClaims(random, token), key.privateKey, { alg, kid: key.kid });

/** The same meaning in other words. */
const respelling: Mutation = (random, { token }) => {
  const parts = partsOf(token);
  const i = random.below(2);
  const json = decode(parts[i] as string);
  const entries = Object.entries(json);
  const [first] = entries[0] as [string, unknown];
  parts[i] = base64url(
    random.pick([
      ` ${JSON.stringify(json)}`,
      JSON.stringify(json, null, 1 + random.below(4)),
      JSON.stringify({ [random.hex(4)]: 1, ...json }),
      JSON.stringify(json).replace(first[0] as string, `\\u00${(first.charCodeAt(0) as number).toString(16)}`),
      JSON.stringify(json).replace("{", `{"${first}":1,`),
      `\ufeff${JSON.stringify(json)}`,
    ]),
  );
  return join(...parts);
};

/** The public key as if it were a secret. */
const confusion: Mutation = (random, { token, key }) => {
  const [, payload] = partsOf(token);
  const secret = random.pick([
    key.publicKey.export({ type: "spki", format: "pem" }).toString(),
    key.publicKey.export({ type: "spki", format: "der" }),
    JSON.stringify(key.jwk),
    key.kid,
    "",
  ]);
  const [alg, hash] = random.pick([
    ["HS256", "sha256"],
    ["HS384", "sha384"],
    ["HS512", "sha512"],
  ] as const);
  const signed = join(base64url({ alg, kid: key.kid }), payload);
  return join(signed, createHmac(hash, secret).update(signed).digest("base64url"));
};

/** Signatures of the right form that sign nothing, and right ones in a wrong form. */
const signature: Mutation = (random, { token, alg, key }) => {
  const [header, payload, signed] = partsOf(token);
  const bytes = Buffer.from(signed, "base64url");
  const half = bytes.length / 2;
  const other = random.pick([
    Buffer.alloc(bytes.length),
    Buffer.alloc(bytes.length, 0xff),
    Buffer.concat([bytes.subarray(half), bytes.subarray(0, half)]),
    Buffer.concat([Buffer.alloc(1), bytes]),
    bytes.subarray(1),
    Buffer.from(bytes).reverse(),
    alg === "EdDSA" ? withOrderAdded(bytes) : derOf(alg, key, join(header, payload)),
  ]);
  return join(header, payload, other.toString("base64url"));
};

// The group's order added to S gives a second signature for the same message, if a verifier does not look (RFC 8032, 5.1.7).
const ORDER = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;
const withOrderAdded = (bytes: Buffer): Buffer => {
  const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString("hex")}`) + ORDER;
  const hex = s.toString(16).padStart(64, "0");
  return Buffer.concat([bytes.subarray(0, 32), Buffer.from(hex, "hex").reverse()]);
};

// An ECDSA signature as X.509 writes it is none of JOSE (RFC 7518, 3.4); of RSA, one over another hash.
const derOf = (alg: string, { privateKey }: Key, text: string): Buffer =>
  signWith(alg.startsWith("ES") ? `sha${alg.slice(2)}` : "sha1", Buffer.from(text), privateKey);

export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  "bit flip": bitFlip,
  character,
  length,
  "part swap": partSwap,
  "header swap": headerSwap,
  "claim swap": claimSwap,
  "stranger's key": strangersKey,
  "wrong claims": wrongClaims,
  respelling,
  confusion,
  signature,
};

/** A changed token; never a good one. */
export const mutate = (random: Random, sources: Sources): { kind: string; token: string } => {
  const [kind, mutation] = random.pick(Object.entries(MUTATIONS));
  const token = mutation(random, random.pick(sources.all), sources);
  return sources.all.some((original) => original.token === token) ? mutate(random, sources) : { kind, token };
};
