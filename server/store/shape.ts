// The storage of each kind: its table, and the sort keys of its lists. Both follow from its descriptor. Further columns follow from the
// table itself (store.ts).
import { type Resource, resources, toSnake } from "../../schema/index.ts";
import type { Shape } from "./store.ts";

type KindName = keyof typeof resources;

// Hierarchy filters treat both as a group.
const GROUP_UID = { groupUid: true };

const OWN: Partial<Record<KindName, Partial<Shape>>> = {
  group: GROUP_UID,
  accountAssociation: GROUP_UID,
  role: { showsRoots: true },
  groupInvite: { defaultOrder: "create_time desc" },
};

/** The shapes of records, by the field of their requests. */
export const shapes = Object.fromEntries(
  Object.values<Resource>(resources).map(({ field, plural, schema, list }) => {
    const orders = [
      // Its uid is the uid of a group. A caller who may read the records of the group may read it.
      ...(list.sharesUid ? ["group"] : []),
      "uid",
      ...("name" in schema.shape ? ["name"] : []),
      "create_time",
      ...("updateTime" in schema.shape ? ["update_time"] : []),
    ];
    return [field, { table: toSnake(plural), orders, ...OWN[field as KindName] }];
  }),
) as Readonly<Record<KindName, Shape>>;
