// Lists for programs, as async iterables.

import { type ListOperation, listAll } from "../../client/paginate.ts";
import type { Json } from "../../schema/index.ts";
import type {
  Group,
  Identity,
  ListGroupsRequest,
  ListIdentitiesRequest,
  ListReposRequest,
  ListRoleBindingsRequest,
  ListRolesRequest,
  Repo,
  Role,
  RoleBinding,
} from "../../schema/public.ts";
import { programSession } from "./session.ts";

/** Filters (several are ANDed), `orderBy` and `pageSize` (default and most: 200) of the API's list request. */
type ListArgs<Request> = Omit<Request, "pageToken" | "skip">;

export type ListGroupsArgs = ListArgs<ListGroupsRequest>;
export type ListIdentitiesArgs = ListArgs<ListIdentitiesRequest>;
export type ListRolesArgs = ListArgs<ListRolesRequest>;
export type ListRoleBindingsArgs = ListArgs<ListRoleBindingsRequest>;
export type ListReposArgs = ListArgs<ListReposRequest>;

/** Groups that the caller may read. */
export const listGroups = (args: ListGroupsArgs = {}) => listed<Group>("ListGroups", "groups", args);

/** Identities that the caller may read. */
export const listIdentities = (args: ListIdentitiesArgs = {}) => listed<Identity>("ListIdentities", "identities", args);

/** Roles that the caller may read; `uidp: { inRoot: true }` for the built-in ones only. */
export const listRoles = (args: ListRolesArgs = {}) => listed<Role>("ListRoles", "roles", args);

/** Role bindings that the caller may read; `role` is a uid or the name of a built-in role. */
export async function* listRoleBindings(args: ListRoleBindingsArgs = {}): AsyncGenerator<RoleBinding, void, undefined> {
  const { builtInRoleUid, isRoleName } = await import("../kind/built-in-role.ts");
  const role = isRoleName(args.role) ? await builtInRoleUid(await programSession(), args.role) : args.role;
  yield* listed<RoleBinding>("ListRoleBindings", "roleBindings", role === undefined ? args : { ...args, role });
}

/** Repositories that the caller may read. */
export const listRepos = (args: ListReposArgs = {}) => listed<Repo>("ListRepos", "repos", args);

async function* listed<T extends { uid: string }>(
  operation: ListOperation,
  plural: string,
  args: Json,
): AsyncGenerator<T, void, undefined> {
  yield* listAll<T>(await programSession(), { operation, plural }, args);
}
