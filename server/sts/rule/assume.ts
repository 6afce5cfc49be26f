// Finds the identity that a token may assume, with its rule and keys (docs/internals/contract.md#d24): the named one, the only one with
// the token's exact issuer and subject, or the one that anyone may assume (docs/internals/contract.md#d22).
import { apiError, type Identity, isUidp, type Json, STATIC_KEYS_LIFE_MS } from "../../../schema/index.ts";
import { type KeySet, parseKeySet } from "../issuer/key-set.ts";
import { Refusal, refusal } from "../token/refusal.ts";
import type { WorkloadToken } from "../token/workload.ts";
import { type Matcher, mismatch, oneOf, type Rule, ruleFromClaimMatch, ruleFromStaticKeys } from "./match.ts";

export interface Assumable {
  uid: string;
  /** absent: the identity that anyone may assume */
  identity?: Identity;
  rule: Rule;
  /** the identity's own keys; absent: the issuer's, over the network */
  keys?: KeySet;
  /** the expiry of the identity's own keys */
  expireTimeMs?: number;
}

/** The stored identities. */
export interface Identities {
  get(uid: string): Identity | undefined;
  /** claimMatch or staticKeys of exactly this issuer and subject */
  withExactClaims(issuer: string, subject: string): Identity[];
  /** some stored identity has exactly this issuer */
  hasIssuer(issuer: string): boolean;
  /** uids of the organizations with such an identity */
  organizationsWith(issuer: string): string[];
  /** moves lastSeenTime */
  seen(uid: string, timeMs: number): void;
}

interface AssumeOptions {
  devIssuerUrl: string | undefined;
  /** uid of the identity that anyone may assume */
  anyone: string;
  identities: Identities;
  defaultAudience: Matcher;
}

/**
 * An AWS principal proves itself by a signed request and not by a token, so this check comes before the token. A caller who
 * knows the uid learns that it is an AWS identity's, and nothing more.
 */
export const refuseAwsIdentity = (uid: string | undefined, identities: Identities): void => {
  if (!isUidp(uid) || !identities.get(uid)?.awsIdentity) return;
  const answer = apiError("UNIMPLEMENTED", "AWS identities cannot be assumed here");
  throw new Refusal("aws_identity", "an AWS identity", { answer });
};

export const assumableBy = (token: WorkloadToken, uid: string | undefined, options: AssumeOptions): Assumable => {
  const { devIssuerUrl, anyone, identities, defaultAudience } = options;
  if (uid === anyone) {
    const rule: Rule = {
      // Of an issuer that some identity trusts.
      issuer: (issuer) => issuer === devIssuerUrl || identities.hasIssuer(issuer),
      subject: () => true,
      audience: defaultAudience,
      claims: [],
    };
    return { uid, rule };
  }
  const identity = uid ? findByUid(uid, identities) : onlyMatch(token, identities);
  const { claimMatch, staticKeys, createTime } = identity;
  if (claimMatch && staticKeys) throw refusal("identity_malformed", "two relationships");
  if (claimMatch) return { uid: identity.uid, identity, rule: ruleFromClaimMatch(claimMatch, defaultAudience) };
  if (!staticKeys) throw refusal("identity_kind", "nothing to match a token by");
  const { expirationTime } = staticKeys;
  return {
    uid: identity.uid,
    identity,
    rule: ruleFromStaticKeys(staticKeys, defaultAudience),
    keys: parseStoredKeys(staticKeys.issuerKeys),
    // The default is applied at creation and here again, so that no record is valid forever. An unreadable time counts as past.
    expireTimeMs: expirationTime ? Date.parse(expirationTime) : Date.parse(createTime) + STATIC_KEYS_LIFE_MS,
  };
};

/**
 * Throws a Refusal unless an identity accepts a workload by the claims of its token, without a signature: for a copy, for which no issuer
 * issues tokens. `claims` contains `iss` and `sub`; the audience is the default one of a token.
 */
export const acceptUnsigned = (
  claims: Json,
  identity: string,
  { authUrl, anyone, identities }: Pick<AssumeOptions, "anyone" | "identities"> & { authUrl: string },
): void => {
  const token = {
    ...{ compact: "", algorithm: "", keyId: undefined, tokenId: undefined, claims },
    ...{ issuer: String(claims.iss), subject: String(claims.sub), audiences: [authUrl] },
  };
  const options = { devIssuerUrl: undefined, anyone, identities, defaultAudience: oneOf([authUrl]) };
  const unmet = mismatch(assumableBy(token, identity, options).rule, token);
  if (unmet) throw refusal(unmet.reason, `the identity's rule is not met by ${unmet.claim}`);
};

const findByUid = (uid: string, identities: Identities) => {
  const identity = isUidp(uid) ? identities.get(uid) : undefined;
  if (!identity) throw refusal("identity_unknown", "no such identity");
  return identity;
};

const onlyMatch = (token: WorkloadToken, identities: Identities) => {
  const [identity, ...others] = identities.withExactClaims(token.issuer, token.subject);
  if (!identity) throw refusal("identity_unknown", "no identity of this issuer and subject");
  if (others.length > 0) throw refusal("identity_unknown", "several identities of this issuer and subject");
  return identity;
};

const parseStoredKeys = (text: string): KeySet => {
  try {
    return parseKeySet(text).keys;
  } catch (error) {
    throw refusal("identity_malformed", (error as TypeError).message);
  }
};
