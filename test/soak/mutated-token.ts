// Mutated tokens: tokens that are nearly good, of workloads to the exchange and of our own to the API, over every wire. None
// may be taken; the good ones that they are made from are, before, between and after. Keys, salts and tokens come from the
// seed: a run that finds something finds it again.

import { createHash } from "node:crypto";
import { createSigner, type StoredKey } from "../../server/sts/key/signer.ts";
import { startServer, type TestServer } from "../harness/api-server.ts";
import { manualClock, NOON_MS } from "../harness/clock.ts";
import { createRecord } from "../harness/records.ts";
import { claimsFrom, type Issuer, type Key, key, payloadOf, SUBJECT, startIssuer } from "../harness/sts.ts";
import { mutate, type Original, type Sources } from "../server/sts/must-refuse/mutation.ts";
import type { Result } from "../server/sts/must-refuse/target.ts";
import { type Connection, WIRES, type Wire } from "../server/sts/must-refuse/wire.ts";
import { createRandom, type Random } from "../support/random.ts";
import { seededEc, seededEd25519, seededRsa } from "../support/seeded-key.ts";
import { signSeeded, signWithLeadingZero } from "../support/seeded-signature.ts";
import type { PartOptions, PartResult } from "./part.ts";

const AT_ONCE = 16;
/** Controls after so many. */
const BETWEEN = 500;
/** Of ten mutated tokens, so many go to the API. */
const TO_API = 3;

const REFUSALS = ["PERMISSION_DENIED", "UNAUTHENTICATED"];

/** `rounds` tokens in all, the same number over each wire. */
export const mutatedTokens = async ({ seed, rounds, log }: PartOptions): Promise<PartResult> => {
  const failures: string[] = [];
  const kinds = new Map<string, number>();
  const digest = createHash("sha256");
  const moved = new Set<number>();
  let refused = 0;
  let controls = 0;
  let connections = 0;
  for (const [i, [name, wire]] of WIRES.entries()) {
    const random = createRandom(seed * 10 + i);
    const started = await start(wire, random, portsOf(seed), moved);
    const expectTaken = async () => {
      for (const { token } of [...started.workload.all, ...started.ours.all]) {
        const isOurs = started.ours.all.some((own) => own.token === token);
        const { code } = await (isOurs ? started.callApi(token) : started.exchange(token));
        if (code !== "OK") failures.push(`${name}: a good token was answered ${code}: ${token}`);
        controls += 1;
      }
    };
    await expectTaken();
    for (let tried = 0; tried < Math.ceil(rounds / WIRES.length); tried += AT_ONCE) {
      const batch = Array.from({ length: AT_ONCE }, () => {
        const isOurs = random.below(10) < TO_API;
        return { isOurs, ...mutate(random, isOurs ? started.ours : started.workload) };
      });
      for (const { token } of batch) digest.update(`${token}\n`);
      const results = await Promise.all(
        batch.map(({ isOurs, token }) => (isOurs ? started.callApi(token) : started.exchange(token))),
      );
      for (const [j, { code }] of results.entries()) {
        const { kind, token, isOurs } = batch[j] as (typeof batch)[number];
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        if (REFUSALS.includes(code)) refused += 1;
        else failures.push(`${name}: ${kind}, ${isOurs ? "to the API" : "to the exchange"}: ${code}: ${token}`);
      }
      if (tried % BETWEEN < AT_ONCE) {
        await expectTaken();
        log?.(`${name}: ${tried + AT_ONCE} tokens, ${failures.length} failures`);
      }
    }
    await expectTaken();
    connections += started.connections();
    await started.close();
  }
  return {
    figures: {
      "mutated tokens refused": refused,
      "kinds of mutation": kinds.size,
      "good tokens taken between": controls,
      "connections to the issuer": connections,
      "SHA-256 of the tokens": digest.digest("hex").slice(0, 16),
      ...(moved.size > 0 && { "not repeatable, ports in use": [...moved].join(", ") }),
      taken: failures.length,
    },
    failures,
  };
};

interface MutationServer {
  /** of every algorithm that is taken */
  workload: Sources;
  /** API tokens */
  ours: Sources;
  exchange(token: string): Promise<Result>;
  callApi(token: string): Promise<Result>;
  connections(): number;
  close(): Promise<void>;
}

// Tokens name addresses, so these repeat with the seed too; below those that a system hands out by itself.
const portsOf = (seed: number) => ({ issuer: 20_000 + 2 * (seed % 5_000), server: 20_001 + 2 * (seed % 5_000) });

const start = async (
  wire: Wire,
  random: Random,
  ports: ReturnType<typeof portsOf>,
  moved: Set<number>,
): Promise<MutationServer> => {
  const keys = seededKeys(random);
  const issuer = await onPort(ports.issuer, moved, (port) => startIssuer(keys.published, port));
  const server = await onPort(ports.server, moved, (port) => startSeededServer(random, keys.ours, port));
  const connection: Connection = wire(server.baseUrl);
  const body = { name: "ci", claimMatch: { issuer: issuer.url, subject: SUBJECT } };
  const { uid: identity } = await createRecord(server, "identities", server.organization, body);
  const exchange = (token: string) => connection.exchange([`Bearer ${token}`], { identity });
  const workload = workloadTokens(random, keys, issuer, server);
  const exchanged = await exchange((workload[0] as Original).token);
  return {
    workload: { all: workload, stranger: keys.stranger },
    ours: { all: apiTokens(random, keys.ours, payloadOf(exchanged.body.token)), stranger: keys.stranger },
    exchange,
    callApi: (token) => connection.listGroups([`Bearer ${token}`]),
    connections: issuer.connections,
    close: async () => {
      connection.close();
      await server.close();
      await issuer.close();
    },
  };
};

const onPort = async <T>(port: number, moved: Set<number>, listen: (port: number) => Promise<T>): Promise<T> => {
  try {
    return await listen(port);
  } catch (error) {
    const { code, cause } = error as NodeJS.ErrnoException;
    if (code !== "EADDRINUSE" && (cause as NodeJS.ErrnoException | undefined)?.code !== "EADDRINUSE") throw error;
    moved.add(port);
    return listen(0);
  }
};

const seededKeys = (random: Random) => {
  const rsa = key("rsa-1", seededRsa(random));
  const p256 = key("ec-256", seededEc(random, "P-256"));
  const p384 = key("ec-384", seededEc(random, "P-384"));
  const p521 = key("ec-521", seededEc(random, "P-521"));
  const ed = key("ed-1", seededEd25519(random));
  const byAlgorithm: Record<string, Key> = { ES256: p256, ES384: p384, ES512: p521, EdDSA: ed };
  for (const alg of ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]) byAlgorithm[alg] = rsa;
  return {
    published: [rsa, p256, p384, p521, ed],
    byAlgorithm,
    stranger: key("rsa-2", seededRsa(random)),
    ours: key("ours", seededRsa(random)),
  };
};

const storedKey = ({ kid, privateKey }: Key): StoredKey => ({
  kid,
  privateJwk: privateKey.export({ format: "jwk" }),
  createdMs: NOON_MS,
});

const startSeededServer = (random: Random, ours: Key, port: number): Promise<TestServer> => {
  const clock = manualClock(NOON_MS);
  const devSigner = createSigner({ clock, keys: [storedKey(key("dev", seededRsa(random)))] });
  const keys = {
    signer: createSigner({ clock, keys: [storedKey(ours)] }),
    devSigner,
    pageTokenKey: Buffer.alloc(32, 7),
  };
  return startServer({ clock, keys, port, resolve: async () => [] });
};

// Of each algorithm one; of those whose signature is a number, also one that begins with a zero byte, which mutations drop.
const workloadTokens = (
  random: Random,
  { byAlgorithm }: ReturnType<typeof seededKeys>,
  issuer: Issuer,
  server: TestServer,
): Original[] => {
  const claims = (jti: string) => claimsFrom(issuer.url, { aud: server.authUrl, jti });
  const signed = Object.entries(byAlgorithm).map(([alg, own]): Original => {
    const token = signSeeded(random, claims(alg), own.privateKey, { alg, kid: own.kid });
    return { token, alg, key: own };
  });
  const zeroes = ["RS256", "PS256", "PS512", "ES256"].map((alg): Original => {
    const own = byAlgorithm[alg] as Key;
    return { token: signWithLeadingZero(random, claims, own.privateKey, { alg, kid: own.kid }), alg, key: own };
  });
  return [...signed, ...zeroes];
};

// The claims are those of an exchange; what is random in them is the name of the token.
const apiTokens = (random: Random, ours: Key, claims: object): Original[] => {
  const header = { alg: "RS256", kid: ours.kid, typ: "JWT" };
  const signed = ["one", "two"].map((jti) => signSeeded(random, { ...claims, jti }, ours.privateKey, header));
  const zero = signWithLeadingZero(random, (jti) => ({ ...claims, jti }), ours.privateKey, header);
  return [...signed, zero].map((token) => ({ token, alg: "RS256", key: ours }));
};
