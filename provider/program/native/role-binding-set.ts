// RoleBindingSet in its native form.

import { registerNative } from "../form.ts";
import { RoleBindingSet as DynamicRoleBindingSet } from "../role-binding-set.ts";

/**
 * RoleBindingSet, served by the plugin: all role bindings of one group as one resource.
 *
 * @example
 * ```ts
 * new RoleBindingSet("platform", { parent: platform, bindings: [{ identity: ci, role: "editor" }] });
 * ```
 */
export class RoleBindingSet extends DynamicRoleBindingSet {}

registerNative(RoleBindingSet);
