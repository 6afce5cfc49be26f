// Lists for programs, as async iterables.

import { type List, listAll } from "../../client/paginate.ts";
import { type Json, resources } from "../../schema/index.ts";
import type {
  AccountAssociation,
  Group,
  GroupInvite,
  Identity,
  IdentityProvider,
  ListAccountAssociationsRequest,
  ListGroupInvitesRequest,
  ListGroupsRequest,
  ListIdentitiesRequest,
  ListIdentityProvidersRequest,
  ListReposRequest,
  ListRoleBindingsRequest,
  ListRolesRequest,
  ListTagsRequest,
  Repo,
  Role,
  RoleBinding,
  Tag,
} from "../../schema/public.ts";
import { programSession } from "./session.ts";

/** Filters (several are ANDed), `orderBy` and `pageSize` (default and most: 200) of the API's list request. */
type ListArgs<Request> = Omit<Request, "pageToken" | "skip">;

export type ListGroupsArgs = ListArgs<ListGroupsRequest>;
export type ListIdentitiesArgs = ListArgs<ListIdentitiesRequest>;
export type ListRolesArgs = ListArgs<ListRolesRequest>;
export type ListRoleBindingsArgs = ListArgs<ListRoleBindingsRequest>;
export type ListReposArgs = ListArgs<ListReposRequest>;
export type ListTagsArgs = ListArgs<ListTagsRequest>;
export type ListGroupInvitesArgs = ListArgs<ListGroupInvitesRequest>;
export type ListIdentityProvidersArgs = ListArgs<ListIdentityProvidersRequest>;
export type ListAccountAssociationsArgs = ListArgs<ListAccountAssociationsRequest>;

/** Groups that the caller may read. */
export const listGroups = (args: ListGroupsArgs = {}) => listed<Group>(resources.group.list, args);

/** Identities that the caller may read. */
export const listIdentities = (args: ListIdentitiesArgs = {}) => listed<Identity>(resources.identity.list, args);

/** Roles that the caller may read; `uidp: { inRoot: true }` for the built-in ones only. */
export const listRoles = (args: ListRolesArgs = {}) => listed<Role>(resources.role.list, args);

/** Role bindings that the caller may read; `role` is a uid or the name of a built-in role. */
export async function* listRoleBindings(args: ListRoleBindingsArgs = {}): AsyncGenerator<RoleBinding, void, undefined> {
  const { builtInRoleUid, isRoleName } = await import("../kind/built-in-role.ts");
  const role = isRoleName(args.role) ? await builtInRoleUid(await programSession(), args.role) : args.role;
  yield* listed<RoleBinding>(resources.roleBinding.list, role === undefined ? args : { ...args, role });
}

/** Repositories that the caller may read. */
export const listRepos = (args: ListReposArgs = {}) => listed<Repo>(resources.repo.list, args);

/**
 * Tags that the caller may read. Three kinds are left out unless they are asked for: `includeReferrers` (`sha256-*`),
 * `includeDates` (`*-20yymmdd`), `includeEpochs` (`*-r[0-9]+`).
 */
export const listTags = (args: ListTagsArgs = {}) => listed<Tag>(resources.tag.list, args);

/** Group invites that the caller may read, without their codes. */
export const listGroupInvites = (args: ListGroupInvitesArgs = {}) =>
  listed<GroupInvite>(resources.groupInvite.list, args);

/** Identity providers that the caller may read, without their client secrets. */
export const listIdentityProviders = (args: ListIdentityProvidersArgs = {}) =>
  listed<IdentityProvider>(resources.identityProvider.list, args);

/** Account associations that the caller may read. */
export const listAccountAssociations = (args: ListAccountAssociationsArgs = {}) =>
  listed<AccountAssociation>(resources.accountAssociation.list, args);

// What a list leaves out, the program's filters say.
async function* listed<T extends { uid: string }>(
  { operation, plural }: List,
  args: Json,
): AsyncGenerator<T, void, undefined> {
  yield* listAll<T>(await programSession(), { operation, plural }, args);
}
