// The owner of a server that has a copy. It is in an organization of its own, where nobody is granted anything: so no list shows that
// organization, its identity, its role or its bindings. Lists show what was copied and nothing else, and nothing that is tried on the copy
// locks the owner out.
import { OWNER_CAPABILITIES } from "../../schema/index.ts";
import { enumNames, OWNER_ROLE } from "../services/built-in-role.ts";
import type { IdSource } from "../services/context.ts";
import { insertGroup } from "../services/group.ts";
import { insertHiddenBinding } from "../services/role-binding.ts";
import { shapes } from "../store/shape.ts";
import type { Store } from "../store/store.ts";
import { findRecorded, insertDevOwner, moveDevIssuer, timesAt } from "./bootstrap.ts";
import type { CopyMark } from "./copy-mark.ts";

/** uid of the role: all that an owner has, and all that the copied roles grant, so that the owner may grant and change each of them. */
export const ensureCopyOwnerRole = (store: Store, ids: IdSource, now: number): string =>
  store.transaction(() => {
    const known = store.meta(OWNER_ROLE);
    if (known !== undefined) return known;
    const group = ids.root();
    const uid = `${group}/${ids.segment()}`;
    insertGroup(store, group, { name: "local", description: "Of this server alone" }, timesAt(now));
    const capabilities = [...new Set([...enumNames(OWNER_CAPABILITIES), ...copiedCapabilities(store)])];
    const row = { uid, createTime: now, updateTime: now, columns: { name: "owner" } };
    store.insert(shapes.role, { ...row, body: { description: "Owner of a copy", capabilities } });
    store.setMeta(OWNER_ROLE, uid);
    return uid;
  });

const copiedCapabilities = (store: Store): unknown[] =>
  store
    .statement("SELECT DISTINCT item.value AS capability FROM roles, json_each(roles.body, '$.capabilities') AS item")
    .all()
    .map(({ capability }) => capability);

/** The owner that tokens of the development issuer may assume: of every group that was copied. */
export const ensureCopyOwner = (
  store: Store,
  ids: IdSource,
  issuer: string,
  now: number,
  { organization, tops }: CopyMark,
): { organization: string; identity: string } =>
  store.transaction(() => {
    const roleUid = ensureCopyOwnerRole(store, ids, now);
    const group = roleUid.slice(0, roleUid.indexOf("/"));
    const known = findRecorded(store, "dev_identity", shapes.identity);
    const identity = known ?? `${group}/${ids.segment()}`;
    if (known === undefined) {
      insertDevOwner(store, identity, issuer, now);
      const link = { identityUid: identity, roleUid };
      for (const top of tops)
        if (store.get(shapes.group, top)) insertHiddenBinding(store, `${group}/${ids.segment()}`, top, link, now);
    }
    store.setMeta("dev_identity", identity);
    // The other identities trust whom they trusted where they come from.
    moveDevIssuer(store, issuer, identity);
    return { organization, identity };
  });
