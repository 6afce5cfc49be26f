// Mutated tokens (spec/faults.md, section 2.1): tokens that are nearly good, of workloads to the exchange and of our own to
// the API, over every wire. None may be taken; the good ones that they are made from are, before, between and after.
import { createPrivateKey, createPublicKey } from "node:crypto";
import { createSigner } from "../../server/sts/index.ts";
import { API_KEY, claimsFrom, DEV_KEY, key, NOW_MS, SUBJECT, sign, startIssuer } from "../server/sts/fixture.ts";
import { mutate, type Original } from "../server/sts/must-refuse/mutation.ts";
import { CONTROLS, KEYS, type Result } from "../server/sts/must-refuse/target.ts";
import { type Connection, WIRES, type Wire } from "../server/sts/must-refuse/wire.ts";
import { createRandom } from "../support/random.ts";
import { createClock, IAM, startServer } from "../support/server.ts";
import type { PartOptions, PartResult } from "./part.ts";

const AT_ONCE = 16;
/** Controls after so many. */
const BETWEEN = 500;
/** Of ten mutated tokens, so many go to the API. */
const TO_API = 3;

const REFUSALS = ["PERMISSION_DENIED", "UNAUTHENTICATED"];

/** `rounds` tokens in all, the same number over each wire. */
export const mutatedTokens = async ({ seed, rounds, say }: PartOptions): Promise<PartResult> => {
  const failures: string[] = [];
  const kinds = new Map<string, number>();
  let refused = 0;
  let controls = 0;
  let connections = 0;
  for (const [i, [name, wire]] of WIRES.entries()) {
    const world = await start(wire);
    const random = createRandom(seed * 10 + i);
    const expectTaken = async () => {
      for (const { token } of [...world.workload, ...world.ours.slice(0, 1)]) {
        const isOurs = world.ours.some((own) => own.token === token);
        const { code } = await (isOurs ? world.callApi(token) : world.exchange(token));
        if (code !== "OK") failures.push(`${name}: a good token was answered ${code}: ${read(token)}`);
        controls += 1;
      }
    };
    await expectTaken();
    for (let tried = 0; tried < Math.ceil(rounds / WIRES.length); tried += AT_ONCE) {
      const batch = await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          const isOurs = random.below(10) < TO_API;
          return { isOurs, ...(await mutate(random, isOurs ? world.ours : world.workload)) };
        }),
      );
      const results = await Promise.all(
        batch.map(({ isOurs, token }) => (isOurs ? world.callApi(token) : world.exchange(token))),
      );
      for (const [j, { code }] of results.entries()) {
        const { kind, token, isOurs } = batch[j] as (typeof batch)[number];
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        if (REFUSALS.includes(code)) refused += 1;
        else failures.push(`${name}: ${kind}, ${isOurs ? "to the API" : "to the exchange"}: ${code}: ${read(token)}`);
      }
      if (tried % BETWEEN < AT_ONCE) {
        await expectTaken();
        say?.(`${name}: ${tried + AT_ONCE} tokens, ${failures.length} failures`);
      }
    }
    await expectTaken();
    connections += world.connections();
    await world.close();
  }
  return {
    figures: {
      "mutated tokens refused": refused,
      "kinds of mutation": kinds.size,
      "good tokens taken between": controls,
      "connections to the issuer": connections,
      taken: failures.length,
    },
    failures,
  };
};

/** Header and claims, where they can be read. */
const read = (token: string): string =>
  token
    .split(".")
    .slice(0, 2)
    .map((part) => Buffer.from(part, "base64url").toString())
    .join(" ");

interface World {
  /** of every algorithm that is taken */
  workload: Original[];
  /** API tokens */
  ours: Original[];
  exchange(token: string): Promise<Result>;
  callApi(token: string): Promise<Result>;
  connections(): number;
  close(): Promise<void>;
}

const start = async (wire: Wire): Promise<World> => {
  const issuer = await startIssuer(Object.values(KEYS));
  const clock = createClock(NOW_MS);
  const keys = {
    signer: createSigner({ clock, keys: [API_KEY] }),
    devSigner: createSigner({ clock, keys: [DEV_KEY] }),
    pageTokenKey: Buffer.alloc(32, 7),
  };
  const server = await startServer({ clock, keys, resolve: async () => [] });
  const connection: Connection = wire(server.baseUrl);
  const body = { name: "ci", claimMatch: { issuer: issuer.url, subject: SUBJECT } };
  const { uid: identity } = await server.ok("POST", `${IAM}/identities/${server.organization}`, { body });
  const exchange = (token: string) => connection.exchange([`Bearer ${token}`], { identity });
  const workload: Original[] = [];
  const ours: Original[] = [];
  const ourKey = key(API_KEY.kid, keyPairOf());
  for (const [alg, own] of CONTROLS) {
    const token = await sign(claimsFrom(issuer.url, { aud: server.authUrl, jti: alg }), own, { alg });
    workload.push({ token, alg, key: own });
    ours.push({ token: (await exchange(token)).body.token, alg: "RS256", key: ourKey });
  }
  return {
    workload,
    ours,
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

const keyPairOf = () => {
  const privateKey = createPrivateKey({ key: API_KEY.privateJwk, format: "jwk" });
  return { privateKey, publicKey: createPublicKey(privateKey) };
};
