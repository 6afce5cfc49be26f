// The records of one writer by the responses that it got, for a comparison with the database after a crash. A request without a
// response may have been carried out or not, but only in full: `settle` finds out which.
import type { DatabaseSync } from "node:sqlite";
import type { Answer } from "../support/http.ts";
import type { Random } from "../support/random.ts";

const IAM = "/iam/v2beta1";
/** A batch has at most 25 (docs/contract.md#role-bindings). */
const BATCH_MAX = 25;
/** Records of a kind that a writer keeps, so that the database does not grow for ever. */
const KEPT = 12;

export interface Write {
  method: "POST" | "PATCH" | "DELETE";
  target: string;
  body?: object;
  /** it was answered with 200 */
  acknowledged(answer: Answer): void;
  /** it was not answered: what the database says; true when it was done, an error when half of it was */
  settle(database: DatabaseSync): boolean;
}

type Records = Map<string, string>;

export interface Ledger {
  /** the next write, on records of this writer only */
  next(): Write;
  /** a value by uid: of a group its name and description, of a role binding its identity, of others their name */
  records: Record<"groups" | "roots" | "identities" | "bindings", Records>;
}

export interface World {
  organization: string;
  /** uid of a role */
  role: string;
}

export const createLedger = (writer: number, random: Random, world: () => World): Ledger => {
  const records: Ledger["records"] = {
    groups: new Map(),
    roots: new Map(),
    identities: new Map(),
    bindings: new Map(),
  };
  const { groups, roots, identities, bindings } = records;
  let count = 0;
  // No two records have one name, so that a record without an answer is found by it.
  const mark = () => `w${writer}-${++count}`;
  const rowOf = (database: DatabaseSync, table: string, column: string, value: string) =>
    database.prepare(`SELECT * FROM ${table} WHERE ${column} = ?`).get(value);

  // Of a root, the binding that makes the creator its owner comes in the same transaction; the part checks that every root has one.
  const create = (kind: "groups" | "roots" | "identities"): Write => {
    const name = mark();
    const table = kind === "identities" ? "identities" : "groups";
    const further = {
      groups: { description: mark() },
      roots: {},
      identities: { claimMatch: { issuer: "https://issuer.example", subject: mark() } },
    };
    const value = kind === "groups" ? `${name} ${further.groups.description}` : name;
    const keep = (uid: unknown) => records[kind].set(uid as string, value);
    return {
      method: "POST",
      target: `${IAM}/${table}${kind === "roots" ? "" : `/${world().organization}`}`,
      body: { name, ...further[kind] },
      acknowledged: ({ json }) => keep(json.uid),
      settle: (database) => {
        const row = rowOf(database, table, "name", name);
        if (row) keep(row.uid);
        return row !== undefined;
      },
    };
  };

  const remove = (kind: keyof Ledger["records"]): Write => {
    const own = records[kind];
    const uid = random.pick([...own.keys()]);
    const table = { groups: "groups", roots: "groups", identities: "identities", bindings: "role_bindings" }[kind];
    const forget = (): void => {
      own.delete(uid);
      // The bindings of an identity go with it, in the same transaction.
      for (const [binding, identity] of bindings) if (identity === uid) bindings.delete(binding);
    };
    return {
      method: "DELETE",
      target: `${IAM}/${table === "role_bindings" ? "roleBindings" : table}/${uid}`,
      acknowledged: forget,
      settle: (database) => {
        const isGone = !rowOf(database, table, "uid", uid);
        if (isGone) forget();
        return isGone;
      },
    };
  };

  const describe = (): Write => {
    const uid = random.pick([...groups.keys()]);
    const description = mark();
    const change = () => groups.set(uid, `${groups.get(uid)?.split(" ")[0]} ${description}`);
    return {
      method: "PATCH",
      target: `${IAM}/groups/${uid}`,
      body: { description },
      acknowledged: change,
      settle: (database) => {
        const { body } = rowOf(database, "groups", "uid", uid) ?? { body: "{}" };
        const isDone = JSON.parse(body as string).description === description;
        if (isDone) change();
        return isDone;
      },
    };
  };

  /** One, or a batch of them. */
  const bind = (size: number): Write => {
    const identity = random.pick([...identities.keys()]);
    const before = new Set(bindings.keys());
    const keep = (uid: string) => void bindings.set(uid, identity);
    const { organization, role: roleUid } = world();
    const requests = Array.from({ length: size }, () => ({ roleBinding: { identityUid: identity } }));
    const isBatch = size > 1;
    return {
      method: "POST",
      target: `${IAM}/roleBindings${isBatch ? ":batchCreate" : `/${organization}`}`,
      body: isBatch ? { parent: organization, roleUid, requests } : { identityUid: identity, roleUid },
      acknowledged: ({ json }) => {
        for (const { uid } of isBatch ? json.roleBindings : [json]) keep(uid);
      },
      settle: (database) => {
        const all = database.prepare("SELECT uid FROM role_bindings WHERE identity_uid = ?").all(identity);
        const made = all.map(({ uid }) => uid as string).filter((uid) => !before.has(uid));
        if (made.length !== 0 && made.length !== size)
          throw new Error(`${size} bindings of ${identity} were asked for at once, ${made.length} are there`);
        made.forEach(keep);
        return made.length === size;
      },
    };
  };
  const bindBatch = () => bind(2 + random.below(BATCH_MAX - 1));

  const next = (): Write => {
    const mayBind = identities.size > 0 && bindings.size < 10 * BATCH_MAX;
    // Writes of several rows stand here more than once: only they can be torn.
    const choices: [isPossible: boolean, times: number, write: () => Write][] = [
      [groups.size < KEPT, 1, () => create("groups")],
      [groups.size > 0, 1, describe],
      [groups.size > 2, 1, () => remove("groups")],
      [roots.size < KEPT, 2, () => create("roots")],
      [roots.size > 2, 2, () => remove("roots")],
      [identities.size < KEPT, 1, () => create("identities")],
      [identities.size > 0, 1, () => bind(1)],
      [mayBind, 3, bindBatch],
      [bindings.size > 0, 1, () => remove("bindings")],
      [identities.size > 2, 1, () => remove("identities")],
    ];
    const possible = choices.flatMap(([isPossible, times, write]) => (isPossible ? Array(times).fill(write) : []));
    return random.pick<() => Write>(possible)();
  };
  return { records, next };
};
