// The token exchange (api.md section 5, contract section 2, RFC 8693 in spirit): a workload's token in, an API token out.
// Read `exchange` from top to bottom: each paragraph is one check, and each refuses by throwing.
import {
  type ApiError,
  apiError,
  type ExchangeRequest,
  isApiError,
  isUidp,
  type RawToken,
} from "../../schema/index.ts";
import { type Assumable, type AssumeOptions, assumableBy, refuseAwsIdentity } from "./assume.ts";
import { describeToken, type ExchangeEvent, openEvent } from "./audit.ts";
import type { Documents } from "./documents.ts";
import { hasKey, type KeySet, parseKeySet, pickKey } from "./key-set.ts";
import { requestedAudience, requestedLimits } from "./limit.ts";
import { mismatch, oneOf } from "./match.ts";
import { mintApiToken } from "./mint.ts";
import { denied, Refusal, refusal, unauthenticated } from "./refusal.ts";
import type { Signer } from "./signer.ts";
import { checkTimes, verifySignature } from "./verify.ts";
import { decodeWorkloadToken, type WorkloadToken } from "./workload-token.ts";

export interface ExchangeOptions {
  /** milliseconds since the epoch */
  clock: () => number;
  /** our issuer, `iss` of API tokens */
  authUrl: string;
  /** audiences of the API; the first is the base address */
  audiences: readonly string[];
  /** issuers on loopback over http, and the development issuer */
  dev: boolean;
  devIssuerUrl?: string;
  signer: Signer;
  /** keys of the development issuer */
  devSigner?: Signer;
  /** uid of the identity that anyone may assume */
  anyone: string;
  identities: AssumeOptions["identities"] & {
    /** moves lastSeenTime */
    seen(uid: string, timeMs: number): void;
  };
  /** enum names of capabilities by uid of the group, from the bindings as they are now */
  capabilitiesOf(identityUid: string): Map<string, Set<string>>;
  /** one line for each decision */
  log: (event: Record<string, unknown>) => void;
}

export const createExchange = (options: ExchangeOptions, documents: Documents) => {
  const { clock, authUrl, audiences, identities, signer } = options;
  const devIssuerUrl = options.dev ? options.devIssuerUrl : undefined;
  const devKeys = devIssuerUrl && options.devSigner ? parseKeySet(JSON.stringify(options.devSigner.jwks())).keys : [];
  // Decision 11. The host with its port: a bare `127.0.0.1` would be everybody's.
  const defaultAudience = oneOf([authUrl, new URL(authUrl).host, ...audiences]);

  const exchange = async (request: ExchangeRequest, bearer: string, event: ExchangeEvent): Promise<RawToken> => {
    if (bearer === "") throw new Refusal("missing_bearer", "no bearer", { answer: unauthenticated() });

    // What is asked for. Our audiences are public, so saying no in full tells nothing.
    const audience = requestedAudience(request.aud, audiences);
    const limits = requestedLimits(request);
    event.audience = audience;
    if (isUidp(request.identity)) event.identity = request.identity;

    refuseAwsIdentity(request.identity, identities);

    // What the token says of itself. Nothing of it is believed before the signature.
    const token = decodeWorkloadToken(bearer);
    Object.assign(event, describeToken(token));
    // Ours are for the API: exchanged again, they would live for ever.
    if (token.issuer === authUrl) throw refusal("own_issuer", "a token of ours");
    if (request.identityProvider) throw refusal("identity_provider", "there are no custom identity providers");

    // Which identity. Its issuer has to be the one claimed before anything is fetched: who may store an identity chooses
    // whom this server asks, who merely holds a token does not.
    const assumable = assumableBy(token, request.identity, { ...options, devIssuerUrl, defaultAudience });
    event.identity = assumable.uid;
    if (!assumable.rule.issuer(token.issuer)) throw refusal("issuer", "not the identity's issuer");

    // The issuer's key, the signature. Only then the rest of the rule: compared earlier, the time that a forged token
    // takes to be refused would tell which of its claims were guessed right.
    const keys = await keysOf(assumable, token);
    await verifySignature(token, pickKey(keys, token.keyId, token.algorithm));
    const unmet = mismatch(assumable.rule, token);
    if (unmet) throw refusal(unmet, "the identity's rule is not met");

    // The times last: only a caller whose token would be exchanged but for its age hears that it is expired. Earlier, an
    // expired token of one's own would tell which uids exist, and which issuer and subject each of them trusts.
    checkTimes(token.claims, clock());

    const grants = options.capabilitiesOf(assumable.uid);
    const subject = assumable.uid;
    const minted = await mintApiToken(signer, clock(), {
      issuer: authUrl,
      subject,
      audience,
      actor: token,
      grants,
      limits,
    });
    identities.seen(assumable.uid, clock());
    return minted;
  };

  const keysOf = async (assumable: Assumable, token: WorkloadToken): Promise<KeySet> => {
    if (assumable.keys) return assumable.keys;
    // Our own process: asking ourselves over the network would only be slower.
    if (token.issuer === devIssuerUrl) return devKeys;
    return documents.keysOf(token.issuer, (keys) => hasKey(keys, token.keyId, token.algorithm));
  };

  // One line for each decision, whichever way it is taken.
  return async (request: ExchangeRequest, bearer: string): Promise<RawToken> => {
    const event = openEvent(clock());
    try {
      const minted = await exchange(request, bearer, event);
      Object.assign(event, { decision: "granted", reason: "granted" });
      return minted;
    } catch (error) {
      if (error instanceof Refusal) Object.assign(event, { reason: error.reason, detail: error.message });
      throw answerOf(error);
    } finally {
      options.log(event);
    }
  };
};

// What is no refusal is a fault of ours and stays one.
const answerOf = (error: unknown): ApiError => {
  if (error instanceof Refusal) return error.answer ?? denied(error);
  if (isApiError(error)) return error;
  return apiError("INTERNAL", "the token could not be exchanged", { cause: error });
};
