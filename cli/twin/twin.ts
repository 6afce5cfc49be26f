// A twin: a copy of an organization in memory, on a server in this process. Its requests never reach the original.
import { type Copy, recordsIn } from "../../access/copy/copy.ts";
import type { AccessGraph, RoleNode } from "../../access/graph/graph.ts";
import { isListedKind, type Live, readListed } from "../../access/graph/live.ts";
import type { HeldRecord } from "../../access/review/proposal.ts";
import { isLoopbackUrl, type Json, parentOf, resources } from "../../schema/index.ts";
import { createKeys, createServer, type ServerKeys, type ServerOptions } from "../../server/index.ts";
import { loopbackClient } from "../client.ts";

export type Twin = Awaited<ReturnType<typeof startTwin>>;

/** All twins of the process share them: making keys takes longer than starting a twin. A token names its twin, and no other one takes it. */
let keys: ServerKeys | undefined;

/** `copy` is what `copyOf` has read at the address `original`. Throws what `createServer` throws. */
export const startTwin = async (copy: Copy, original: string, options: ServerOptions = {}) => {
  keys ??= createKeys();
  const server = await createServer({
    keys,
    ...options,
    // A service on loopback may trust issuers on loopback. Elsewhere the twin issues no workload token to anyone.
    dev: isLoopbackUrl(original),
    twin: true,
    seed: copy,
  });
  const { localUrl: url, tokenOf, close } = server;
  /** An API token of this identity, or of none, that may do everything in the copied organizations. */
  const operatorToken = server.operatorToken as (identity: string | undefined) => Promise<string>;
  return {
    // The addresses of the original and of the twin, which is on loopback.
    ...{ original, url },
    ...{ copy, operatorToken, close },
    /** An API token of any identity of the copy; with claims, of one that accepts a workload with these. */
    tokenOf,
    /** a client that acts as this identity */
    clientOf: async (identity: string) => loopbackClient(url, await tokenOf(identity)),
    /** the same with the rights of an operator */
    operatorOf: async (identity: string | undefined) => loopbackClient(url, await operatorToken(identity)),
  };
};

/** A record by the plural of its kind, its uid, and the address of the original; default: `first`. */
export const recordsOf = (twins: ReadonlyMap<string, Pick<Twin, "copy">>, first: string) => {
  const all = [...twins].flatMap(([address, { copy }]) =>
    recordsIn(copy).map(([plural, one]): [string, Json] => [`${address} ${plural} ${one.uid}`, one]),
  );
  const records = new Map(all);
  return (plural: string, uid: string, service = first) => records.get(`${service} ${plural} ${uid}`);
};

// The records of a twin as an access graph: read through its lists, as from the service itself.

export interface TwinLive extends Live {
  /** repos and account associations, which go with their group */
  held: readonly HeldRecord[];
}

/** Whatever the reader of the copy could not list is named as such. */
export const readTwin = async (twin: Twin): Promise<TwinLive> => {
  const { copy, named, records } = twin.copy;
  const { graph, createdAt, lastSeen } = await readListed(await twin.operatorOf(undefined));
  const listed = new Set(records.roles?.map(({ uid }) => uid));
  const roles = new Map(graph.roles);
  for (const { uid } of named.roles) {
    const role = roles.get(uid);
    // It may grant anything.
    if (role && !listed.has(uid)) roles.set(uid, { ...(role as RoleNode), isUnlisted: true });
  }
  return {
    graph: { ...graph, roles } satisfies AccessGraph,
    notVisible: copy.notVisible.flatMap(({ kind, ...one }) => (isListedKind(kind) ? [{ kind, ...one }] : [])),
    ...{ createdAt, lastSeen },
    held: heldIn(twin.copy),
  };
};

const heldIn = ({ records }: Twin["copy"]): HeldRecord[] =>
  [resources.repo, resources.accountAssociation].flatMap(({ plural, word, list }) =>
    (records[plural] ?? []).map(({ uid, name }) => ({
      ...{ kind: word, uid, name: String(name) },
      group: "sharesUid" in list && list.sharesUid ? uid : parentOf(uid),
    })),
  );
