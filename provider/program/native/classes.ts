// The classes of programs in their native form: arguments, outputs and rules are those of the dynamic ones.
import * as dynamic from "../../index.ts";
import { registerNative } from "../form.ts";

export class AccountAssociation extends dynamic.AccountAssociation {}
export class Group extends dynamic.Group {}
export class GroupInvite extends dynamic.GroupInvite {}
export class Identity extends dynamic.Identity {}
export class IdentityProvider extends dynamic.IdentityProvider {}
export class Repo extends dynamic.Repo {}
export class Role extends dynamic.Role {}
export class RoleBinding extends dynamic.RoleBinding {}
export class RoleBindingSet extends dynamic.RoleBindingSet {}
export class Tag extends dynamic.Tag {}

registerNative(
  AccountAssociation,
  Group,
  GroupInvite,
  Identity,
  IdentityProvider,
  Repo,
  Role,
  RoleBinding,
  RoleBindingSet,
  Tag,
);
