// The security token service: exchanges workloads' tokens for API tokens, and verifies API tokens. It does not listen: the
// composition root passes in clock, keys, records and network, and binds the result to routes. Its state, the cache of
// issuers' keys, lives in the result of `createSts`.
import type { Dispatcher } from "undici";
import type { Json } from "../../schema/index.ts";
import { createExchange, type ExchangeOptions } from "./exchange.ts";
import type { Resolve } from "./issuer/address.ts";
import { createDocuments } from "./issuer/cache.ts";
import { createDevIssuer } from "./issuer/dev-issuer.ts";
import { createFetchDocument, discoveryDocument } from "./issuer/fetch.ts";
import { mintApiToken } from "./mint.ts";
import { createRefresh } from "./refresh.ts";
import { acceptUnsigned } from "./rule/assume.ts";
import { type ApiTokenClaims, describeApiToken, verifyApiToken } from "./token/api.ts";
import { answerOf } from "./token/refusal.ts";

export type { Resolve } from "./issuer/address.ts";
export type { MintRequest } from "./issuer/dev-issuer.ts";
export { JWKS_PATH } from "./issuer/fetch.ts";
export { jwksViolation } from "./issuer/key-set.ts";
export { createSigner, generateKey, type Signer, type StoredKey } from "./key/signer.ts";
export type { RefreshFamilies, RefreshGrant } from "./refresh.ts";
export type { Identities } from "./rule/assume.ts";
export { issuerPatternWarning } from "./rule/match.ts";
export type { ApiTokenClaims, ApiTokenDescription } from "./token/api.ts";
export type { Grants, Limits } from "./token/limit.ts";
export { unauthenticatedError as unauthenticated } from "./token/refusal.ts";

export interface StsOptions extends ExchangeOptions {
  /** tokens of operators are minted and accepted */
  operators?: boolean;
  /** for tests; it must guard its connections itself */
  dispatcher?: Dispatcher;
  /** the name service; default: DNS */
  resolve?: Resolve | undefined;
}

export type Sts = ReturnType<typeof createSts>;

export const createSts = (options: StsOptions) => {
  const { clock, authUrl, dev, signer } = options;
  if (options.audiences.length === 0) throw new TypeError("the API needs an audience");
  const fetchDocument = createFetchDocument(options);
  const documents = () => createDocuments({ clock, dev, fetchDocument });
  const mint = async (identity: string, isOperator = false): Promise<string> => {
    const { token } = await mintApiToken(signer, clock(), {
      issuer: authUrl,
      subject: identity,
      audience: options.audiences,
      actor: { issuer: authUrl, subject: identity, audience: authUrl },
      grants: options.capabilitiesOf(identity),
      limits: {},
      isOperator,
    });
    return token;
  };
  return {
    exchange: createExchange(options, { named: documents(), matched: documents() }),
    exchangeRefreshToken: createRefresh(options),
    /**
     * An API token of any identity, without an exchange. No wire offers it: only the holder of the server gets one. With `claims`, the
     * identity must accept a workload with these claims, as in an exchange. The claims are not signed. Throws refusals as ApiError.
     */
    mintFor: async (identity: string, claims?: Json): Promise<string> => {
      try {
        if (claims !== undefined) acceptUnsigned(claims, identity, options);
      } catch (error) {
        throw answerOf(error);
      }
      return mint(identity);
    },
    /** An API token of an operator who acts as this identity, or as none. Only with `operators`. */
    mintOperator: (identity = "") => mint(identity, true),
    verifyApiToken: (token: string): Promise<ApiTokenClaims> => verifyApiToken(options, token),
    /** for a verified token */
    describeApiToken,
    discovery: (): object => discoveryDocument(authUrl),
    jwks: (): object => signer.jwks(),
    devIssuer:
      dev && options.devIssuerUrl && options.devSigner
        ? createDevIssuer({ clock, authUrl, issuer: options.devIssuerUrl, signer: options.devSigner })
        : undefined,
  };
};
