// The lists of groups and repos in v1, with `id` instead of `uid`, no paging, and `{items}`. v1-iam.ts has the other lists.
import { z } from "zod";
import { bool, enumeration, enumInfo, int32Map, message, plain, string, strings, timestamp } from "../field.ts";
import { UidpFilter } from "../list.ts";
import { type Operations, rows } from "../operation.ts";
import { OrgKind, OrgStatus } from "./group.ts";

// The enums of v1 have the same names and numbers, in a separate package.
const inV1 = <T extends z.ZodType>(name: string, schema: T) =>
  enumeration(name, enumInfo(schema)?.numbers as Record<z.infer<T> & string, number>);

export const GroupV1 = message("iam.v1.Group", {
  id: plain(1, string),
  name: plain(2, string),
  description: plain(3, string, { always: true }),
  resourceLimits: plain(4, int32Map, { always: true }),
  verified: plain(5, bool, { always: true }),
  kind: plain(6, inV1("iam.v1.OrgKind", OrgKind)),
  status: plain(7, inV1("iam.v1.OrgStatus", OrgStatus)),
});

export type GroupV1 = z.infer<typeof GroupV1>;

/** Capabilities by their friendly names. */
export const RoleV1 = message("iam.v1.Role", {
  id: plain(1, string),
  name: plain(2, string),
  description: plain(3, string),
  capabilities: plain(4, strings),
});

export type RoleV1 = z.infer<typeof RoleV1>;

export const CatalogTierV1 = enumeration("registry.v1.CatalogTier", {
  UNKNOWN: 0,
  APPLICATION: 4,
  BASE: 5,
  FIPS: 6,
  AI: 7,
  DEVTOOLS: 8,
  COMMERCIAL: 9,
});

export const SyncConfigV1 = message("registry.v1.SyncConfig", {
  source: plain(1, string),
  uniqueTags: plain(2, bool),
  expiration: plain(3, timestamp),
  google: plain(4, string),
  amazon: plain(5, string),
  azure: plain(6, string),
  syncApks: plain(7, bool),
  apkoOverlay: plain(8, string),
  gracePeriod: plain(9, bool),
});

export const RepoV1 = message(
  "registry.v1.Repo",
  {
    id: plain(1, string),
    name: plain(2, string),
    catalogTier: plain(3, CatalogTierV1),
    bundles: plain(4, strings),
    readme: plain(5, string),
    sync_config: plain(6, SyncConfigV1, { alias: "syncConfig" }),
    aliases: plain(8, strings),
    createTime: plain(9, timestamp),
    activeTags: plain(10, strings),
    description: plain(11, string),
  },
  // The fields of the overlay of v1 are not published.
  { reserved: [7, "custom_overlay"] },
);

/** The one field of a list; always written. */
export const items = <T extends z.ZodType>(item: T) => plain(1, z.array(item), { always: true });

export const v1Operations = {
  ...rows("iam.Groups", "/iam/v1", {
    ListGroupsV1: {
      http: "GET /groups",
      rpc: "List",
      request: message("iam.v1.GroupFilter", {
        id: plain(1, string),
        uidp: plain(2, UidpFilter),
        name: plain(3, string),
      }),
      response: message("iam.v1.GroupList", { items: items(GroupV1) }),
      capabilities: ["groups.list"],
    },
  }),
  ...rows("registry.Registry", "/registry/v1", {
    ListReposV1: {
      http: "GET /repos",
      rpc: "ListRepos",
      request: message("registry.v1.RepoFilter", {
        uidp: plain(1, UidpFilter),
        name: plain(2, string),
        id: plain(3, string),
      }),
      response: message("registry.v1.RepoList", { items: items(RepoV1) }),
      capabilities: ["repo.list"],
    },
  }),
} satisfies Operations;
