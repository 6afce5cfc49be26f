// The gate of `irm apply`: it sits between a real `pulumi up` and the services, in the process of the command. It passes only the writes of
// the change. Only the gate has tokens of the services. The engine, the program and the provider get a bearer for its address on loopback.
// It writes nothing to disk, and ends with the command.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { SignJWT } from "jose/jwt/sign";
import { canonical } from "../access/canonical.ts";
import type { Write } from "../access/change/write.ts";
import { apiError, type Json } from "../schema/index.ts";
import { type Call, restError, startFront } from "../server/front.ts";
import { writeProblems } from "./decide.ts";
import { gateOf, type Service, type ServiceGate } from "./gate.ts";

export { writeProblems } from "./decide.ts";
export type { Service } from "./gate.ts";

export interface GateInput {
  /** the change, computed again on a fresh twin: each `$uid` refers to one of them */
  writes: readonly Write[];
  /** by address; the first is the one without `service` */
  services: ReadonlyMap<string, Service>;
  /** uid of the identity that applies the change */
  as: string;
}

export type Gate = Awaited<ReturnType<typeof startGate>>;

/** The writes cannot be applied. `problems` has a line for each. */
export class GateError extends Error {
  override readonly name = "GateError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(["the change cannot be applied:", ...problems].join("\n  - "));
    this.problems = problems;
  }
}

/** Throws GateError, or the error of a listener. */
export const startGate = async ({ writes, services, as }: GateInput) => {
  const problems = writeProblems(writes);
  if (problems.length > 0) throw new GateError(problems);
  const refused = new Map<string, { method: string; message: string }>();
  const [first] = services.keys();
  const gates: ServiceGate[] = [];
  const listeners: (Awaited<ReturnType<typeof startListener>> & { address: string })[] = [];
  let isClosing = false;
  const close = async () => {
    isClosing = true;
    await Promise.all(listeners.map((one) => one.close()));
  };
  try {
    for (const [address, service] of services) {
      const gate = gateOf({
        service,
        writes: writes.filter((write) => (write.service ?? first) === address),
        onRefused: (asked, message) => {
          const { method, request } = asked;
          refused.set(`${address} ${method} ${canonical(request)}`, { method, message });
        },
        isClosing: () => isClosing,
      });
      gates.push(gate);
      // The time of the service, which the provider compares with the times of its records.
      const clock = () => service.client.serverNow() ?? service.client.clock.today();
      listeners.push({ address, ...(await startListener(address, as, clock, gate.answer)) });
    }
  } catch (error) {
    await close();
    throw error;
  }
  const lines = () => gates.flatMap((gate) => gate.lines).sort((a, b) => a.write.n - b.write.n);
  return {
    /** for the run file (client/run-file.ts) */
    services: listeners.map(({ address, url, token }) => ({ address, url, token })),
    /** so far */
    report: () => ({
      /** number of writes that have succeeded */
      applied: lines().filter(({ isDone }) => isDone).length,
      /** each request once */
      refused: [...refused.values()],
      /** not sent, or not carried out */
      missing: lines().flatMap(({ write, isDone, isUnknown }) => (isDone || isUnknown ? [] : [write])),
      /** A request was sent, and its outcome is unknown. The next run finds out. */
      unknown: lines().flatMap(({ write, isUnknown }) => (isUnknown ? [write] : [])),
    }),
    /** uids of the records that the services have created, by the number of the write */
    get uids(): ReadonlyMap<number, string> {
      return new Map(gates.flatMap(({ uids }) => [...uids]));
    },
    close,
  };
};

// The listener of a gate: REST on loopback, only for the bearer of this run.

/**
 * `address`: of the service. `as`: uid of the identity that applies the change; it is the subject of the bearer, and the provider reads it
 * there. `answer` answers requests with the bearer.
 */
const startListener = async (
  address: string,
  as: string,
  clock: () => number,
  answer: (call: Call) => Promise<Json>,
) => {
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
const bearerFor = (address: string, as: string) => {
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
