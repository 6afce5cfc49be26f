// What the API says of the records that a write rests on. Each fact is read right before the first write that rests on it, and again for
// a write that comes much later.
import { apiErrorOf, apiText, hasCode, sessionErrorOf } from "../../client/errors.ts";
import { listAll } from "../../client/paginate.ts";
import { isListable } from "../../client/records.ts";
import { resources } from "../../schema/index.ts";
import { type GraphBuilder, newGraph } from "../graph/graph.ts";
import { listVisible } from "../graph/hidden.ts";
import {
  addBinding,
  addExternalGroup,
  addIdentity,
  addInvite,
  addProvider,
  addRole,
  type Listed,
} from "../graph/live-record.ts";
import { type Reader, type ReadKind, readerTogether } from "./read-together.ts";

/** A fact cannot be read, so it counts as another one than the review showed. */
export class UnreadableFact extends Error {}

export interface Facts {
  /** As the only nodes of a graph; empty where the record does not exist. `isNew`: the run has created it, so it may not be visible yet. */
  record(kind: ReadKind, uid: string, isNew?: boolean): Promise<GraphBuilder>;
  /** All of its role bindings that the caller may list, without what the roles grant. */
  bindingsOf(identity: string): Promise<readonly Listed[]>;
  bindingsWith(role: string): Promise<readonly Listed[]>;
  bindingsAt(group: string): Promise<readonly Listed[]>;
  /** Identity providers, mappings of external groups and invites that the caller may list. */
  people(): Promise<GraphBuilder>;
  /** Throws where the caller may not list these in the group: a list would show less than there is, and no error. */
  requireListable(kind: "roleBinding" | "identityProvider" | "groupInvite", group: string): Promise<void>;
  /** Default: all of them. */
  forget(record?: { kind: ReadKind; uid: string }): void;
}

/** Of a part of a role binding as the API lists it: of its identity or its role. */
export const uidIn = (part: unknown): string => String((part as { uid?: unknown } | undefined)?.uid ?? "");

/** For so long, a write rests on what was read for another one. */
const FRESH_MS = 10_000;

/** `unlisted`: kinds whose list the service refused to the reviewer, too. */
export const factsWith = (reader: Reader, unlisted: readonly string[] = []): Facts => {
  const known = new Map<string, { value: Promise<unknown>; at: number }>();
  const read = readerTogether(reader);
  const { clock } = reader;
  const once = <T>(key: string, read: () => Promise<T>): Promise<T> => {
    const found = known.get(key);
    if (found && clock.now() - found.at < FRESH_MS) return found.value as Promise<T>;
    const value = explained(key, read);
    const own = { value, at: clock.now() };
    known.set(key, own);
    // A failed read is no fact: the next write tries again.
    value.catch(() => known.get(key) === own && known.delete(key));
    return value;
  };
  const bindings = (filter: "identity" | "role" | "group", uid: string): Promise<readonly Listed[]> =>
    once(`role bindings of ${filter} ${uid}`, () =>
      Array.fromAsync(listAll(reader, resources.roleBinding.list, { [filter]: uid })),
    );
  return {
    record: (kind, uid, isNew = false) => once(`${kind} ${uid}`, () => recordBy(read, reader, kind, uid, isNew)),
    bindingsOf: (identity) => bindings("identity", identity),
    bindingsWith: (role) => bindings("role", role),
    bindingsAt: (group) => bindings("group", group),
    people: () => once("people", () => readPeople(reader, unlisted)),
    requireListable: (kind, group) =>
      once(`whether the ${resources[kind].words} of group ${group} can be listed`, async () => {
        if (!(await isListable(reader, resources[kind], group)))
          throw new UnreadableFact(`the ${resources[kind].words} of group ${group} cannot be listed`);
      }),
    forget: (record) => (record ? known.delete(`${record.kind} ${record.uid}`) : known.clear()),
  };
};

const explained = async <T>(what: string, read: () => Promise<T>): Promise<T> => {
  try {
    return await read();
  } catch (error) {
    const cause = apiErrorOf(error);
    if (!cause || sessionErrorOf(error)) throw error;
    throw new UnreadableFact(`${what} cannot be read: ${apiText(cause)}`, { cause });
  }
};

const ADD = { identity: addIdentity, role: addRole, roleBinding: addBinding, identityProvider: addProvider } as const;

/** Reads are eventually consistent: so long after a create, NOT_FOUND says nothing. */
const VISIBLE_MS = 5_000;
const PAUSE_MS = 250;

const recordBy = async (
  read: ReturnType<typeof readerTogether>,
  { clock }: Reader,
  kind: ReadKind,
  uid: string,
  isNew: boolean,
): Promise<GraphBuilder> => {
  const graph = newGraph();
  const until = clock.now() + (isNew ? VISIBLE_MS : 0);
  for (;;)
    try {
      ADD[kind](graph, (await read(kind, uid)) as Listed);
      return graph;
    } catch (error) {
      if (!hasCode(error, "NOT_FOUND")) throw error;
      if (clock.now() >= until) return graph;
      await clock.sleep(PAUSE_MS);
    }
};

const readPeople = async (reader: Reader, unlisted: readonly string[]): Promise<GraphBuilder> => {
  const graph = newGraph();
  const kinds = [
    ["identityProvider", addProvider],
    ["externalGroupRoleMapping", addExternalGroup],
    ["groupInvite", addInvite],
  ] as const;
  for (const [kind, add] of kinds) {
    const { records, failure } = await listVisible(reader, kind, {}, false);
    if (failure && !unlisted.includes(kind)) throw new UnreadableFact(failure.message, { cause: failure.error });
    for (const record of records) add(graph, record);
  }
  return graph;
};
