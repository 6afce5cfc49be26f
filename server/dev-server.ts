// Tools of a program for a `dev` server, beside calls: get tokens without HTTP, and reset the records.
import { apiError } from "../schema/index.ts";
import { OWNER_SUBJECT } from "./seed/start.ts";
import { isInMemory, takeSnapshot } from "./store/snapshot.ts";
import type { Store } from "./store/store.ts";
import type { MintRequest, Sts } from "./sts/index.ts";

/** The holder of an API token, and its limits. */
export interface TokenRequest extends Omit<MintRequest, "subject" | "audience"> {
  /** `sub` of the identity token that is exchanged; default: the owner's */
  subject?: string;
  /** uid of the identity to assume; default: the owner, or the only one with that exact subject */
  identity?: string;
  /** names of the capabilities that limit the token, such as groups.list */
  capabilities?: readonly string[];
  /** uids of the groups that limit the token */
  scopes?: readonly string[];
}

export interface DevTools {
  /** An API token by a real exchange; by default the owner's. Throws refusals as ApiError. */
  token(request?: TokenRequest): Promise<string>;
  /** A workload's identity token, for a client that exchanges it itself. */
  identityToken(request: MintRequest): Promise<string>;
  /**
   * Brings back the records of the start, with the same uids: tokens from before are valid as they were then. Also restarts
   * the scripted failures and the rate limits. Keys, clock and metrics are unchanged.
   */
  reset(): Promise<void>;
}

interface DevToolsOptions {
  sts: Sts;
  store: Store;
  baseUrl: string;
  /** uid of the owner */
  identity: string;
  /** resets all state that is not a record */
  onReset: () => void;
}

export const createDevTools = ({ sts, store, baseUrl, identity: owner, onReset }: DevToolsOptions): DevTools => {
  const restore = isInMemory(store) ? takeSnapshot(store) : undefined;
  const identityToken: DevTools["identityToken"] = async (request) => {
    if (!sts.devIssuer) throw new TypeError("the development issuer is missing");
    return sts.devIssuer.mint(request);
  };
  return {
    identityToken,
    token: async ({ subject, identity, capabilities = [], scopes = [], ...request } = {}) => {
      const workload = await identityToken({ subject: subject ?? OWNER_SUBJECT, ...request });
      const assumed = identity ?? (subject === undefined ? owner : undefined);
      const limits = { cap: [...capabilities], scopes: [...scopes] };
      const { token } = await sts.exchange({ aud: [baseUrl], ...limits, identity: assumed }, workload);
      return token as string;
    },
    reset: async () => {
      if (!restore)
        throw apiError(
          "FAILED_PRECONDITION",
          "the records are in a file, which a reset would change; start the server without --db",
        );
      restore();
      onReset();
    },
  };
};
