// The only list of the resources of the API. A resource comes after those that it refers to.
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
