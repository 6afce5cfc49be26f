// Native resources of a provider that answers at once.
import { classOf } from "./outputs.ts";

export const Group = classOf("Group", false);
export const Identity = classOf("Identity", false);
export const RoleBinding = classOf("RoleBinding", false);
export const RoleBindingSet = classOf("RoleBindingSet", false);
