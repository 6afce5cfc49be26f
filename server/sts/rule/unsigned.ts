// Whether an identity accepts a workload by what its token says, without its signature: for a copy, to which no issuer gives a token.
import type { Json } from "../../../schema/index.ts";
import { refusal } from "../token/refusal.ts";
import { type AssumeOptions, assumableBy } from "./assume.ts";
import { mismatch, oneOf } from "./match.ts";

interface UnsignedOptions extends Omit<AssumeOptions, "devIssuerUrl" | "defaultAudience"> {
  authUrl: string;
}

/** Throws a Refusal. `claims` has `iss` and `sub`; the audience is the one that a token has by default. */
export const acceptUnsigned = (
  claims: Json,
  identity: string,
  { authUrl, anyone, identities }: UnsignedOptions,
): void => {
  const token = {
    ...{ compact: "", algorithm: "", keyId: undefined, tokenId: undefined, claims },
    ...{ issuer: String(claims.iss), subject: String(claims.sub), audiences: [authUrl] },
  };
  const options = { devIssuerUrl: undefined, anyone, identities, defaultAudience: oneOf([authUrl]) };
  const unmet = mismatch(assumableBy(token, identity, options).rule, token);
  if (unmet) throw refusal(unmet.reason, `the identity's rule is not met by ${unmet.claim}`);
};
