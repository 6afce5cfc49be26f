// The names that a preview shows. Names of the program and of the state come first. For a record that the program gives only by uid, the
// API is asked once, if a line shows the name. After a failure no more are asked for: a preview works without the service.
import { listAll } from "../../client/records.ts";
import { ancestorsOf, getOrInsert, isRoot, isUidp, type Json } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { isRoleName } from "../kind/names.ts";
import { pairsIn } from "../kind/pair.ts";
import { SECRET_NAME } from "../record/state.ts";
import { type Ledger, type Session, withOneAttempt } from "../run/session.ts";

type Kind = "group" | "identity" | "role";

export type RecordNames = ReturnType<typeof recordNames>;

interface Service {
  ledger(): Promise<Ledger>;
  connect(): Promise<Session>;
  hasCredentials(): Promise<boolean>;
}

/** A request names the uids in its address. */
const UIDS_IN_REQUEST = 50;

export const recordNames = ({ connect, hasCredentials, ledger }: Service) => {
  const known = new Map<unknown, string>();
  const requested = new Set<string>();
  let isOff = false;

  const readMissing = async (kind: Kind, uids: readonly string[]): Promise<void> => {
    const missing = uids.filter((uid) => !known.has(uid) && !requested.has(`${kind} ${uid}`));
    if (isOff || missing.length === 0 || !(await hasCredentials())) return;
    for (const uid of missing) requested.add(`${kind} ${uid}`);
    try {
      const session = withOneAttempt(await connect());
      for (let at = 0; at < missing.length; at += UIDS_IN_REQUEST) {
        const ids = missing.slice(at, at + UIDS_IN_REQUEST);
        for await (const { uid, name } of listAll(session, kindRecords[kind].list, { uidp: { ids } }))
          if (typeof name === "string" && ids.includes(uid)) getOrInsert(known, uid, () => name);
      }
    } catch {
      isOff = true;
    }
  };

  /** By uid. Records that cannot be read are missing. */
  const find = async (kind: Kind, uids: readonly unknown[]): Promise<ReadonlyMap<unknown, string>> => {
    const wanted = [...new Set(uids)].filter(isUidp);
    await readMissing(kind, wanted);
    const { secretNames } = await ledger();
    const names = wanted.map((uid) => [uid, secretNames.has(uid) ? SECRET_NAME : known.get(uid)] as const);
    return new Map(names.filter((one): one is [string, string] => one[1] !== undefined));
  };

  return {
    /** The program calls the record of this uid by this name. */
    note: (uid: unknown, name: unknown, isSecret: boolean) => {
      if (typeof uid !== "string" || uid === "" || typeof name !== "string") return;
      known.set(uid, isSecret ? SECRET_NAME : name);
    },
    find,
    /** `platform/registry`; `acme` for the organization itself. Undefined if a part of it cannot be read. */
    pathOf: async (group: unknown) => {
      if (!isUidp(group)) return undefined;
      // The group and all above it that its path names.
      const uids = isRoot(group) ? [group] : [...ancestorsOf(group).slice(1), group];
      const names = await find("group", uids);
      const path = uids.map((uid) => names.get(uid));
      if (path.includes(undefined)) return undefined;
      return path.includes(SECRET_NAME) ? SECRET_NAME : path.join("/");
    },
  };
};

/** The names that a reader sees: the names of the program, otherwise those in `given`, which it keeps for the state. */
export const shownNames = (own: Json | undefined, given: Json | undefined): Json => {
  const parts = Object.entries(given ?? {}).filter(([, name]) => name !== SECRET_NAME);
  return { ...Object.fromEntries(parts), ...filterKnown(own) };
};

const filterKnown = (names: Json | undefined): Json =>
  Object.fromEntries(Object.entries(names ?? {}).filter(([, name]) => name !== undefined && name !== null));

type IsOpen = (argument: string) => boolean;

/** For a resource whose hidden names are known: its argument `names`, and which arguments it shows. */
export interface ShownNames {
  own: unknown;
  isOpen: IsOpen;
}

/** A part of a binding that has a name. */
type Part = "identity" | "role";

type NamedPair = Record<Part, unknown> & { names: { [P in Part]?: unknown } };

/** The names of pairs, with the API's names if the program has none. A secret argument is not looked up. */
const namesOfPairs = async (
  names: RecordNames,
  pairs: readonly NamedPair[],
  isOpen: (part: Part) => boolean,
): Promise<Record<Part, unknown>[]> => {
  const namesOf = async (part: Part): Promise<unknown[]> => {
    const missing = pairs.filter((pair) => pair.names[part] === undefined).map((pair) => pair[part]);
    const found = await names.find(part, isOpen(part) ? missing : []);
    return pairs.map(({ names: given, [part]: one }) => given[part] ?? (isRoleName(one) ? one : found.get(one)));
  };
  const [identities, roles] = [await namesOf("identity"), await namesOf("role")];
  return pairs.map((_, i) => ({ identity: identities[i], role: roles[i] }));
};

/** The names of a role binding. */
export const bindingNames = async (
  names: RecordNames,
  isOpen: IsOpen,
  { names: own, identity, role, parent }: Json,
): Promise<Json> => {
  const given = filterKnown(own as Json | undefined);
  const [pair] = await namesOfPairs(names, [{ identity, role, names: given }], isOpen);
  const group = async () => {
    if (given.group === SECRET_NAME || !isOpen("parent")) return given.group;
    return (await names.pathOf(parent)) ?? given.group ?? (await names.find("group", [parent])).get(parent);
  };
  return filterKnown({ ...pair, group: await group() });
};

/** The names of the pairs of a set. */
export const pairNames = (names: RecordNames, isOpen: IsOpen, news: Json): Promise<Json[]> =>
  namesOfPairs(names, pairsIn(news), () => isOpen("bindings"));
