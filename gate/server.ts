// The listener of a gate: REST on loopback, only for the bearer of this run.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { SignJWT } from "jose/jwt/sign";
import { apiError, type Json, type OperationName, operations, type Resource, resources } from "../schema/index.ts";
import { type Call, type Front, restError, startFront } from "../server/front.ts";

export interface Listener extends Front {
  /** Its subject is the identity that applies the change: the provider reads it there. */
  token: string;
}

interface ListenerOptions {
  /** of the service */
  address: string;
  /** uid of the identity that applies the change */
  as: string;
  clock(): number;
  /** answers a request that has the bearer */
  answer(call: Call): Promise<Json>;
}

export const startListener = async ({ address, as, clock, answer }: ListenerOptions): Promise<Listener> => {
  const token = await bearerFor(address, as);
  const front = await startFront({
    clock,
    pipeline: async (call) => {
      if (!isBearer(call.authorization, token))
        throw apiError("UNAUTHENTICATED", "the gate of npx pulumi-irm apply takes the bearer of its own run alone");
      return answer(call);
    },
    // A browser page that was sent here names its own site.
    pages:
      (url) =>
      async ({ host, origin }) =>
        host === new URL(url).host && origin === undefined
          ? undefined
          : restError(
              apiError("PERMISSION_DENIED", "the gate of npx pulumi-irm apply is reached by its own address only"),
            ),
  });
  return { ...front, token };
};

/** The run ends long before the bearer expires, so nothing renews it. */
const LIFE_S = 7 * 24 * 60 * 60;

/** The gate compares it as a text, so no one needs its key. */
const bearerFor = (address: string, as: string): Promise<string> => {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ jti: randomBytes(16).toString("hex") })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setIssuer("pulumi-irm apply")
    .setSubject(as)
    .setAudience(address)
    .setIssuedAt(now)
    .setExpirationTime(now + LIFE_S)
    .sign(randomBytes(32));
};

const isBearer = (given: readonly string[], token: string) => {
  const [only = "", ...others] = given;
  return others.length === 0 && timingSafeEqual(digestOf(only), digestOf(`Bearer ${token}`));
};

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

const READS: ReadonlySet<string> = new Set([
  // Returns the time of the service.
  "Ping",
  ...(Object.values(resources) as Resource[]).flatMap(({ methods }) => Object.keys(methods)),
]);

/**
 * A read of records of the API. Excludes exchanges and questions about the caller: neither the provider nor the client needs them in a run.
 */
export const isRead = (operation: OperationName): boolean =>
  operations[operation].method === "GET" && READS.has(operation);
