// What the server itself would allow, asked for each identity, group and capability, and what changes from moment to moment.
import { ancestorsOf, capabilities, capabilityFrom } from "../../../schema/index.ts";
import { anonymous, can, grantsOf } from "../../../server/caller/caller.ts";
import type { Store } from "../../../server/store/store.ts";
import type { Organization } from "./organization.ts";

export type Authorization = ReturnType<typeof authorizationOf>;

/** Every capability. */
export const NAMES: readonly string[] = capabilities.map(({ name }) => name);

/** What the server decides at one moment. */
export const authorizationOf = (organization: Pick<Organization, "store" | "identities" | "uids">) => {
  const { store } = organization;
  const identities = new Set(organization.identities());
  const grants = new Map([...identities].map((uid) => [uid, grantsOf(store, uid)]));
  const asked = new Map<string, Set<string>>();
  const roles = rolesIn(store);
  return {
    groups: new Set(organization.uids("groups")),
    identities,
    /** the capabilities that the server allows an identity at a group, also at one that did not exist at that moment */
    decisions: (identity: string, group: string): ReadonlySet<string> => {
      const key = `${identity} ${group}`;
      const known = asked.get(key);
      if (known) return known;
      const caller = { ...anonymous, uid: identity, grants: grants.get(identity) ?? new Map() };
      const allowed = new Set(NAMES.filter((capability) => can(caller, [capability], group)));
      asked.set(key, allowed);
      return allowed;
    },
    /** the names of the roles by which bindings of the group itself grant the capability */
    rolesAt: (identity: string, group: string, capability: string): string[] =>
      (roles.get(`${identity} ${group}`) ?? [])
        .filter((role) => role.capabilities.has(capabilityFrom(capability) as string))
        .map(({ name }) => name),
  };
};

const rolesIn = (store: Store) => {
  const sql = `SELECT role_bindings.identity_uid || ' ' || role_bindings.parent AS place, roles.name, roles.body
    FROM role_bindings JOIN roles ON roles.uid = role_bindings.role_uid`;
  const bound = store.statement(sql).all() as Record<"place" | "name" | "body", string>[];
  const roles = bound.map(({ body, ...own }) => ({ ...own, capabilities: new Set(JSON.parse(body).capabilities) }));
  return Map.groupBy(roles, ({ place }) => place);
};

/** Rows `identity + group capability by role`, as they follow from the decisions alone. */
export const expectedRows = (before: Authorization, after: Authorization): string[] => {
  const groups = new Set([...before.groups, ...after.groups]);
  const identities = new Set([...before.identities, ...after.identities]);
  const rows: string[] = [];
  const compare = (sign: string, one: Authorization, other: Authorization): void => {
    for (const identity of identities)
      for (const capability of NAMES) {
        const differs = (group: string) =>
          one.decisions(identity, group).has(capability) && !other.decisions(identity, group).has(capability);
        for (const group of groups) {
          if (!differs(group) || ancestorsOf(group).some(differs)) continue;
          const [role = "no role"] = one.rolesAt(identity, group, capability).toSorted();
          rows.push(`${identity} ${sign} ${group} ${capability} by ${role}`);
        }
      }
  };
  compare("+", after, before);
  compare("-", before, after);
  return rows.sort();
};
