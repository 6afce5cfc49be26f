// A server with an identity for each row, their trusted issuer, and a count of the server's connections to other hosts.
// The full log of the server and every token in either direction are kept.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { createSigner } from "../../../../server/sts/index.ts";
import { startServer } from "../../../harness/api-server.ts";
import { manualClock, NOON_MS } from "../../../harness/clock.ts";
import { createUid } from "../../../harness/records.ts";
import { API_KEY, claimsFrom, DEV_KEY, type Issuer, SUBJECT, sign, startIssuer } from "../../../harness/sts.ts";
import type { Body } from "../../../support/http.ts";
import { deniedText, KEYS, type Relationship, type Result, trustExactly } from "./target.ts";
import type { Wire } from "./wire.ts";

export const DENIED_DETAILS = [
  { "@type": "google.rpc.ErrorInfo", reason: "PERMISSION_DENIED", domain: "iam.chainguard.dev" },
];

export const UNAUTHENTICATED = {
  code: "UNAUTHENTICATED",
  message: "Unauthenticated: a valid bearer token is required",
  body: {},
};

/** A host that is not loopback has these addresses. */
type Resolve = NonNullable<Parameters<typeof startServer>[0]>["resolve"];

const startAttackedServer = async (wire: Wire, resolve: Resolve) => {
  const issuer = await startIssuer(Object.values(KEYS));
  const clock = manualClock(NOON_MS);
  const keys = {
    signer: createSigner({ clock, keys: [API_KEY] }),
    devSigner: createSigner({ clock, keys: [DEV_KEY] }),
    pageTokenKey: Buffer.alloc(32, 7),
  };
  const server = await startServer({ clock, keys, refreshTokens: true, resolve });
  const connection = wire(server.baseUrl);
  const tokens = new Set<string>();
  let outgoing: string[] = [];
  const onConnect = (message: unknown) => {
    const { connectParams } = message as { connectParams: { hostname: string; port: string } };
    outgoing.push(`${connectParams.hostname}:${connectParams.port}`);
  };
  // What fetches documents is the only user of undici in this process.
  subscribe("undici:client:beforeConnect", onConnect);
  let read = 0;
  const onConsole: string[] = [];
  const spies = (["log", "info", "warn", "error", "debug"] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation((...values) => void onConsole.push(values.join(" "))),
  );

  const attacked = {
    server,
    connection,
    issuer,
    /** every token that was sent or answered */
    tokens,
    authUrl: server.authUrl,
    api: server.baseUrl,
    claims: (changes?: Body): Body => claimsFrom(issuer.url, { aud: server.authUrl, ...changes }),
    /** uid of a new identity; the default trusts the target's issuer and subject exactly */
    identity: async (relationship: Relationship = trustExactly(attacked)): Promise<string> => {
      const body = { name: "ci", ...relationship };
      return await createUid(server, "identities", server.organization, body);
    },
    /** Exchanges; remembers what went over the wire. */
    exchange: async (bearer: string, request: Body): Promise<Result> => {
      tokens.add(bearer);
      const result = await connection.exchange([`Bearer ${bearer}`], request);
      for (const token of [result.body.token, result.body.refreshToken]) if (token) tokens.add(token);
      return result;
    },
    /** What a good token of the default issuer is exchanged for. */
    exchanged: async (identity: string, request: Body = {}): Promise<Body> => {
      const { code, body } = await attacked.exchange(await sign(attacked.claims()), { identity, ...request });
      expect(code).toBe("OK");
      return body;
    },
    /** Denied in the fixed words, with one audit line that has the reason. */
    expectDenied: async (bearer: string, request: Body, reason: string, invalid?: string): Promise<void> => {
      attacked.takeReasons();
      const result = await attacked.exchange(bearer, request);
      const message = reason === "expired" ? expect.stringContaining("token is expired") : deniedText(invalid);
      expect(result).toMatchObject({ code: "PERMISSION_DENIED", message, body: {} });
      expect(result.details).toEqual(DENIED_DETAILS);
      expect(attacked.takeReasons()).toEqual([reason]);
    },
    /** everything in the log and on the console of the process */
    logged: (): string => [...server.log, ...onConsole].join("\n"),
    /** `host:port` of the connections that the server has tried to make since the last call */
    takeOutgoing: (): string[] => {
      const taken = outgoing;
      outgoing = [];
      return taken;
    },
    /** reasons of the audit lines since the last call */
    takeReasons: (): string[] => {
      const lines = server.log.slice(read).map((line) => JSON.parse(line) as Body);
      read = server.log.length;
      return lines.filter(({ event }) => String(event).startsWith("sts.")).map(({ reason }) => reason);
    },
  };
  const close = async () => {
    for (const spy of spies) spy.mockRestore();
    unsubscribe("undici:client:beforeConnect", onConnect);
    connection.close();
    await server.close();
    await issuer.close();
  };
  return { attacked, close };
};

type AttackedServer = Awaited<ReturnType<typeof startAttackedServer>>["attacked"];

/** One for the tests of a wire. */
export const useAttackedServer = (wire: Wire, resolve: Resolve): (() => AttackedServer) => {
  let started: Awaited<ReturnType<typeof startAttackedServer>>;
  beforeAll(async () => {
    started = await startAttackedServer(wire, resolve);
  });
  afterAll(async () => {
    await started.close();
    await Promise.all(further.splice(0).map((issuer) => issuer.close()));
  });
  return () => started.attacked;
};

/**
 * Two further issuers. The server remembers the documents of an issuer by its address, so none gets the address of an earlier one
 * while it runs.
 */
export const withIssuers = async <T>(work: (issuer: Issuer, other: Issuer) => Promise<T>): Promise<T> => {
  const [issuer, other] = await Promise.all([startIssuer(), startIssuer()]);
  further.push(issuer, other);
  return work(issuer, other);
};
const further: Issuer[] = [];

export const trusting = (issuer: string): Relationship => ({ claimMatch: { issuer, subject: SUBJECT } });

// Of what is leaked, twice as much is found for certain. Shorter pieces are words.
const PIECE = 16;

const piecesOf = (text: string, step: number): string[] =>
  Array.from({ length: Math.max(0, Math.floor((text.length - PIECE) / step) + 1) }, (_, i) =>
    text.slice(i * step, i * step + PIECE),
  );

/** Row 34: neither the log nor the console holds a token that went either way, or a piece of one. */
export const expectNoToken = (attacked: AttackedServer): void => {
  const log = attacked.logged();
  const logged = new Set([...log.matchAll(/[\w+/=-]{16,}/g)].flatMap(([run]) => piecesOf(run, 1)));
  const secret = [...attacked.tokens, attacked.server.owner.token].flatMap((token) => {
    // A header is not a secret, and every token has the shortest one.
    const [header, ...parts] = token.split(".") as [string, ...string[]];
    return (parts.length > 0 ? parts : [header]).flatMap((part) => piecesOf(part, PIECE));
  });
  expect(secret.length).toBeGreaterThan(10 * attacked.tokens.size);
  expect(secret.filter((piece) => logged.has(piece))).toEqual([]);
  expect(log).not.toMatch(/eyJ[\w-]{20,}/);
};
