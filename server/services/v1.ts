// The lists of groups and repos in v1: without pages, with `id` instead of `uid`. A missing id is an empty list.
import { type GroupV1, isUidp, type Repo } from "../../schema/index.ts";
import { equals } from "../store/list.ts";
import { shapes } from "../store/shape.ts";
import type { Row, Store } from "../store/store.ts";
import { groupFrom } from "./group.ts";
import { listReadable } from "./record.ts";
import { readmeOf, repoFrom } from "./repo.ts";
import type { ServiceMethods } from "./service.ts";

// v1 names the tiers without their prefix.
const tierV1 = (tier: string | undefined) => tier?.replace("CATALOG_TIER_", "") as "APPLICATION" | undefined;

const syncConfigV1 = ({ expirationTime, ...config }: NonNullable<Repo["sync_config"]>) => ({
  ...config,
  expiration: expirationTime,
});

export const groupV1From = (store: Store, row: Row): GroupV1 => {
  const { uid, createTime, updateTime, ...group } = groupFrom(store, row);
  return { id: uid, ...group };
};

export const v1Service = {
  ListGroupsV1: ({ id, uidp, name }, context) => {
    if (id && !isUidp(id)) return { items: [] };
    const rows = listReadable(context, shapes.group, uidp, equals({ uid: id, name }));
    return { items: rows.map((row) => groupV1From(context.store, row)) };
  },

  ListReposV1: ({ id, uidp, name }, context) => {
    const { store } = context;
    const rows = listReadable(context, shapes.repo, uidp, equals({ uid: id, name }));
    return {
      items: rows.map((row) => {
        const { uid, updateTime, catalogTier, sync_config, customOverlay, ...repo } = repoFrom(store, row);
        return {
          id: uid,
          ...repo,
          catalogTier: tierV1(catalogTier),
          sync_config: sync_config && syncConfigV1(sync_config),
          readme: readmeOf(store, row),
        };
      }),
    };
  },
} satisfies ServiceMethods;
