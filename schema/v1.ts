// The two list reads of v1 that api.md names (contract section 7): `id` instead of `uid`, no paging, `{items}`.
import { z } from "zod";
import { bool, enumeration, int32Map, message, plain, string, strings, timestamp } from "./field.ts";
import { OrgKind, OrgStatus } from "./group.ts";
import { UidpFilter } from "./list.ts";
import { type Operations, rows } from "./operation.ts";

export const GroupV1 = message("iam.v1.Group", {
  id: plain(1, string),
  name: plain(2, string),
  description: plain(3, string, { always: true }),
  resourceLimits: plain(4, int32Map, { always: true }),
  verified: plain(5, bool, { always: true }),
  kind: plain(6, OrgKind),
  status: plain(7, OrgStatus),
});

export const CatalogTierV1 = enumeration("registry.v1.CatalogTier", {
  UNKNOWN: 0,
  APPLICATION: 4,
  BASE: 5,
  FIPS: 6,
  AI: 7,
  DEVTOOLS: 8,
  COMMERCIAL: 9,
});

export const RepoV1 = message("registry.v1.Repo", {
  id: plain(1, string),
  name: plain(2, string),
  catalogTier: plain(3, CatalogTierV1),
  bundles: plain(4, strings),
  readme: plain(5, string),
  aliases: plain(8, strings),
  createTime: plain(9, timestamp),
  activeTags: plain(10, strings),
  description: plain(11, string),
});

const items = <T extends z.ZodType>(item: T) => plain(1, z.array(item), { always: true });

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
