// The development issuer (contract, decision 33): tokens of workloads for whoever reaches it, with an issuer and keys of
// its own, so that the exchange can be tried without anyone else's. The server offers it on loopback only.
import { randomUUID } from "node:crypto";
import { invalidArgument } from "../../schema/index.ts";
import { discoveryDocument } from "./discovery.ts";
import type { Signer } from "./signer.ts";

const DEFAULT_LIFE_MS = 60 * 60 * 1000;

export interface DevToken {
  subject: string;
  /** absent = our issuer's URL, which the exchange accepts */
  audience?: string | string[];
  /** further claims; the registered ones below win */
  claims?: Record<string, unknown>;
  /** negative = a token that has expired */
  lifetimeMs?: number;
}

export interface DevIssuer {
  discovery(): object;
  jwks(): object;
  mint(input: DevToken): Promise<string>;
}

export const createDevIssuer = (options: {
  clock: () => number;
  authUrl: string;
  issuer: string;
  signer: Signer;
}): DevIssuer => ({
  discovery: () => discoveryDocument(options.issuer),
  jwks: () => options.signer.jwks(),
  async mint({ subject, audience = options.authUrl, claims = {}, lifetimeMs = DEFAULT_LIFE_MS }) {
    if (typeof subject !== "string" || subject === "")
      throw invalidArgument([{ field: "subject", description: "is required" }]);
    if (!Number.isFinite(lifetimeMs))
      throw invalidArgument([{ field: "lifetimeMs", description: "must be a number of milliseconds" }]);
    const now = Math.floor(options.clock() / 1000);
    const expiry = now + Math.floor(lifetimeMs / 1000);
    return options.signer.sign({
      ...claims,
      iss: options.issuer,
      sub: subject,
      aud: audience,
      iat: Math.min(now, expiry),
      exp: expiry,
      jti: randomUUID(),
    });
  },
});
