// Mutated tokens: tokens that are nearly good, of workloads to the exchange and of our own to the API, over every wire. None
// may be taken; the good ones that they are made from are, before, between and after.
import { createSigner } from "../../server/sts/key/signer.ts";
import { startServer, type TestServer } from "../harness/api-server.ts";
import { manualClock, NOON_MS } from "../harness/clock.ts";
import { createRecord } from "../harness/records.ts";
import { claimsFrom, DEV_KEY, type Issuer, OTHER_RSA, payloadOf, rsa, SUBJECT, startIssuer } from "../harness/sts.ts";
import { mutate, type Original, type Sources } from "../server/sts/must-refuse/mutation.ts";
import { CONTROLS, KEYS, type Result } from "../server/sts/must-refuse/target.ts";
import { WIRES, type Wire } from "../server/sts/must-refuse/wire.ts";
import { createRandom } from "../support/random.ts";
import { signToken, signWithLeadingZero } from "../support/signature.ts";
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
  const kinds = new Set<string>();
  const figures = {
    "mutated tokens refused": 0,
    "kinds of mutation": 0,
    "good tokens taken between": 0,
    "connections to the issuer": 0,
  };
  for (const [i, [name, wire]] of WIRES.entries()) {
    const random = createRandom(seed * 10 + i);
    const started = await start(wire);
    const expectTaken = async () => {
      for (const { all, send } of started.targets)
        for (const { token } of all) {
          const { code } = await send(token);
          if (code !== "OK") failures.push(`${name}: a good token was answered ${code}: ${token}`);
          figures["good tokens taken between"] += 1;
        }
    };
    await expectTaken();
    for (let tried = 0; tried < Math.ceil(rounds / WIRES.length); tried += AT_ONCE) {
      const tryOne = async () => {
        const target = started.targets[random.below(10) < TO_API ? 1 : 0];
        const { kind, token } = mutate(random, target);
        kinds.add(kind);
        const { code } = await target.send(token);
        if (REFUSALS.includes(code)) figures["mutated tokens refused"] += 1;
        else failures.push(`${name}: ${kind}, to the ${target.what}: ${code}: ${token}`);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, tryOne));
      if (tried % BETWEEN < AT_ONCE) {
        await expectTaken();
        log?.(`${name}: ${tried + AT_ONCE} tokens, ${failures.length} failures`);
      }
    }
    await expectTaken();
    figures["connections to the issuer"] += started.connections();
    await started.close();
  }
  return { figures: { ...figures, "kinds of mutation": kinds.size }, failures };
};

interface Target extends Sources {
  what: string;
  send(token: string): Promise<Result>;
}

const start = async (wire: Wire) => {
  const issuer = await startIssuer(Object.values(KEYS));
  const clock = manualClock(NOON_MS);
  const ours = rsa("ours");
  const stored = { kid: ours.kid, privateJwk: ours.privateKey.export({ format: "jwk" }), createdMs: NOON_MS };
  const keys = {
    signer: createSigner({ clock, keys: [stored] }),
    devSigner: createSigner({ clock, keys: [DEV_KEY] }),
    pageTokenKey: Buffer.alloc(32, 7),
  };
  const server = await startServer({ clock, keys, resolve: async () => [] });
  const connection = wire(server.baseUrl);
  const body = { name: "ci", claimMatch: { issuer: issuer.url, subject: SUBJECT } };
  const { uid: identity } = await createRecord(server, "identities", server.organization, body);
  const exchange = (token: string) => connection.exchange([`Bearer ${token}`], { identity });
  const workload = workloadTokens(issuer, server);
  const claims = payloadOf((await exchange((workload[0] as Original).token)).body.token);
  const header = { alg: "RS256", kid: ours.kid, typ: "JWT" };
  // The claims are those of an exchange; what differs is the name of the token.
  const api = [
    ...["one", "two"].map((jti) => signToken({ ...claims, jti }, ours.privateKey, header)),
    signWithLeadingZero((jti) => ({ ...claims, jti }), ours.privateKey, header),
  ].map((token): Original => ({ token, alg: "RS256", key: ours }));
  const callApi = (token: string) => connection.listGroups([`Bearer ${token}`]);
  const targets: [Target, Target] = [
    { what: "exchange", all: workload, stranger: OTHER_RSA, send: exchange },
    { what: "API", all: api, stranger: OTHER_RSA, send: callApi },
  ];
  return {
    targets,
    connections: issuer.connections,
    close: async () => {
      connection.close();
      await server.close();
      await issuer.close();
    },
  };
};

// Of each algorithm one; of those whose signature is a number, also one that begins with a zero byte, which mutations drop.
const workloadTokens = (issuer: Issuer, server: TestServer): Original[] => {
  const claims = (jti: string) => claimsFrom(issuer.url, { aud: server.authUrl, jti });
  return CONTROLS.flatMap(([alg, key]) => {
    const header = { alg, kid: key.kid };
    const tokens = [signToken(claims(alg), key.privateKey, header)];
    if (["RS256", "PS256", "PS512", "ES256"].includes(alg))
      tokens.push(signWithLeadingZero(claims, key.privateKey, header));
    return tokens.map((token): Original => ({ token, alg, key }));
  });
};
