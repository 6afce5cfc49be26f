// The methods of v1 that existing clients call: LookupIdentity, and lists without pages, with `id` instead of `uid`. A missing id is an
// empty list.
import {
  type AccountAssociation,
  type AccountAssociationV1,
  ApiError,
  capabilityName,
  type GroupInvite,
  type GroupInviteV1,
  type GroupV1,
  type Identity,
  type IdentityV1,
  inputViolations,
  isUidp,
  notFound,
  operations,
  type Role,
  type RoleBindingV1,
  type RoleV1,
  servicePrincipalV1,
} from "../../schema/index.ts";
import { checkUnpaged } from "../store/list.ts";
import { shapes } from "../store/shape.ts";
import type { Row, Shape, Store } from "../store/store.ts";
import type { ServiceMethods } from "./context.ts";
import { groupFrom } from "./group.ts";
import { visibleIdentities } from "./identity.ts";
import { listReadable, recordFrom, throwIfAny, timeText } from "./record.ts";
import { readmeOf, repoFrom } from "./repo.ts";
import { capabilitiesOfRole } from "./role.ts";

const withExpirationV1 = <T extends { expirationTime?: string }>(from: T) => ({
  ...from,
  expiration: from.expirationTime,
});

export const groupV1From = (row: Row, store: Store): GroupV1 => ({ id: row.uid, ...groupFrom(row, store) });

const identityV1From = ({ staticKeys, servicePrincipal, ...identity }: Identity): IdentityV1 => ({
  ...identity,
  id: identity.uid,
  createdAt: identity.createTime,
  updatedAt: identity.updateTime,
  lastSeen: identity.lastSeenTime,
  ...(staticKeys && { static: withExpirationV1(staticKeys) }),
  ...(servicePrincipal && { servicePrincipal: servicePrincipalV1(servicePrincipal) }),
});

export const roleV1From = (row: Row): RoleV1 => ({
  ...recordFrom<Role>(row),
  id: row.uid,
  // A copied role may contain a capability of which only the number is known here.
  capabilities: capabilitiesOfRole(row).map((one) => String(capabilityName(one))),
});

// Reads each group and role of a list once. The response repeats them for each item, so each use counts towards its size.
const createHolders = (store: Store) => {
  let size = 0;
  const memoize = <T>(shape: Shape, from: (row: Row, store: Store) => T) => {
    const known = new Map<string, { value: T | undefined; size: number }>();
    const read = (uid: string) => {
      const row = store.get(shape, uid);
      const value = row && from(row, store);
      return { value, size: JSON.stringify(value ?? "").length };
    };
    return (uid: string): T | undefined => {
      const holder = known.get(uid) ?? read(uid);
      known.set(uid, holder);
      size += holder.size;
      checkUnpaged(size);
      return holder.value;
    };
  };
  return {
    group: memoize(shapes.group, groupV1From),
    role: memoize(shapes.role, roleV1From),
  };
};

const githubV1From = ({ appInstallations = {} }: NonNullable<AccountAssociation["github"]>) => {
  const all = Object.entries(appInstallations).flatMap(([appId, { installations = [] }]) =>
    installations.map((installation) => ({ appId, ...installation })),
  );
  return all.length === 1 ? all[0] : undefined;
};

export const v1Service = {
  ListGroupsV1: ({ id, uidp, name }, context) => {
    if (id && !isUidp(id)) return { items: [] };
    const rows = listReadable(context, "group", { uid: id, name }, uidp);
    return { items: rows.map((row) => groupV1From(row, context.store)) };
  },

  ListReposV1: ({ id, uidp, name }, context) => {
    const { store } = context;
    const rows = listReadable(context, "repo", { uid: id, name }, uidp);
    return {
      items: rows.map((row) => {
        const { catalogTier, sync_config, ...repo } = repoFrom(row, store);
        return {
          id: row.uid,
          ...repo,
          // v1 names the tiers without their prefix.
          catalogTier: catalogTier?.replace("CATALOG_TIER_", "") as "APPLICATION" | undefined,
          sync_config: sync_config && withExpirationV1(sync_config),
          readme: readmeOf(store, row),
        };
      }),
    };
  },

  ListIdentitiesV1: ({ id, uidp }, context) => ({
    items: listReadable(context, "identity", { uid: id }, uidp).map((row) => identityV1From(recordFrom(row))),
  }),

  // Finds only what the caller may list, so that no caller can find out which organizations trust a workload.
  LookupIdentityV1: ({ issuer = "", subject = "" }, context) => {
    throwIfAny(inputViolations(operations.LookupIdentity.request, { issuer, subject }));
    const [only, ...others] = visibleIdentities(context, { issuer, subject });
    if (only && others.length === 0) return identityV1From(only);
    const text = "Not found: there is no one identity with this issuer and subject that the caller may list";
    throw new ApiError("NOT_FOUND", text, { details: notFound("Identity", "").details });
  },

  ListRolesV1: ({ id, name, parent, uidp }, context) => {
    const isOfRoot = parent === "/";
    const filters = { uid: id, name, parent: isOfRoot ? undefined : parent };
    const place = isOfRoot ? { ...uidp, inRoot: true } : uidp;
    return { items: listReadable(context, "role", filters, place).map(roleV1From) };
  },

  ListRoleBindingsV1: ({ id, uidp }, context) => {
    const { group, role } = createHolders(context.store);
    const items = listReadable(context, "roleBinding", { uid: id }, uidp).map((row): RoleBindingV1 => {
      const identity = row.columns.identity_uid as string;
      const { issuer, subject } = context.store.get(shapes.identity, identity)?.columns ?? {};
      return {
        id: row.uid,
        group: group(row.parent as string),
        identity,
        role: role(row.columns.role_uid as string),
        claimMatchIssuer: (issuer as string) ?? undefined,
        claimMatchSubject: (subject as string) ?? undefined,
        createdAt: timeText(row.createTime),
      };
    });
    return { items };
  },

  ListGroupInvitesV1: ({ group, id, keyId }, context) => {
    const { role } = createHolders(context.store);
    const filters = { parent: group, uid: id, key_id: keyId };
    const items = listReadable(context, "groupInvite", filters).map((row): GroupInviteV1 => {
      const invite = recordFrom<GroupInvite>(row);
      const { uid, roleUid, expirationTime, createTime } = invite;
      return { ...invite, id: uid, expiration: expirationTime, role: role(roleUid), createdAt: createTime };
    });
    return { items };
  },

  ListAccountAssociationsV1: ({ group, name }, context) => {
    const items = listReadable(context, "accountAssociation", { uid: group, name }).map((row): AccountAssociationV1 => {
      const { github, ...clouds } = row.body as AccountAssociation;
      return { group: row.uid, ...clouds, ...(github && { github: githubV1From(github) }) };
    });
    return { items };
  },
} satisfies ServiceMethods;
