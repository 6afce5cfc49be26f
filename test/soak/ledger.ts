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

export interface Ledger {
  /** the next write, on records of this writer only */
  next(): Write;
  groups: Map<string, { name: string; description: string }>;
  roots: Map<string, { name: string }>;
  identities: Map<string, { name: string }>;
  /** identity by uid of the binding */
  bindings: Map<string, string>;
}

export interface World {
  organization: string;
  /** uid of a role */
  role: string;
}

export const createLedger = (writer: number, random: Random, world: () => World): Ledger => {
  const ledger: Omit<Ledger, "next"> = {
    groups: new Map(),
    roots: new Map(),
    identities: new Map(),
    bindings: new Map(),
  };
  const { groups, roots, identities, bindings } = ledger;
  let count = 0;
  // No two records have one name, so that a record without an answer is found by it.
  const mark = () => `w${writer}-${++count}`;
  const uidOf = (answer: Answer) => answer.json.uid as string;
  const rowOf = (database: DatabaseSync, table: string, column: string, value: string) =>
    database.prepare(`SELECT * FROM ${table} WHERE ${column} = ?`).get(value);

  const create = (
    table: "groups" | "identities",
    parent: string,
    body: { name: string },
    keep: (uid: string) => void,
  ) => ({
    method: "POST" as const,
    target: `${IAM}/${table}/${parent}`.replace(/\/$/, ""),
    body,
    acknowledged: (answer: Answer) => keep(uidOf(answer)),
    settle: (database: DatabaseSync) => {
      const row = rowOf(database, table, "name", body.name);
      if (row) keep(row.uid as string);
      return row !== undefined;
    },
  });

  const remove = (kind: string, table: string, uid: string, forget: () => void): Write => ({
    method: "DELETE",
    target: `${IAM}/${kind}/${uid}`,
    acknowledged: forget,
    settle: (database) => {
      const gone = !rowOf(database, table, "uid", uid);
      if (gone) forget();
      return gone;
    },
  });

  const createGroup = (): Write => {
    const body = { name: mark(), description: mark() };
    return create("groups", world().organization, body, (uid) => groups.set(uid, body));
  };

  // The binding that makes the creator its owner comes in the same transaction; the part checks that every root has one.
  const createRoot = (): Write => {
    const body = { name: mark() };
    return create("groups", "", body, (uid) => roots.set(uid, body));
  };

  const createIdentity = (): Write => {
    const body = { name: mark(), claimMatch: { issuer: "https://issuer.example", subject: mark() } };
    return create("identities", world().organization, body, (uid) => identities.set(uid, body));
  };

  const describe = (uid: string): Write => {
    const description = mark();
    const change = () => groups.set(uid, { ...(groups.get(uid) as { name: string }), description });
    return {
      method: "PATCH",
      target: `${IAM}/groups/${uid}`,
      body: { description },
      acknowledged: change,
      settle: (database) => {
        const { body } = rowOf(database, "groups", "uid", uid) ?? { body: "{}" };
        const done = JSON.parse(body as string).description === description;
        if (done) change();
        return done;
      },
    };
  };

  const bind = (identity: string): Write => {
    const before = new Set(bindings.keys());
    const keep = (uid: string) => bindings.set(uid, identity);
    return {
      method: "POST",
      target: `${IAM}/roleBindings/${world().organization}`,
      body: { identityUid: identity, roleUid: world().role },
      acknowledged: (answer) => keep(uidOf(answer)),
      settle: (database) => {
        const made = bindingsOf(database, identity).filter((uid) => !before.has(uid));
        if (made.length > 1) throw new Error(`one binding of ${identity} was asked for, ${made.length} are there`);
        made.forEach(keep);
        return made.length === 1;
      },
    };
  };

  const bindBatch = (identity: string): Write => {
    const before = new Set(bindings.keys());
    const size = 2 + random.below(BATCH_MAX - 1);
    const keep = (uid: string) => bindings.set(uid, identity);
    const { organization, role } = world();
    return {
      method: "POST",
      target: `${IAM}/roleBindings:batchCreate`,
      body: {
        parent: organization,
        roleUid: role,
        requests: Array.from({ length: size }, () => ({ roleBinding: { identityUid: identity } })),
      },
      acknowledged: (answer) => {
        for (const { uid } of answer.json.roleBindings) keep(uid);
      },
      settle: (database) => {
        const made = bindingsOf(database, identity).filter((uid) => !before.has(uid));
        if (made.length > 0 && made.length < size)
          throw new Error(`of a batch of ${size} bindings of ${identity}, ${made.length} are there`);
        made.forEach(keep);
        return made.length === size;
      },
    };
  };

  // Its bindings go with it, in the same transaction.
  const removeIdentity = (uid: string): Write =>
    remove("identities", "identities", uid, () => {
      identities.delete(uid);
      for (const [binding, identity] of bindings) if (identity === uid) bindings.delete(binding);
    });

  const next = (): Write => {
    const one = <T>(records: Map<string, T>) => random.pick([...records.keys()]);
    // Writes of several rows stand here more than once: only they can be torn.
    const choices: [possible: boolean, write: () => Write][] = [
      [groups.size < KEPT, createGroup],
      [groups.size > 0, () => describe(one(groups))],
      [groups.size > 2, () => removeGroup(one(groups), groups)],
      [roots.size < KEPT, createRoot],
      [roots.size < KEPT, createRoot],
      [roots.size > 2, () => removeGroup(one(roots), roots)],
      [roots.size > 2, () => removeGroup(one(roots), roots)],
      [identities.size < KEPT, createIdentity],
      [identities.size > 0, () => bind(one(identities))],
      [identities.size > 0 && bindings.size < 10 * BATCH_MAX, () => bindBatch(one(identities))],
      [identities.size > 0 && bindings.size < 10 * BATCH_MAX, () => bindBatch(one(identities))],
      [identities.size > 0 && bindings.size < 10 * BATCH_MAX, () => bindBatch(one(identities))],
      [bindings.size > 0, () => removeBinding(one(bindings))],
      [identities.size > 2, () => removeIdentity(one(identities))],
    ];
    return random.pick(choices.filter(([possible]) => possible))[1]();
  };
  const removeGroup = (uid: string, of: Map<string, unknown>) => remove("groups", "groups", uid, () => of.delete(uid));
  const removeBinding = (uid: string) => remove("roleBindings", "role_bindings", uid, () => bindings.delete(uid));

  return { ...ledger, next };
};

const bindingsOf = (database: DatabaseSync, identity: string): string[] =>
  database
    .prepare("SELECT uid FROM role_bindings WHERE identity_uid = ?")
    .all(identity)
    .map(({ uid }) => uid as string);
