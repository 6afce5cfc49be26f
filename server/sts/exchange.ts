// The token exchange (docs/internals/contract.md#exchange, in the spirit of RFC 8693): a workload's token in, an API token out.
// Read `exchange` from top to bottom: each paragraph is one check, and each refuses by throwing.
import { type ExchangeRequest, type FieldViolation, isUidp, type RawToken, rootOf } from "../../schema/index.ts";
import { auditDecision, describeToken, type ExchangeEvent } from "./audit.ts";
import type { Documents } from "./issuer/cache.ts";
import { hasKey, type KeySet, parseKeySet, pickKey } from "./issuer/key-set.ts";
import type { Signer } from "./key/signer.ts";
import { actorOf, mintApiToken } from "./mint.ts";
import { beginFamily, type RefreshOptions } from "./refresh.ts";
import { type Assumable, assumableBy, refuseAwsIdentity } from "./rule/assume.ts";
import { type Mismatch, mismatch, oneOf } from "./rule/match.ts";
import { readLimitRequest } from "./token/limit.ts";
import { claimRefusal, Refusal, refusal } from "./token/refusal.ts";
import { decodeWorkloadToken, type WorkloadToken } from "./token/workload.ts";
import { checkTimes, isTimely, verifySignature } from "./verify.ts";

export interface ExchangeOptions extends RefreshOptions {
  /** issuers on loopback over http, and the development issuer */
  dev: boolean;
  devIssuerUrl?: string | undefined;
  /** keys of the development issuer */
  devSigner?: Signer;
  /** uid of the identity that anyone may assume */
  anyone: string;
  /** the identities are a copy: static keys authenticate no one */
  isCopy?: boolean;
}

/** An identity in a request is unverified: its uid can be as long as a body, and the log gets a line for each request. */
const MAX_LOGGED = 255;

/** The issuers' keys, in two caches: with a token, anyone can invent any number of issuers that a pattern matches. */
interface IssuerDocuments {
  /** keys of issuers that an identity names */
  named: Documents;
  /** keys of issuers that only patterns match */
  matched: Documents;
}

export const createExchange = (options: ExchangeOptions, documents: IssuerDocuments) => {
  const { clock, authUrl, audiences, identities, signer } = options;
  const devIssuerUrl = options.dev ? options.devIssuerUrl : undefined;
  // The host with its port: a bare `127.0.0.1` would be everyone's (docs/internals/contract.md#d11).
  const defaultAudience = oneOf([authUrl, new URL(authUrl).host, ...audiences]);

  const exchange = async (
    request: ExchangeRequest,
    bearer: string,
    violations: readonly FieldViolation[],
    event: ExchangeEvent,
  ): Promise<RawToken> => {
    // The request.
    const { audience, limits } = readLimitRequest(request, bearer, violations, audiences);
    event.audience = audience;
    if (isUidp(request.identity) && request.identity.length <= MAX_LOGGED) event.identity = request.identity;

    refuseAwsIdentity(request.identity, identities);

    // The claims of the token. None of them is trusted before the signature.
    const token = decodeWorkloadToken(bearer);
    Object.assign(event, describeToken(token));
    // Our own tokens are for the API. Exchanged again and again, one would never expire.
    if (token.issuer === authUrl) throw refusal("own_issuer", "a token of ours");
    if (request.identityProvider) throw refusal("identity_provider", "there are no custom identity providers");

    // The identity. A missing one, or one that trusts another issuer, is refused only after the signature. Until then,
    // fetches and checks depend only on the token, so that nothing shows which identities exist.
    const found = orRefusal(() => assumableBy(token, request.identity, { ...options, devIssuerUrl, defaultAudience }));
    if (!(found instanceof Refusal)) event.identity = found.uid;
    const untrusted = issuerRefusal(found, token);

    // The issuer's key and the signature, then the rest of the rule. In the other order, the time that a forged token takes
    // to be refused would show which of its claims are right.
    try {
      const identityKeys = untrusted ? undefined : (found as Assumable).keys;
      // A key of the original must not open the copy, nor must one that a run on a copy has set.
      if (identityKeys && options.isCopy)
        throw refusal("static_keys_copied", "static keys sign in at the original only");
      const usable = identityKeys ?? (await issuerKeys(token, found, untrusted));
      await verifySignature(token, pickKey(usable, token.keyId, token.algorithm));
    } catch (error) {
      throw untrusted && error instanceof Refusal ? untrusted : error;
    }
    if (untrusted || found instanceof Refusal) throw untrusted;
    const { uid, rule, keys, expireTimeMs = Infinity } = found;
    const unmet = mismatch(rule, token);
    if (unmet) throw unmetRefusal(found, token, unmet, clock());
    if (!(clock() < expireTimeMs)) throw refusal("static_keys_expired", "expirationTime has passed");

    // The times last: only a caller whose token is valid but for its age learns that it has expired. Earlier, an expired token
    // would show which uids exist, and which issuer and subject each of them trusts.
    checkTimes(token.claims, clock());

    const actor = actorOf(token, token.audiences.find((one) => rule.audience(one)) as string, keys === undefined);
    const grants = options.capabilitiesOf(uid);
    const minted = await mintApiToken(signer, clock(), {
      issuer: authUrl,
      subject: uid,
      audience,
      actor,
      grants,
      limits,
    });
    // The identity may have been deleted during the signature. Its token would be worthless, and a family needs it.
    if (found.identity && !identities.get(uid)) throw refusal("identity_unknown", "deleted meanwhile");
    const refreshToken = beginFamily(options, found, { audience, limits, actor }, event);
    identities.seen(uid, clock());
    return { ...minted, refreshToken };
  };

  // Callers who may store an identity choose which issuers this server asks. The holder of a token does not.
  const issuerKeys = async (
    token: WorkloadToken,
    found: Assumable | Refusal,
    untrusted: Refusal | undefined,
  ): Promise<KeySet> => {
    const { issuer, keyId, algorithm } = token;
    // Our own process: a request over the network would only be slower.
    if (issuer === devIssuerUrl && options.devSigner) return parseKeySet(JSON.stringify(options.devSigner.jwks())).keys;
    const isNamed = identities.hasIssuer(issuer);
    if (!isNamed && untrusted) throw untrusted;
    const isEnough = (keys: KeySet) => hasKey(keys, keyId, algorithm);
    if (isNamed) return documents.named.keysOf(issuer, isEnough, () => identities.organizationsWith(issuer));
    return documents.matched.keysOf(issuer, isEnough, () => [rootOf((found as Assumable).uid)]);
  };

  /** `violations`: problems of the request that the wire found */
  return (request: ExchangeRequest, bearer: string, violations: readonly FieldViolation[] = []) =>
    auditDecision(options, "sts.exchange", (event) => exchange(request, bearer, violations, event));
};

// Only the holder of a good token by the issuer that the identity names learns the name of the claim, to correct a
// typing mistake. An issuer that only a pattern matches may belong to anyone.
const unmetRefusal = (
  { identity, expireTimeMs = Infinity }: Assumable,
  token: WorkloadToken,
  { reason, claim }: Mismatch,
  nowMs: number,
): Refusal => {
  const detail = `the identity's rule is not met by ${claim}`;
  const named = identity?.claimMatch?.issuer ?? identity?.staticKeys?.issuer;
  const isOwn = named === token.issuer && nowMs < expireTimeMs && isTimely(token.claims, nowMs);
  return isOwn ? claimRefusal(reason, detail, claim) : refusal(reason, detail);
};

const issuerRefusal = (found: Assumable | Refusal, { issuer }: WorkloadToken) => {
  if (found instanceof Refusal) return found;
  return found.rule.issuer(issuer) ? undefined : refusal("issuer", "not the identity's issuer");
};

const orRefusal = (work: () => Assumable) => {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
};
