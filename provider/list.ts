// Lists as async iterables: pages are fetched as they are walked through, to the last one. A page token older than three
// days restarts the walk (decision 6), so uids that were seen are dropped.
import type { Group, Identity, Json, Repo, RequestOf, Role, RoleBinding } from "../schema/index.ts";
import { callFailure } from "./failure.ts";
import { programSession } from "./program-session.ts";
import type { Session } from "./session.ts";

type ListOperation = "ListGroups" | "ListIdentities" | "ListRoles" | "ListRoleBindings" | "ListRepos";

/** Filters (several are ANDed), `orderBy` and `pageSize` (default and most: 200) of the API's list request. */
type ListArgs<O extends ListOperation> = Omit<RequestOf<O>, "pageToken" | "skip">;

export type ListGroupsArgs = ListArgs<"ListGroups">;
export type ListIdentitiesArgs = ListArgs<"ListIdentities">;
export type ListRolesArgs = ListArgs<"ListRoles">;
export type ListRoleBindingsArgs = ListArgs<"ListRoleBindings">;
export type ListReposArgs = ListArgs<"ListRepos">;

const PAGE_SIZE = 200;

/** Groups that the caller may read. */
export const listGroups = (args: ListGroupsArgs = {}) => listed<Group>("ListGroups", "groups", args);

/** Identities that the caller may read. */
export const listIdentities = (args: ListIdentitiesArgs = {}) => listed<Identity>("ListIdentities", "identities", args);

/** Roles that the caller may read; `uidp: { inRoot: true }` for the built-in ones only. */
export const listRoles = (args: ListRolesArgs = {}) => listed<Role>("ListRoles", "roles", args);

/** Role bindings that the caller may read. */
export const listRoleBindings = (args: ListRoleBindingsArgs = {}) =>
  listed<RoleBinding>("ListRoleBindings", "roleBindings", args);

/** Repositories that the caller may read. */
export const listRepos = (args: ListReposArgs = {}) => listed<Repo>("ListRepos", "repos", args);

async function* listed<T extends { uid: string }>(
  operation: ListOperation,
  plural: string,
  args: Json,
): AsyncGenerator<T, void, undefined> {
  yield* walk<T>(await programSession(), operation, plural, args);
}

export async function* walk<T extends { uid: string }>(
  session: Session,
  operation: ListOperation,
  plural: string,
  args: Json,
): AsyncGenerator<T, void, undefined> {
  const seen = new Set<string>();
  const tokens = new Set<string>();
  for (let pageToken: string | undefined; ; ) {
    const request = { pageSize: PAGE_SIZE, ...args, ...(pageToken ? { pageToken } : {}) };
    const page = (await session.call(operation, request as never).catch((error: unknown) => {
      throw callFailure(error, operation);
    })) as Json;
    for (const item of (page[plural] ?? []) as T[]) {
      if (seen.has(item.uid)) continue;
      seen.add(item.uid);
      yield item;
    }
    pageToken = page.nextPageToken as string | undefined;
    if (!pageToken) return;
    // Never an endless walk, and never one that ends early without saying so.
    if (tokens.has(pageToken)) throw new Error(`${operation}: the service gave the same page token twice`);
    tokens.add(pageToken);
  }
}
