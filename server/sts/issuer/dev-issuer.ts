// The development issuer (docs/internals/contract.md#d33): signs a workload token for any caller, with its own keys, so that the
// exchange works without an issuer elsewhere. The server offers it on loopback only.
import { randomUUID } from "node:crypto";
import { type FieldViolation, invalidArgument } from "../../../schema/index.ts";
import type { Signer } from "../key/signer.ts";
import { discoveryDocument } from "./fetch.ts";

/** Far deeper than the claims of any issuer. */
const LEVELS_MAX = 100;
const DEFAULT_LIFE_SECONDS = 60 * 60;

/** A token to mint. */
export interface MintRequest {
  /** `sub` of the token */
  subject: string;
  /** `aud`; default: the address of the issuer of API tokens */
  audience?: string | string[] | undefined;
  /** further claims; `exp`, `iat`, `nbf`, `iss` and `jti` replace the issuer's own values */
  claims?: Record<string, unknown> | undefined;
  /** default: one hour; negative: an expired token; not with a claim `exp` */
  lifetimeSeconds?: number | undefined;
}

export const createDevIssuer = (options: { clock: () => number; authUrl: string; issuer: string; signer: Signer }) => ({
  discovery: (): object => discoveryDocument(options.issuer),
  jwks: (): object => options.signer.jwks(),
  async mint(request: MintRequest): Promise<string> {
    const violations = violationsOf(request);
    if (violations.length > 0) throw invalidArgument(violations);
    const { subject, audience = options.authUrl, claims = {}, lifetimeSeconds = DEFAULT_LIFE_SECONDS } = request;
    const now = Math.floor(options.clock() / 1000);
    const expiry = typeof claims.exp === "number" ? claims.exp : now + Math.floor(lifetimeSeconds);
    return options.signer.sign({
      iss: options.issuer,
      // An expired token was issued before its expiry.
      iat: Math.min(now, expiry),
      exp: expiry,
      jti: randomUUID(),
      ...claims,
      sub: subject,
      aud: audience,
    });
  },
});

const violationsOf = ({ subject, claims = {}, lifetimeSeconds }: MintRequest): FieldViolation[] => {
  const rules: [isBroken: boolean, field: string, description: string][] = [
    [typeof subject !== "string" || subject === "", "subject", "is required"],
    [!Number.isFinite(lifetimeSeconds ?? 0), "lifetimeSeconds", "must be a number of seconds"],
    // A claim with two values would lose one of them.
    ["sub" in claims, "claims.sub", "is given as subject"],
    ["aud" in claims, "claims.aud", "is given as audience"],
    ["exp" in claims && lifetimeSeconds !== undefined, "claims.exp", "must not be given with a lifetime"],
    [isTooDeep(claims), "claims", `must not be nested in more than ${LEVELS_MAX} levels`],
  ];
  return rules.flatMap(([isBroken, field, description]) => (isBroken ? [{ field, description }] : []));
};

// Without recursion, which deep nesting would overflow.
const isTooDeep = (claims: object) => {
  let layer = [claims];
  for (let level = 0; level < LEVELS_MAX && layer.length > 0; level += 1)
    layer = layer.flatMap((one) =>
      Object.values(one).filter((member) => typeof member === "object" && member !== null),
    );
  return layer.length > 0;
};
