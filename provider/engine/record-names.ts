// The names of records that a program gives by their uids, from the API: a reader of a preview sees who gets what. They are asked for
// where a line shows them, once each. After a failure no more are: a preview works without the service.
import { listAll } from "../../client/paginate.ts";
import { isPlaceholder } from "../../client/placeholder-uid.ts";
import { isRoot, isUidp, type Json } from "../../schema/index.ts";
import { isRoleName } from "../kind/built-in-role.ts";
import { kindRecords } from "../kind/index.ts";
import { withOneAttempt } from "../session/session.ts";
import { pairsIn } from "../set/pair.ts";
import type { StepParts } from "./steps.ts";

type Kind = "group" | "identity" | "role";

export interface RecordNames {
  /** By uid; of a group its path of names, of an organization its name. What cannot be read is missing. */
  find(kind: Kind, uids: Iterable<unknown>): Promise<ReadonlyMap<unknown, string>>;
}

/** A request names the uids in its address. */
const ASKED_AT_ONCE = 50;

export const recordNames = ({
  connect,
  hasCredentials,
}: Pick<StepParts, "connect" | "hasCredentials">): RecordNames => {
  const known: Record<Kind, Map<string, string>> = { group: new Map(), identity: new Map(), role: new Map() };
  const asked = new Set<string>();
  let isOff = false;

  const ask = async (kind: Kind, uids: readonly string[]): Promise<void> => {
    const session = withOneAttempt(await connect());
    for await (const { uid, name } of listAll(session, kindRecords[kind].list, { uidp: { ids: uids } }))
      if (typeof name === "string" && uids.includes(uid)) known[kind].set(uid, name);
  };

  const read = async (kind: Kind, uids: readonly string[]): Promise<void> => {
    const missing = uids.filter((uid) => !asked.has(`${kind} ${uid}`));
    if (isOff || missing.length === 0 || !(await hasCredentials())) return;
    for (const uid of missing) asked.add(`${kind} ${uid}`);
    try {
      for (let at = 0; at < missing.length; at += ASKED_AT_ONCE) await ask(kind, missing.slice(at, at + ASKED_AT_ONCE));
    } catch {
      isOff = true;
    }
  };

  return {
    async find(kind, uids) {
      // A record that the update creates has none in the API.
      const own = [...new Set(uids)].filter((uid): uid is string => isUidp(uid) && !isPlaceholder(uid));
      await read(kind, kind === "group" ? [...new Set(own.flatMap(lineageOf))] : own);
      return new Map(
        own.flatMap((uid) => {
          const name = kind === "group" ? pathOf(uid, known.group) : known[kind].get(uid);
          return name === undefined ? [] : [[uid, name] as const];
        }),
      );
    },
  };
};

/** The names of a role binding, with the API's where the program has none. */
export const bindingNames = async (names: RecordNames, { names: own, identity, role, parent }: Json): Promise<Json> => {
  const given = (own ?? {}) as Json;
  const nameOf = async (kind: Kind, member: string, uid: unknown): Promise<Json> =>
    given[member] === undefined ? { [member]: isRoleName(uid) ? uid : (await names.find(kind, [uid])).get(uid) } : {};
  const found = [
    await nameOf("identity", "identity", identity),
    await nameOf("role", "role", role),
    await nameOf("group", "group", parent),
  ];
  return Object.assign({}, given, ...found);
};

/** The same of the pairs of a set. */
export const pairNames = async (names: RecordNames, news: Json): Promise<Json[]> => {
  const pairs = pairsIn(news);
  const unnamed = (part: "identity" | "role"): string[] =>
    pairs.filter((pair) => pair.names[part] === undefined).map((pair) => pair[part]);
  const identities = await names.find("identity", unnamed("identity"));
  const roles = await names.find("role", unnamed("role"));
  return pairs.map((pair) => ({
    identity: pair.names.identity ?? identities.get(pair.identity),
    role: pair.names.role ?? roles.get(pair.role),
  }));
};

/** The group and all above it, the organization first. */
const lineageOf = (uid: string): string[] => uid.split("/").map((_, i, segments) => segments.slice(0, i + 1).join("/"));

/** `platform/registry`; `acme` for the organization itself. */
const pathOf = (uid: string, names: ReadonlyMap<string, string>): string | undefined => {
  if (isRoot(uid)) return names.get(uid);
  const below = lineageOf(uid).slice(1);
  const path = below.map((one) => names.get(one));
  return path.includes(undefined) ? names.get(uid) : path.join("/");
};
