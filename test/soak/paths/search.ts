// A search for what an attacker can come to hold, by real requests, from state to state. It knows no rule of the server but one: who
// holds more, and finds less in the way, is refused no more.
import { capabilityName, isAncestorOrSelf, rootOf } from "../../../schema/index.ts";
import { grantsOf } from "../../../server/caller/caller.ts";
import type { Store } from "../../../server/store/store.ts";
import { IAM } from "../../harness/api-server.ts";
import type { Body } from "../../support/http.ts";

/** The body of a success, or the text of a refusal. */
export type Send = (as: string, method: string, target: string, body?: unknown) => Promise<Body | string>;

export interface Attack {
  store: Store;
  send: Send;
  /** whether the workload of the attacker may assume the identity now, by a real exchange */
  mayAssume(identity: string): Promise<boolean>;
  claims: { issuer: string; subject: string };
  /** identities under control from the start */
  start: readonly string[];
  organizations: readonly string[];
  builtIn: readonly string[];
  requestsMax: number;
}

const TABLES = ["groups", "identities", "roles", "role_bindings"] as const;
type Tables = Record<(typeof TABLES)[number], Record<string, never>[]>;

export const saveRecords = (store: Store): Tables =>
  Object.fromEntries(TABLES.map((table) => [table, store.statement(`SELECT * FROM ${table}`).all()])) as never;

export const restoreRecords = (store: Store, saved: Tables): void =>
  store.transaction(() => {
    store.database.exec("PRAGMA defer_foreign_keys = ON");
    for (const table of TABLES.toReversed()) store.statement(`DELETE FROM ${table}`).run();
    for (const table of TABLES) {
      // Those that SQLite does not compute.
      const columns = store
        .statement("SELECT name FROM pragma_table_info(?)")
        .all(table)
        .map(({ name }) => String(name));
      const places = columns.map(() => "?").join(", ");
      const insert = store.statement(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places})`);
      for (const row of saved[table]) insert.run(...columns.map((name) => row[name] as never));
    }
  });

interface State {
  saved: Tables;
  controlled: ReadonlySet<string>;
}

/** What decides which requests are accepted. */
interface View {
  controlled: ReadonlySet<string>;
  /** `group capability`, by identity */
  holdings: ReadonlyMap<string, ReadonlySet<string>>;
  roles: ReadonlyMap<string, string>;
  key: string;
}

/** Everything that could be done then can be done now: nobody under control holds less, and nothing more is in the way. */
const isNoWorse = (now: View, then: View): boolean =>
  [...then.controlled].every((uid) => now.controlled.has(uid)) &&
  [...then.roles].every(([uid, held]) => now.roles.get(uid) === held) &&
  [...then.holdings].every(([uid, held]) => {
    const own = now.holdings.get(uid);
    if (own === undefined || ![...held].every((one) => own.has(one))) return false;
    return now.controlled.has(uid) || [...own].every((one) => held.has(one) || isElsewhere(one, uid));
  });

const isElsewhere = (held: string, identity: string): boolean =>
  rootOf(held.split(" ", 1)[0] as string) !== rootOf(identity);

interface Sent {
  as: string;
  method: string;
  target: string;
  body?: object;
}

/** `held`: each `capability group` that an identity under control held in some state. `isCut`: there was more to try. */
export const searchByRequests = async (attack: Attack) => {
  const { store, send, organizations, requestsMax } = attack;
  const reach = { held: new Set<string>(), states: 0, requests: 0, accepted: 0, isCut: false };
  const seen = new Set<string>();
  const refused = new Set<string>();
  const waiting: State[] = [];

  const uids = (table: string): string[] =>
    store
      .statement(`SELECT uid FROM ${table} ORDER BY uid`)
      .all()
      .map(({ uid }) => uid as string)
      .filter((uid) => organizations.includes(rootOf(uid)));

  const parsed = new Map<string, string[]>();
  const capabilitiesIn = (body: string): string[] => {
    const known = parsed.get(body) ?? ((JSON.parse(body) as { capabilities?: string[] }).capabilities ?? []).toSorted();
    parsed.set(body, known);
    return known;
  };

  const rolesNow = () =>
    store
      .statement("SELECT uid, parent, body FROM roles ORDER BY uid")
      .all()
      .map(({ uid, parent, body }) => ({
        uid: uid as string,
        parent: parent as string | null,
        held: capabilitiesIn(body as string),
      }))
      .filter(({ uid }) => attack.builtIn.includes(uid) || organizations.includes(rootOf(uid)));

  /** Read from the tables, apart from the server's own authorisation. */
  const view = (controlled: ReadonlySet<string>): View => {
    const roles = new Map(rolesNow().map(({ uid, held }) => [uid, held]));
    const holdings = new Map(uids("identities").map((uid) => [uid, new Set<string>()]));
    const bound = "SELECT identity_uid, parent, role_uid FROM role_bindings ORDER BY parent, role_uid";
    for (const { identity_uid: identity, parent, role_uid: role } of store.statement(bound).all())
      for (const one of roles.get(role as string) ?? []) holdings.get(identity as string)?.add(`${parent} ${one}`);
    const signOf = (uid: string): string => (controlled.has(uid) ? "+" : "-");
    const people = [...holdings].map(([uid, held]) => `${signOf(uid)}${uid}:${[...held].sort().join(",")}`);
    const texts = new Map([...roles].map(([uid, held]) => [uid, held.join(",")]));
    return { controlled, holdings, roles: texts, key: [...people, ...texts].join("\n") };
  };

  const heldAt = ({ holdings }: View, uid: string, group: string): string[] => {
    const pairs = [...(holdings.get(uid) ?? [])].map((one) => one.split(" ") as [at: string, capability: string]);
    const above = pairs.filter(([at]) => isAncestorOrSelf(at, group));
    return [...new Set(above.map(([, capability]) => capability))];
  };

  const requestsOf = function* (as: string, now: View): Generator<Sent> {
    const { controlled } = now;
    const { claims } = attack;
    const [groups, identities, bindings] = [uids("groups"), uids("identities"), uids("role_bindings")];
    const roles = rolesNow();
    for (const uid of identities) {
      const body = { claimMatch: claims };
      yield { as, method: "PATCH", target: `${IAM}/identities/${uid}?updateMask=claimMatch`, body };
    }
    for (const uid of bindings) yield { as, method: "DELETE", target: `${IAM}/roleBindings/${uid}` };
    for (const group of groups)
      for (const { uid: roleUid, held } of roles)
        for (const identityUid of controlled)
          if (!held.every((one) => heldAt(now, identityUid, group).includes(one)))
            yield { as, method: "POST", target: `${IAM}/roleBindings/${group}`, body: { identityUid, roleUid } };
    for (const uid of bindings)
      for (const { uid: roleUid } of roles) {
        yield { as, method: "PATCH", target: `${IAM}/roleBindings/${uid}`, body: { roleUid } };
        for (const identityUid of controlled)
          yield { as, method: "PATCH", target: `${IAM}/roleBindings/${uid}`, body: { identityUid, roleUid } };
      }
    for (const { uid, parent, held } of roles) {
      if (parent === null) continue;
      const wide = [...new Set([...held, ...heldAt(now, as, parent)])];
      if (wide.length > held.length)
        yield { as, method: "PATCH", target: `${IAM}/roles/${uid}`, body: { capabilities: wide } };
      for (const one of held)
        yield { as, method: "PATCH", target: `${IAM}/roles/${uid}`, body: { capabilities: [one] } };
    }
    for (const group of groups) {
      const capabilities = heldAt(now, as, group);
      const isSame = (held: string[]) =>
        held.length === capabilities.length && capabilities.every((one) => held.includes(one));
      const isThere = roles.some(
        ({ parent, held }) => parent !== null && isAncestorOrSelf(parent, group) && isSame(held),
      );
      if (capabilities.length > 0 && !isThere)
        yield { as, method: "POST", target: `${IAM}/roles/${group}`, body: { name: "made", capabilities } };
    }
    // One is as good as another in its organization.
    const named = store.statement("SELECT name FROM identities WHERE uid = ?");
    if (identities.filter((uid) => named.get(uid)?.name === "made").length < 2)
      for (const group of groups)
        yield { as, method: "POST", target: `${IAM}/identities/${group}`, body: { name: "made", claimMatch: claims } };
    for (const uid of identities)
      if (!controlled.has(uid)) yield { as, method: "DELETE", target: `${IAM}/identities/${uid}` };
  };

  /** Only the identity that a request creates or changes may be one that the workload can assume now. */
  const controlledAfter = async (controlled: ReadonlySet<string>, { method, target }: Sent, uid: string) => {
    if (!target.startsWith(`${IAM}/identities/`) || method === "DELETE" || controlled.has(uid)) return controlled;
    return (await attack.mayAssume(uid)) ? new Set([...controlled, uid]) : controlled;
  };

  const note = (controlled: ReadonlySet<string>): void => {
    for (const uid of controlled)
      for (const [group, held] of grantsOf(store, uid))
        if (organizations.includes(rootOf(group)))
          for (const one of held) reach.held.add(`${capabilityName(one)} ${group}`);
  };

  /** What decides about a request: what its sender holds, what the identity holds that it changes, and what the role grants. */
  const circumstancesOf = ({ as, method, target, body }: Sent, { holdings, roles }: View): string => {
    const uid = target.slice(target.indexOf("/", IAM.length + 1) + 1).split("?", 1)[0] as string;
    const { roleUid = uid } = (body ?? {}) as { roleUid?: string };
    const own = target.startsWith(`${IAM}/identities/`) ? [...(holdings.get(uid) ?? [])].join(",") : "";
    const held = [...(holdings.get(as) ?? [])].join(",");
    return [held, own, roles.get(roleUid) ?? "", as, method, target, JSON.stringify(body)].join("|");
  };

  const enqueue = (controlled: ReadonlySet<string>, key: string): void => {
    if (seen.has(key)) return;
    seen.add(key);
    note(controlled);
    waiting.push({ saved: saveRecords(store), controlled });
  };

  const start = new Set(attack.start);
  enqueue(start, view(start).key);
  for (let state = waiting.shift(); state !== undefined; state = waiting.shift()) {
    reach.states += 1;
    let { saved, controlled } = state;
    restoreRecords(store, saved);
    for (let isBetter = true; isBetter; ) {
      isBetter = false;
      let before = view(controlled);
      for (const as of controlled) {
        for (const sent of requestsOf(as, before)) {
          const circumstances = circumstancesOf(sent, before);
          if (refused.has(circumstances)) continue;
          if (reach.requests === requestsMax) return { ...reach, isCut: true };
          reach.requests += 1;
          const answer = await send(sent.as, sent.method, sent.target, sent.body);
          if (typeof answer === "string") {
            refused.add(circumstances);
            continue;
          }
          reach.accepted += 1;
          const nowControlled = await controlledAfter(controlled, sent, answer.uid as string);
          const after = view(nowControlled);
          if (after.key !== before.key && isNoWorse(after, before) && !seen.has(after.key)) {
            seen.add(after.key);
            note(nowControlled);
            controlled = nowControlled;
            saved = saveRecords(store);
            before = after;
            isBetter = true;
            continue;
          }
          // Where nothing new can be done, and where an identity is gone that was not taken, the search does not go on.
          const isDeadEnd = sent.method === "DELETE" && sent.target.startsWith(`${IAM}/identities/`);
          if (after.key !== before.key && !isDeadEnd && !isNoWorse(before, after)) enqueue(nowControlled, after.key);
          restoreRecords(store, saved);
        }
      }
    }
  }
  return reach;
};
