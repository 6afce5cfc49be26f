// Dynamic resources of a provider that answers at once.
import { classOf } from "./outputs.ts";

export const Group = classOf("Group", true);
export const Identity = classOf("Identity", true);
export const RoleBinding = classOf("RoleBinding", true);
export const RoleBindingSet = classOf("RoleBindingSet", true);
