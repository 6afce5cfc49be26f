// The kinds of resource, by the name that the state of each resource holds (provider/program/resource.ts).
import { group } from "./group.ts";
import { identity } from "./identity.ts";
import { role } from "./role.ts";
import { roleBinding } from "./role-binding.ts";

export const kindRecords = { group, identity, role, roleBinding } satisfies Record<KindName, unknown>;

/** Written out: the published types name the kinds, and hold nothing of what a kind is. */
export type KindName = "group" | "identity" | "role" | "roleBinding";
