// The only list of the resources of the API, and their messages. A resource comes after those that it refers to.
import { accountAssociation } from "./resource/account-association.ts";
import { advisory } from "./resource/advisory.ts";
import { externalGroupRoleMapping } from "./resource/external-group-role-mapping.ts";
import { group } from "./resource/group.ts";
import { groupInvite } from "./resource/group-invite.ts";
import { identity } from "./resource/identity.ts";
import { identityProvider } from "./resource/identity-provider.ts";
import { repo } from "./resource/repo.ts";
import { role } from "./resource/role.ts";
import { roleBinding } from "./resource/role-binding.ts";
import { tag } from "./resource/tag.ts";

export { AccountAssociation } from "./resource/account-association.ts";
export { Advisory } from "./resource/advisory.ts";
export { ExternalGroupRoleMapping } from "./resource/external-group-role-mapping.ts";
export { Group } from "./resource/group.ts";
export { GroupInvite } from "./resource/group-invite.ts";
export { Identity } from "./resource/identity.ts";
export { IdentityProvider } from "./resource/identity-provider.ts";
export { Repo } from "./resource/repo.ts";
export { Role } from "./resource/role.ts";
export { RoleBinding } from "./resource/role-binding.ts";
export { Tag } from "./resource/tag.ts";

export const resources = {
  group,
  identity,
  role,
  roleBinding,
  repo,
  tag,
  identityProvider,
  externalGroupRoleMapping,
  groupInvite,
  accountAssociation,
  advisory,
};

type Merged<T> = (T extends unknown ? (one: T) => void : never) extends (all: infer R) => void ? R : never;
type Methods = Merged<(typeof resources)[keyof typeof resources]["methods"]>;

/** The rows of all their methods. */
export const resourceMethods = Object.assign({}, ...Object.values(resources).map(({ methods }) => methods)) as {
  readonly [N in keyof Methods]: Methods[N];
};
