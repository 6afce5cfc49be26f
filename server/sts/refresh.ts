// Refresh tokens (RFC 6749 section 6, RFC 9700 section 4.14): an exchange begins a family, and each use returns the family's
// next token. A second use ends the family, since the server cannot tell a thief from the owner. Only hashes are stored.
import { createHash, randomBytes } from "node:crypto";
import {
  type ExchangeRefreshTokenRequest,
  type FieldViolation,
  type Identity,
  isObject,
  type RawToken,
  type TokenPair,
} from "../../schema/index.ts";
import { type AuditOptions, auditDecision, type ExchangeEvent } from "./audit.ts";
import type { Signer } from "./key/signer.ts";
import { type Actor, mintApiToken } from "./mint.ts";
import type { Assumable, Identities } from "./rule/assume.ts";
import { ownValue, parseStrictJson } from "./token/compact.ts";
import { type Limits, narrowLimits, readLimitRequest } from "./token/limit.ts";
import { type Refusal, refusal } from "./token/refusal.ts";

/** The longest lifetime that a workload's token may have. A use does not extend it. */
const FAMILY_LIFE_MS = 24 * 60 * 60 * 1000;

/** The grant of the first exchange: no later token of the family exceeds it. */
export interface RefreshGrant {
  audience: readonly string[];
  limits: Limits;
  actor: Actor;
  /** hash of the rule that the first token met */
  rule: string;
}

export interface RefreshFamily {
  /** hash of the id that its tokens share */
  id: string;
  /** hash of its newest token */
  tokenHash: string;
  /** uid; the family ends with it */
  identity: string;
  expireTimeMs: number;
  grant: RefreshGrant;
}

/** The storage of families. */
export interface RefreshFamilies {
  begin(family: RefreshFamily): void;
  get(id: string): RefreshFamily | undefined;
  /** Replaces the newest token. False, without a change, when that was not `from`. */
  rotate(id: string, from: string, to: string): boolean;
  end(id: string): void;
}

export interface RefreshOptions extends AuditOptions {
  /** our issuer, `iss` of API tokens */
  authUrl: string;
  /** audiences of the API; the first is the base address */
  audiences: readonly string[];
  signer: Signer;
  identities: Identities;
  /** enum names of capabilities by uid of the group, by the bindings now */
  capabilitiesOf(identityUid: string): Map<string, Set<string>>;
  /** absent: refresh tokens are neither returned nor accepted */
  refreshFamilies?: RefreshFamilies | undefined;
}

/** Begins a family; returns its first token. */
export const beginFamily = (
  { clock, authUrl, refreshFamilies }: RefreshOptions,
  { identity, expireTimeMs: keysExpireTimeMs = Infinity }: Assumable,
  grant: Omit<RefreshGrant, "rule">,
  event: ExchangeEvent,
): string | undefined => {
  // Not for the identity that anyone may assume: anyone could begin any number of families.
  if (!refreshFamilies || !identity) return undefined;
  const now = clock();
  // 128 random bits that the tokens of one exchange share.
  const familyId = randomBytes(16).toString("base64url");
  const id = hashOf(familyId);
  const family = {
    id,
    identity: identity.uid,
    expireTimeMs: Math.min(now + FAMILY_LIFE_MS, keysExpireTimeMs),
    grant: { ...grant, rule: ruleHash(identity) },
  };
  const token = writeRefreshToken(authUrl, familyId, family, now);
  refreshFamilies.begin({ ...family, tokenHash: hashOf(token) });
  event.family = id;
  return token;
};

export const createRefresh = (options: RefreshOptions) => {
  const { clock, authUrl, audiences, signer, identities, refreshFamilies: families } = options;

  const refresh = async (
    request: ExchangeRefreshTokenRequest,
    bearer: string,
    violations: readonly FieldViolation[],
    event: ExchangeEvent,
  ): Promise<TokenPair> => {
    const { audience, limits } = readLimitRequest(request, bearer, violations, audiences);
    if (!families) throw refusal("refresh_disabled", "refresh tokens are not in use");

    const familyId = familyIdOf(bearer);
    const family = families.get(hashOf(familyId));
    if (!family) throw refusal("refresh_unknown", "no such family");
    const { id, grant } = family;
    const { issuer, subject } = grant.actor;
    Object.assign(event, { family: id, identity: family.identity, issuer, subject });
    const end = (reason: "refresh_reused" | "refresh_expired" | "identity_changed", detail: string): Refusal => {
      families.end(id);
      return refusal(reason, detail);
    };
    const presented = hashOf(bearer);
    if (presented !== family.tokenHash) throw end("refresh_reused", "not the newest token of its family");
    if (!(clock() < family.expireTimeMs)) throw end("refresh_expired", "the family has expired");
    // The identity may trust another workload now; the family was begun under the old trust.
    const identity = identities.get(family.identity);
    if (!identity || ruleHash(identity) !== grant.rule) throw end("identity_changed", "another rule than at first");

    event.audience = audience;
    if (!audience.every((one) => grant.audience.includes(one))) throw refusal("audience", "not an audience at first");
    const minted = await mintApiToken(signer, clock(), {
      issuer: authUrl,
      subject: identity.uid,
      audience,
      actor: grant.actor,
      grants: options.capabilitiesOf(identity.uid),
      limits: narrowLimits(grant.limits, limits),
    });

    // The last step, and atomic: a failure before it leaves the old token valid, and of two uses at once, the second one
    // fails here.
    const next = writeRefreshToken(authUrl, familyId, family, clock());
    if (!families.rotate(id, presented, hashOf(next))) throw end("refresh_reused", "used twice at once");
    identities.seen(identity.uid, clock());
    const refreshToken: RawToken = { token: next, expiry: new Date(family.expireTimeMs).toISOString() };
    return { token: minted, refreshToken };
  };

  return (request: ExchangeRefreshTokenRequest, bearer: string, violations: readonly FieldViolation[] = []) =>
    auditDecision(options, "sts.refresh", (event) => refresh(request, bearer, violations, event));
};

const ruleHash = ({ claimMatch, staticKeys }: Identity) =>
  hashOf(JSON.stringify([claimMatch ?? null, staticKeys ?? null]));

// The text of a refresh token: base64 (RFC 4648 section 4) of JSON with `exp`, since the vendor's clients read when it expires.
// The server compares a hash of the whole text, and reads only the family that it claims.

const MAX_CHARACTERS = 4096;
const FAMILY_ID = /^([\w-]{22})\.[\w-]{43}$/;

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A token with 256 random bits. */
const writeRefreshToken = (
  issuer: string,
  familyId: string,
  family: Omit<RefreshFamily, "tokenHash">,
  nowMs: number,
): string => {
  const { audience } = family.grant;
  const json = {
    iss: issuer,
    sub: family.identity,
    aud: audience.length === 1 ? audience[0] : audience,
    iat: Math.floor(nowMs / 1000),
    exp: Math.floor(family.expireTimeMs / 1000),
    jti: `${familyId}.${randomBytes(32).toString("base64url")}`,
  };
  return Buffer.from(JSON.stringify(json)).toString("base64");
};

/** The family that a text claims. Refuses a text that is not a refresh token. */
const familyIdOf = (text: string): string => {
  const tokenId = text.length <= MAX_CHARACTERS ? tokenIdOf(text) : undefined;
  const [, familyId] = FAMILY_ID.exec(typeof tokenId === "string" ? tokenId : "") ?? [];
  if (familyId === undefined) throw refusal("token_shape", "not a refresh token");
  return familyId;
};

const tokenIdOf = (text: string): unknown => {
  try {
    const json = parseStrictJson(Buffer.from(text, "base64"));
    return isObject(json) ? ownValue(json, "jti") : undefined;
  } catch {
    // Not JSON, so not ours.
    return undefined;
  }
};
