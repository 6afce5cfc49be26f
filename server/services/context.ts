// The context of a service, its only access to its environment.
import type { Json, OperationName, RequestOf, ResponseOf } from "../../schema/index.ts";
import type { Log } from "../base/log.ts";
import type { Caller } from "../caller/caller.ts";
import type { PageTokens } from "../store/list.ts";
import type { Shape, Store } from "../store/store.ts";

/** Ids of new records; passed in, so that tests are repeatable. */
export interface IdSource {
  /** 40 hexadecimal digits: uid of a root record */
  root(): string;
  /** 16 hexadecimal digits: last segment of any other uid */
  segment(): string;
}

/** Which issuers identities may name. */
export interface IdentityRules {
  /** loopback issuers are served (`--dev`) */
  loopback: boolean;
  /** our own issuer, which no identity may name */
  ownIssuer: string;
  /** uid of the identity that anyone may assume */
  anyone: string;
  /** the development issuer, with `--dev` */
  devIssuer?: string | undefined;
}

export interface ServiceContext {
  caller: Caller;
  /** capabilities of the method's row: a list shows only records where the caller holds them */
  capabilities: readonly string[];
  log: Log;
  store: Store;
  tokens: PageTokens;
  ids: IdSource;
  /** milliseconds since the epoch, one value for the whole request */
  now: number;
  identityRules: IdentityRules;
  /** an identity is bound to a role at most once in a group (docs/internals/contract.md#d19) */
  uniqueRoleBindings: boolean;
  /** a caller may grant what it does not hold (`--without-anti-escalation`) */
  withoutAntiEscalation: boolean;
  /**
   * The record of another service that is copied, as that service returned it. The service method takes every value from it,
   * including those that it sets on a new record: uid, times, state. Only a seed sets it (`server/seed/apply-copy.ts`), never a request.
   */
  original?: Json | undefined;
  /** by shape, uids of records that no list shows: a copy knows them only through other records */
  unlisted?: ReadonlyMap<Shape, readonly string[]> | undefined;
  /** this read hides records that were created later; default: none (`server/faults` sets it) */
  createdBy?: number | undefined;
}

// The methods of a service: the rules of a resource, with everything they need in the context. The pipeline has decoded the
// request, authenticated the caller and checked the method's scope.

export type Services<N extends OperationName> = {
  readonly [K in N]: (request: RequestOf<K>, context: ServiceContext) => ResponseOf<K>;
};

/** The methods of one service. */
export type ServiceMethods = Partial<Services<OperationName>>;
