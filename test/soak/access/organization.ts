// An organization in the store of a reference server in this process, changed by the server's own services as the operator.
import { isAncestorOrSelf, type RequestOf, type ResponseOf } from "../../../schema/index.ts";
import { operator } from "../../../server/caller/caller.ts";
import type { ServiceContext } from "../../../server/services/context.ts";
import { type ServedName, services } from "../../../server/services/index.ts";
import { builtInRoleUid } from "../../../server/services/role.ts";
import { below } from "../../../server/store/list.ts";

type Table = "groups" | "identities" | "roles" | "role_bindings";

export type Organization = ReturnType<typeof createOrganization>;

const BUILT_IN = ["owner", "viewer", "editor", "registry.push", "apk.pull"].map(builtInRoleUid);

export type Services = Omit<ServiceContext, "caller" | "capabilities">;

/** `outsider`: an identity of another organization. The bindings of `readers` are none of its own. */
export const createOrganization = (context: Services, outsider: string, readers: readonly string[]) => {
  const { store } = context;
  const serve = <N extends ServedName>(operation: N, request: RequestOf<N>): ResponseOf<N> =>
    (services[operation] as unknown as (request: unknown, context: ServiceContext) => ResponseOf<N>)(request, {
      ...{ ...context, caller: operator, capabilities: [] },
    });
  const column = (sql: string, ...values: string[]): string[] =>
    store
      .statement(sql)
      .all(...values)
      .map((row) => Object.values(row)[0] as string);
  const { uid } = serve("CreateGroup", { parent: "", group: { name: "acme" } as never });
  const inside = below(uid);
  /** Of the records in it, in the order of their creation; of groups, itself first. */
  const uids = (table: Table): string[] => {
    const own = table === "role_bindings" ? "identity_uid NOT IN (SELECT value FROM json_each(?))" : "? IS NOT NULL";
    const sql = `SELECT uid FROM ${table} WHERE ${inside.sql} AND ${own} ORDER BY rowid`;
    const found = column(sql, ...(inside.values as string[]), JSON.stringify(readers));
    return table === "groups" ? [uid, ...found] : found;
  };
  const bindingsWith = (role: string) =>
    column("SELECT uid FROM role_bindings WHERE role_uid = ? ORDER BY rowid", role);

  return {
    uid,
    store,
    serve,
    uids,
    /** that may be bound in it: its own, and one of another organization */
    identities: () => [...uids("identities"), outsider],
    /** built-in ones, and its own */
    roles: () => [...BUILT_IN, ...uids("roles")],
    nameOf: (identity: string) => column("SELECT name FROM identities WHERE uid = ?", identity)[0] as string,
    bindingsOf: (identity: string) =>
      store
        .statement("SELECT parent, role_uid AS roleUid FROM role_bindings WHERE identity_uid = ? ORDER BY rowid")
        .all(identity)
        .map(({ parent, roleUid }) => ({ parent: parent as string, roleUid: roleUid as string })),
    bindingsWith,
    /** Deletes a group with all that is in it and below. */
    deleteTree: (group: string): void => {
      const inTree = (table: Table) => uids(table).filter((own) => isAncestorOrSelf(group, own));
      for (const binding of inTree("role_bindings")) serve("DeleteRoleBinding", { uid: binding });
      for (const identity of inTree("identities")) serve("DeleteIdentity", { uid: identity });
      for (const role of inTree("roles")) serve("DeleteRole", { uid: role });
      for (const own of inTree("groups").toSorted((a, b) => b.length - a.length)) serve("DeleteGroup", { uid: own });
    },
  };
};
