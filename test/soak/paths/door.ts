// Requests to the server's own pipeline without a socket: routed and decoded as REST, authorised and served as always. The bearer is the uid of
// the caller, so that a search of thousands of requests signs no tokens.
import { isApiError, type OperationName } from "../../../schema/index.ts";
import { unlimited } from "../../../server/base/rate-limit.ts";
import { type Authenticate, grantsOf, operator } from "../../../server/caller/caller.ts";
import { createPipeline } from "../../../server/pipeline/pipeline.ts";
import { decodeRest } from "../../../server/rest/parameters.ts";
import { createRouter } from "../../../server/rest/route.ts";
import type { ServiceContext } from "../../../server/services/context.ts";
import { createPageTokens } from "../../../server/store/list.ts";
import type { Store } from "../../../server/store/store.ts";
import { sharedKeys, shuffledIds } from "../../harness/api-server.ts";
import type { Body } from "../../support/http.ts";

/** The body of a success, or the text of a refusal. */
export type Send = (as: string, method: string, target: string, body?: unknown) => Promise<Body | string>;

export interface DoorOptions {
  store: Store;
  identityRules: ServiceContext["identityRules"];
  withoutAntiEscalation: boolean;
  seed: number;
  now: number;
}

/** Any other answer is a defect of the server, and thrown. */
export const openDoor = ({ store, seed, now, ...rules }: DoorOptions): Send => {
  const authenticate: Authenticate = {
    bearer: ([uid = ""]) => uid,
    token: async ([uid = ""]) => ({
      uid,
      callerNow: () => ({ uid, grants: grantsOf(store, uid), token: operator.token }),
    }),
  };
  const tokens = createPageTokens(sharedKeys().pageTokenKey, () => now)(operator);
  const [log, ids] = [() => undefined, shuffledIds(seed)];
  const pipeline = createPipeline({
    ...{ store, authenticate, sts: undefined as never, limit: unlimited, log },
    context: () => ({ store, tokens, log, ids, now, uniqueRoleBindings: false, ...rules }),
  });
  const router = createRouter("both");
  return async (as, method, target, body) => {
    const [path = "", query = ""] = target.split("?", 2);
    const match = router(method, path);
    if (match.kind !== "route") throw new Error(`there is no route for ${method} ${path}`);
    const bytes = body === undefined || body === null ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body));
    const message = { contentType: "application/json", query, body: bytes };
    const operation = match.route.operation as OperationName;
    try {
      return (await pipeline({
        ...{ operation, wire: "rest", authorization: [as], peer: "" },
        decode: async () => decodeRest(match, message, false),
      })) as Body;
    } catch (error) {
      if (isApiError(error) && error.code !== "INTERNAL" && error.code !== "UNKNOWN") return error.message;
      throw error;
    }
  };
};
