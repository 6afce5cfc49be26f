// What a program can do with a server under `dev` beside calling it: tokens without HTTP, and a new beginning.
import { apiError } from "../schema/index.ts";
import type { MintRequest } from "./pages/issuer.ts";
import { OWNER_SUBJECT } from "./seed/bootstrap.ts";
import { isInMemory, takeSnapshot } from "./store/snapshot.ts";
import type { Store } from "./store/store.ts";
import type { Sts } from "./sts/index.ts";

/** Whose API token, and what it is held to. */
export interface TokenRequest extends Omit<MintRequest, "subject" | "audience"> {
  /** `sub` of the identity token that is exchanged; default: the owner's */
  subject?: string;
  /** uid of the identity to assume; default: the owner, or the only one with that exact subject */
  identity?: string;
  /** names of capabilities that the token is held to, such as groups.list */
  capabilities?: readonly string[];
  /** uids of groups that the token is held to */
  scopes?: readonly string[];
}

export interface DevTools {
  /** An API token by a real exchange; without a request the owner's. Refusals are thrown as ApiError. */
  token(request?: TokenRequest): Promise<string>;
  /** A workload's identity token, for a client that exchanges it itself. */
  identityToken(request: MintRequest): Promise<string>;
  /**
   * The records as they were at the start, with the same uids: tokens from before are valid as they were then. Also the scripted
   * failures, from their first step, and the rate limits. Keys, clock and metrics go on.
   */
  reset(): Promise<void>;
}

interface DevToolsOptions {
  sts: Sts;
  store: Store;
  baseUrl: string;
  /** uid of the owner */
  identity: string;
  /** of what is not a record */
  onReset: () => void;
}

export const createDevTools = ({ sts, store, baseUrl, identity: owner, onReset }: DevToolsOptions): DevTools => {
  const restore = isInMemory(store) ? takeSnapshot(store) : undefined;
  const identityToken: DevTools["identityToken"] = async ({ lifetimeSeconds, ...request }) => {
    if (!sts.devIssuer) throw new TypeError("the development issuer is missing");
    const lifetimeMs = lifetimeSeconds === undefined ? undefined : lifetimeSeconds * 1000;
    return sts.devIssuer.mint({ ...request, lifetimeMs });
  };
  return {
    identityToken,
    token: async ({ subject, identity, capabilities = [], scopes = [], ...request } = {}) => {
      const workload = await identityToken({ subject: subject ?? OWNER_SUBJECT, ...request });
      const assumed = identity ?? (subject === undefined ? owner : undefined);
      const limits = { cap: [...capabilities], scopes: [...scopes] };
      const { token } = await sts.exchange(
        { aud: [baseUrl], ...limits, ...(assumed && { identity: assumed }) },
        workload,
      );
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
