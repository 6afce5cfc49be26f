// The published types are generated from the zod objects; TypeScript proves here that the two agree.
import { expect, test } from "vitest";
import type * as zod from "../../schema/index.ts";
import type * as published from "../../schema/public.ts";

type IsSame<A, B> = (<T>() => T extends Flat<A> ? 1 : 2) extends <T>() => T extends Flat<B> ? 1 : 2 ? true : false;
// A check refuses the unset value of an enum. Only the generated type can express that.
type IsPart<A, B> = [A] extends [B] ? true : false;
// One type may have a field as readonly and the other not. They count as equal here.
type Flat<T> = T extends readonly (infer E)[]
  ? readonly Flat<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Flat<T[K]> }
    : T;

type Compared = {
  AccountAssociation: IsSame<published.AccountAssociation, zod.ResponseOf<"GetAccountAssociation">>;
  Advisory: IsPart<zod.ResponseOf<"GetAdvisory">, published.Advisory>;
  Group: IsSame<published.Group, zod.ResponseOf<"GetGroup">>;
  GroupInvite: IsSame<published.GroupInvite, zod.ResponseOf<"GetGroupInvite">>;
  Identity: IsSame<published.Identity, zod.ResponseOf<"GetIdentity">>;
  IdentityProvider: IsSame<published.IdentityProvider, zod.ResponseOf<"GetIdentityProvider">>;
  Repo: IsSame<published.Repo, zod.ResponseOf<"GetRepo">>;
  RepoReadme: IsSame<published.RepoReadme, zod.ResponseOf<"GetRepoReadme">>;
  Role: IsPart<zod.ResponseOf<"GetRole">, published.Role>;
  RoleBinding: IsSame<published.RoleBinding, zod.ResponseOf<"GetRoleBinding">>;
  Tag: IsSame<published.Tag, zod.ResponseOf<"GetTag">>;
  ListGroupsRequest: IsSame<published.ListGroupsRequest, zod.RequestOf<"ListGroups">>;
  ListIdentitiesRequest: IsSame<published.ListIdentitiesRequest, zod.RequestOf<"ListIdentities">>;
  ListReposRequest: IsSame<published.ListReposRequest, zod.RequestOf<"ListRepos">>;
  ListRoleBindingsRequest: IsSame<published.ListRoleBindingsRequest, zod.RequestOf<"ListRoleBindings">>;
  ListRolesRequest: IsSame<published.ListRolesRequest, zod.RequestOf<"ListRoles">>;
};

/** The messages that differ. */
type Different = { [K in keyof Compared]: Compared[K] extends true ? never : K }[keyof Compared];

test("the published types of messages equal the types of the zod schema", () => {
  // Where one differs, this does not compile, and the error names it.
  const isSame: [Different] extends [never] ? true : Different = true;
  expect(isSame).toBe(true);
});
