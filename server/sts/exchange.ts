// The token exchange (docs/contract.md#exchange, in the spirit of RFC 8693): a workload's token in, an API token out.
// Read `exchange` from top to bottom: each paragraph is one check, and each refuses by throwing.
import { type ExchangeRequest, type FieldViolation, isUidp, type RawToken, rootOf } from "../../schema/index.ts";
import { audited, describeToken, type ExchangeEvent } from "./audit.ts";
import type { Documents } from "./issuer/cache.ts";
import { hasKey, type KeySet, parseKeySet, pickKey } from "./issuer/key-set.ts";
import type { Signer } from "./key/signer.ts";
import { limitViolations, requestedAudience, requestedLimits } from "./limit.ts";
import { actorOf, mintApiToken } from "./mint.ts";
import { beginFamily, type RefreshOptions } from "./refresh.ts";
import { claimRefusal, Refusal, refusal, refuseViolations, unauthenticated } from "./refusal.ts";
import { type Assumable, type AssumeOptions, assumableBy, refuseAwsIdentity } from "./rule/assume.ts";
import { type Mismatch, mismatch, oneOf } from "./rule/match.ts";
import { decodeWorkloadToken, type WorkloadToken } from "./token/workload.ts";
import { checkTimes, isTimely, verifySignature } from "./verify.ts";

export interface ExchangeOptions extends RefreshOptions {
  /** issuers on loopback over http, and the development issuer */
  dev: boolean;
  devIssuerUrl?: string;
  /** keys of the development issuer */
  devSigner?: Signer;
  /** uid of the identity that anyone may assume */
  anyone: string;
  identities: AssumeOptions["identities"] & RefreshOptions["identities"];
}

/** What is asked for is nobody's yet: a uid can be as long as a body, and the log has a line for each request. */
const MAX_LOGGED = 255;

/** The issuers' keys, remembered apart: whoever holds a token makes up issuers that a pattern matches, without an end. */
export interface IssuerDocuments {
  /** of issuers that an identity names */
  named: Documents;
  /** of those that only patterns match */
  matched: Documents;
}

export const createExchange = (options: ExchangeOptions, documents: IssuerDocuments) => {
  const { clock, authUrl, audiences, identities, signer } = options;
  const devIssuerUrl = options.dev ? options.devIssuerUrl : undefined;
  // The host with its port: a bare `127.0.0.1` would be everyone's (docs/contract.md#d11).
  const defaultAudience = oneOf([authUrl, new URL(authUrl).host, ...audiences]);

  const exchange = async (
    request: ExchangeRequest,
    bearer: string,
    violations: readonly FieldViolation[],
    event: ExchangeEvent,
  ): Promise<RawToken> => {
    if (bearer === "") throw new Refusal("missing_bearer", "no bearer", { answer: unauthenticated() });

    // What is asked for. Our audiences are public, so saying no in full tells nothing.
    refuseViolations([...violations, ...limitViolations(request, audiences)]);
    const audience = requestedAudience(request);
    const limits = requestedLimits(request);
    event.audience = audience;
    if (isUidp(request.identity) && request.identity.length <= MAX_LOGGED) event.identity = request.identity;

    refuseAwsIdentity(request.identity, identities);

    // What the token says of itself. Nothing of it is believed before the signature.
    const token = decodeWorkloadToken(bearer);
    Object.assign(event, describeToken(token));
    // Ours are for the API: exchanged again, they would live for ever.
    if (token.issuer === authUrl) throw refusal("own_issuer", "a token of ours");
    if (request.identityProvider) throw refusal("identity_provider", "there are no custom identity providers");

    // Which identity. That there is none, or that it trusts another issuer, is told only after the signature: what is
    // fetched and verified until then depends on the token alone, so that nothing shows which identities there are.
    const found = orRefusal(() => assumableBy(token, request.identity, { ...options, devIssuerUrl, defaultAudience }));
    if (!(found instanceof Refusal)) event.identity = found.uid;
    const untrusted = untrustedBy(found, token);

    // The issuer's key, the signature. Only then the rest of the rule: compared earlier, the time that a forged token
    // takes to be refused would tell which of its claims were guessed right.
    try {
      const own = untrusted ? undefined : (found as Assumable).keys;
      const usable = own ?? (await issuerKeys(token, found, untrusted));
      await verifySignature(token, pickKey(usable, token.keyId, token.algorithm));
    } catch (error) {
      throw untrusted && error instanceof Refusal ? untrusted : error;
    }
    if (untrusted || found instanceof Refusal) throw untrusted;
    const { uid, rule, keys, expireTimeMs = Infinity } = found;
    const unmet = mismatch(rule, token);
    if (unmet) throw unmetRefusal(found, token, unmet, clock());
    if (!(clock() < expireTimeMs)) throw refusal("static_keys_expired", "expirationTime has passed");

    // The times last: only a caller whose token would be exchanged but for its age hears that it is expired. Earlier, an
    // expired token of one's own would tell which uids exist, and which issuer and subject each of them trusts.
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
    // The signature took a while. A token would be worth nothing, and a family needs its identity.
    if (found.identity && !identities.get(uid)) throw refusal("identity_unknown", "deleted meanwhile");
    const refreshToken = beginFamily(options, found, { audience, limits, actor }, event);
    identities.seen(uid, clock());
    return { ...minted, ...(refreshToken && { refreshToken }) };
  };

  // Who may store an identity chooses whom this server asks; who merely holds a token does not.
  const issuerKeys = async (
    token: WorkloadToken,
    found: Assumable | Refusal,
    untrusted: Refusal | undefined,
  ): Promise<KeySet> => {
    const { issuer, keyId, algorithm } = token;
    // Our own process: asking ourselves over the network would only be slower.
    if (issuer === devIssuerUrl && options.devSigner) return parseKeySet(JSON.stringify(options.devSigner.jwks())).keys;
    const isNamed = identities.hasIssuer(issuer);
    if (!isNamed && untrusted) throw untrusted;
    const isEnough = (keys: KeySet) => hasKey(keys, keyId, algorithm);
    if (isNamed) return documents.named.keysOf(issuer, isEnough, () => identities.organizationsWith(issuer));
    return documents.matched.keysOf(issuer, isEnough, () => [rootOf((found as Assumable).uid)]);
  };

  return (request: ExchangeRequest, bearer: string, violations: readonly FieldViolation[] = []): Promise<RawToken> =>
    audited(options, "sts.exchange", (event) => exchange(request, bearer, violations, event));
};

// Which claim it is hears the holder of a token that is good by the issuer that the identity names: its owner, who has
// misspelt it. An issuer that only a pattern matches may be anybody's.
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

const untrustedBy = (found: Assumable | Refusal, { issuer }: WorkloadToken): Refusal | undefined => {
  if (found instanceof Refusal) return found;
  return found.rule.issuer(issuer) ? undefined : refusal("issuer", "not the identity's issuer");
};

const orRefusal = <T>(work: () => T): T | Refusal => {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
};
