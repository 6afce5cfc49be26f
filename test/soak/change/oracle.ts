// Who may do what, from the tables of a server, without the code of the access graph.
import { DatabaseSync } from "node:sqlite";
import { ancestorsOf, capabilityName, type Json, rootOf } from "../../../schema/index.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { createStore } from "../../../server/store/store.ts";
import { authorizationOf, expectedRows } from "../access/authorization.ts";

export type Snapshot = ReturnType<typeof snapshotOf>;

/** An organization at one moment. */
export type Moment = ReturnType<Snapshot["of"]>;

interface Named {
  name: string;
  parent: string | null;
}

/** People, an external group, an invite or the holders of keys. */
interface Subject {
  /** another one: they are other people */
  id: string;
  name: string;
  /** uid of the record that gives the access */
  record: string;
  grants: { group: string; role: string; capabilities: readonly string[] }[];
}

/** One row of access, with uids. */
export interface Row {
  identity: string;
  sign: string;
  group: string;
  capability: string;
  role: string;
}

/** A server at one moment. `file`: its database, which may go on. `copy`: a path for what it has now. */
export const snapshotOf = (file: string, copy: string) => {
  const live = new DatabaseSync(file, { readOnly: true });
  live.exec(`VACUUM INTO '${copy}'`);
  live.close();
  const database = openDatabase(copy);
  const store = createStore(database);
  const all = (sql: string): Json[] => store.statement(sql).all() as Json[];
  const tables = ["groups", "identities", "roles"].map((table) => all(`SELECT uid, name, parent FROM ${table}`));
  const named = new Map((tables.flat() as unknown as (Named & { uid: string })[]).map((row) => [row.uid, row]));
  const people = peopleIn(all);
  return {
    of: (organization: string) => {
      const inside = (sql: string): string[] =>
        all(sql).flatMap(({ uid, place = uid }) => (rootOf(String(place)) === organization ? [String(uid)] : []));
      const uids = (table: string) => inside(`SELECT uid FROM ${table} ORDER BY rowid`);
      // Those of another organization too.
      const bound = inside("SELECT identity_uid AS uid, parent AS place FROM role_bindings");
      const identities = [...new Set([...uids("identities"), ...bound])];
      return {
        authorization: authorizationOf({ store, uids, identities: () => identities }),
        /** name and place of a record that gives or gets access, by uid */
        named: named as ReadonlyMap<string, Named>,
        people: people.filter(({ record }) => rootOf(record) === organization),
      };
    },
    close: () => database.close(),
  };
};

const peopleIn = (all: (sql: string) => Json[]): Subject[] => {
  const roles = new Map(
    all("SELECT uid, name, body FROM roles").map(({ uid, name, body }) => [
      uid as string,
      { role: name as string, capabilities: JSON.parse(body as string).capabilities.map(capabilityName) as string[] },
    ]),
  );
  const grant = (group: unknown, role: unknown): Subject["grants"] => {
    const own = roles.get(role as string);
    return own ? [{ group: group as string, ...own }] : [];
  };
  const providers = new Map(
    all("SELECT * FROM identity_providers").map(({ uid, parent, name, default_role, body }) => {
      const { issuer } = JSON.parse(body as string).oidc ?? {};
      const id = `${uid} ${issuer}`;
      return [uid as string, { name: name as string, record: uid as string, id, grants: grant(parent, default_role) }];
    }),
  );
  const mapped = Map.groupBy(all("SELECT * FROM external_group_role_mappings"), (one) =>
    JSON.stringify([one.parent, one.external_group_id]),
  );
  const keys = all("SELECT * FROM identities").flatMap(({ uid, name, body }): Subject[] => {
    const { staticKeys } = JSON.parse(body as string);
    if (!staticKeys) return [];
    const { expirationTime: _, ...own } = staticKeys;
    const bound = all(`SELECT parent, role_uid FROM role_bindings WHERE identity_uid = '${uid}'`);
    const grants = bound.flatMap(({ parent, role_uid }) => grant(parent, role_uid));
    const id = `${KEYS_OF} ${uid} ${JSON.stringify(own)}`;
    return [{ id, name: `static keys of ${name}`, record: uid as string, grants }];
  });
  return [
    ...[...providers.values()].map(({ name, ...one }) => ({ ...one, name: `people of ${name}` })),
    ...[...mapped.values()].flatMap((rows): Subject[] => {
      const { parent, external_group_id: group } = rows[0] as Json;
      const provider = providers.get(parent as string);
      if (!provider) return [];
      const grants = rows.flatMap(({ scope, role_uid }) => grant(scope, role_uid));
      const { id, name, record } = provider;
      return [{ id: `${id} ${group}`, name: `external group ${group} of ${name}`, record, grants }];
    }),
    ...all("SELECT * FROM group_invites").map(({ uid, parent, role_uid, key_id }) => ({
      ...{ id: uid as string, record: uid as string, name: `${INVITE}${key_id}`, grants: grant(parent, role_uid) },
    })),
    ...keys,
  ];
};

const KEYS_OF = "keys of";
const INVITE = "invite ";

/** What identities gain and lose. */
export const rowsOf = (before: Moment, after: Moment): Row[] =>
  expectedRows(before.authorization, after.authorization).map((text) => {
    const [identity = "", sign = "", group = "", capability = "", , ...role] = text.split(" ");
    return { identity, sign, group, capability, role: role.join(" ") };
  });

/** What people gain and lose. `identity` is their name; of an invite that is new, its uid is in it. */
export const peopleRows = (before: Moment, after: Moment): Row[] => [
  ...heldApart("+", after, before),
  ...heldApart("-", before, after),
];

const heldApart = (sign: string, one: Moment, other: Moment): Row[] =>
  one.people.flatMap(({ id, name, grants }) => {
    const [, , uid = ""] = id.startsWith(KEYS_OF) ? id.split(" ") : [];
    const same = other.people.find((subject) => subject.id === id);
    // Of an identity that is new or goes, and of keys that stay, they have what the identity has.
    if (uid !== "" && (same !== undefined || !other.named.has(uid))) return [];
    const others = same?.grants ?? [];
    const holds = (all: Subject["grants"], groups: readonly string[], capability: string): boolean =>
      all.some(({ group, capabilities }) => groups.includes(group) && capabilities.includes(capability));
    const rows = new Map<string, Row>();
    for (const { group, role, capabilities } of grants)
      for (const capability of capabilities) {
        const above = ancestorsOf(group);
        if (holds(grants, above, capability) || holds(others, [...above, group], capability)) continue;
        const key = `${group} ${capability}`;
        const known = rows.get(key);
        const identity = sign === "+" && same === undefined && name.startsWith(INVITE) ? `${INVITE}${id}` : name;
        if (!known || role < known.role) rows.set(key, { identity, sign, group, capability, role });
      }
    return [...rows.values()];
  });
