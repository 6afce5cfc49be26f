// The look-ups and lists of programs as functions of the plugin, so that they use the provider of their options. Arguments, results and
// rules are those of the dynamic form.
import type * as pulumi from "@pulumi/pulumi";
import { type Json, type Resource, resources } from "../../../schema/index.ts";
import type * as api from "../../../schema/public.ts";
import { requireNamed } from "../../engine/get.ts";
import type * as dynamic from "../../index.ts";
import { remembered } from "../binding-names.ts";
import { type GetArgs, type GetByUidArgs, getNamedOutput, getOutput, type Inputs } from "../get.ts";
import type { GetInGroupOutputArgs } from "../group.ts";
import { isPlanned, unknownRecord } from "../planned.ts";
import { invoked, invokedLater, listFunction } from "./invoke.ts";

type Options = pulumi.InvokeOptions | undefined;
type Named = { uid: string; name: string };

const get = async <T>(resource: Resource, args: object, opts: Options): Promise<T> =>
  isPlanned(args) ? unknownRecord<T>(resource) : invoked<T>(`get${resource.type}`, args, opts);

/** The same as the value of an Output. */
const getKnown = async <T>(resource: Resource, args: object, opts: Options): Promise<T> =>
  isPlanned(args) ? unknownRecord<T>(resource) : invokedLater<T>(`get${resource.type}`, args, opts);

const getNamed = async <T extends Named>(resource: Resource, args: GetArgs, opts: Options): Promise<T> => {
  requireNamed(resource, args);
  return get<T>(resource, args, opts);
};

const getNamedLater = <T extends Named>(resource: Resource, args: dynamic.GetOutputArgs, opts: Options) =>
  getNamedOutput<T>(resource, args, async (known) => {
    requireNamed(resource, known);
    return getKnown<T>(resource, known, opts);
  });

const getLater = <T>(resource: Resource, args: object, opts: Options, place?: string): pulumi.Output<T> =>
  getOutput(resource, (known: object) => getKnown<T>(resource, known, opts), args, place);

async function* list<T>({ list: { operation, plural } }: Resource, args: object, opts: Options) {
  if (isPlanned(args)) return;
  const { [plural]: records = [] } = await invoked<Json>(listFunction(operation), args, opts);
  yield* records as T[];
}

export const getGroup = async (args: GetArgs, opts?: pulumi.InvokeOptions): Promise<api.Group> =>
  remembered(await getNamed<api.Group>(resources.group, args, opts));
export const getGroupOutput = (args: dynamic.GetOutputArgs, opts?: pulumi.InvokeOptions): pulumi.Output<api.Group> =>
  getNamedLater(resources.group, args, opts);

export const getIdentity = async (args: GetArgs, opts?: pulumi.InvokeOptions): Promise<api.Identity> =>
  remembered(await getNamed<api.Identity>(resources.identity, args, opts));
export const getIdentityOutput = (
  args: dynamic.GetOutputArgs,
  opts?: pulumi.InvokeOptions,
): pulumi.Output<api.Identity> => getNamedLater(resources.identity, args, opts);

export const getRole = async (args: GetArgs, opts?: pulumi.InvokeOptions): Promise<api.Role> =>
  remembered(await getNamed<api.Role>(resources.role, args, opts));
export const getRoleOutput = (args: dynamic.GetOutputArgs, opts?: pulumi.InvokeOptions): pulumi.Output<api.Role> =>
  getNamedLater(resources.role, args, opts);

export const getIdentityProvider = (
  args: dynamic.GetIdentityProviderArgs,
  opts?: pulumi.InvokeOptions,
): Promise<api.IdentityProvider> => get(resources.identityProvider, args, opts);
export const getIdentityProviderOutput = (
  args: GetInGroupOutputArgs,
  opts?: pulumi.InvokeOptions,
): pulumi.Output<api.IdentityProvider> => getLater(resources.identityProvider, args, opts);

export const getRepo = (args: dynamic.GetRepoArgs, opts?: pulumi.InvokeOptions): Promise<api.Repo> =>
  get(resources.repo, args, opts);
export const getRepoOutput = (args: GetInGroupOutputArgs, opts?: pulumi.InvokeOptions): pulumi.Output<api.Repo> =>
  getLater(resources.repo, args, opts);

export const getTag = (args: dynamic.GetTagArgs, opts?: pulumi.InvokeOptions): Promise<api.Tag> =>
  get(resources.tag, args, opts);
export const getTagOutput = (args: dynamic.GetTagOutputArgs, opts?: pulumi.InvokeOptions): pulumi.Output<api.Tag> =>
  getLater(resources.tag, args, opts, "repo");

export const getGroupInvite = (args: GetByUidArgs, opts?: pulumi.InvokeOptions): Promise<api.GroupInvite> =>
  get(resources.groupInvite, args, opts);
export const getGroupInviteOutput = (
  args: Inputs<GetByUidArgs>,
  opts?: pulumi.InvokeOptions,
): pulumi.Output<api.GroupInvite> => getLater(resources.groupInvite, args, opts);

export const getAccountAssociation = (
  args: dynamic.GetAccountAssociationArgs,
  opts?: pulumi.InvokeOptions,
): Promise<api.AccountAssociation> => get(resources.accountAssociation, args, opts);
export const getAccountAssociationOutput = (
  args: dynamic.GetAccountAssociationOutputArgs,
  opts?: pulumi.InvokeOptions,
): pulumi.Output<api.AccountAssociation> => getLater(resources.accountAssociation, args, opts, "group");

export const listGroups = (
  args: dynamic.ListGroupsArgs = {},
  opts?: pulumi.InvokeOptions,
): AsyncGenerator<api.Group, void, undefined> => list(resources.group, args, opts);

export const listIdentities = (
  args: dynamic.ListIdentitiesArgs = {},
  opts?: pulumi.InvokeOptions,
): AsyncGenerator<api.Identity, void, undefined> => list(resources.identity, args, opts);

export const listRoles = (
  args: dynamic.ListRolesArgs = {},
  opts?: pulumi.InvokeOptions,
): AsyncGenerator<api.Role, void, undefined> => list(resources.role, args, opts);

export const listRoleBindings = (
  args: dynamic.ListRoleBindingsArgs = {},
  opts?: pulumi.InvokeOptions,
): AsyncGenerator<api.RoleBinding, void, undefined> => list(resources.roleBinding, args, opts);

export const listGroupInvites = (
  args: dynamic.ListGroupInvitesArgs = {},
  opts?: pulumi.InvokeOptions,
): AsyncGenerator<api.GroupInvite, void, undefined> => list(resources.groupInvite, args, opts);

export const listIdentityProviders = (
  args: dynamic.ListIdentityProvidersArgs = {},
  opts?: pulumi.InvokeOptions,
): AsyncGenerator<api.IdentityProvider, void, undefined> => list(resources.identityProvider, args, opts);

export const listAccountAssociations = (
  args: dynamic.ListAccountAssociationsArgs = {},
  opts?: pulumi.InvokeOptions,
): AsyncGenerator<api.AccountAssociation, void, undefined> => list(resources.accountAssociation, args, opts);

export const listRepos = (
  args: dynamic.ListReposArgs = {},
  opts?: pulumi.InvokeOptions,
): AsyncGenerator<api.Repo, void, undefined> => list(resources.repo, args, opts);

export const listTags = (
  args: dynamic.ListTagsArgs = {},
  opts?: pulumi.InvokeOptions,
): AsyncGenerator<api.Tag, void, undefined> => list(resources.tag, args, opts);
