// Look-ups for programs: exactly one record, or an error that lists what was found. Without a parent only root-level
// records count (organisations, built-in roles), so that a record of the same name in a group never hides them.
import * as pulumi from "@pulumi/pulumi";
import { type Json, resources } from "../../schema/index.ts";
import type {
  AccountAssociation as AccountAssociationMessage,
  GroupInvite as GroupInviteMessage,
  Group as GroupMessage,
  Identity as IdentityMessage,
  IdentityProvider as IdentityProviderMessage,
  Repo as RepoMessage,
  Role as RoleMessage,
  Tag as TagMessage,
} from "../../schema/public.ts";
import { remembered } from "./binding-names.ts";
import { type GetArgs, type Inputs, onlyIn, onlyNamed, onlyWithUid } from "./find-only.ts";
import type { Group } from "./group.ts";
import { referenceUid } from "./reference.ts";
import type { Repo } from "./repo.ts";

export type { GetArgs };

export interface GetOutputArgs {
  /** The whole name */
  name: pulumi.Input<string>;
  /** The group that directly holds the record, a Group or a uid; default: root-level records only */
  parent?: Group | pulumi.Input<string>;
}

/** The group of that name in `parent`; without one, the organisation of that name. */
export const getGroup = async (args: GetArgs): Promise<GroupMessage> => remembered(await onlyGroup(args));

/** The identity of that name in `parent`. */
export const getIdentity = async (args: GetArgs): Promise<IdentityMessage> => remembered(await onlyIdentity(args));

/** The role of that name in `parent`; without one, the built-in role of that name: `viewer`, `editor`, `owner`. */
export const getRole = async (args: GetArgs): Promise<RoleMessage> => remembered(await onlyRole(args));

const onlyGroup = (args: GetArgs) => onlyNamed<GroupMessage>(resources.group, args);
const onlyIdentity = (args: GetArgs) => onlyNamed<IdentityMessage>(resources.identity, args);
const onlyRole = (args: GetArgs) => onlyNamed<RoleMessage>(resources.role, args);

/** getGroup with inputs that may not be known yet. */
export const getGroupOutput = (args: GetOutputArgs): pulumi.Output<GroupMessage> => laterByName(args, onlyGroup);

/** getIdentity with inputs that may not be known yet. */
export const getIdentityOutput = (args: GetOutputArgs): pulumi.Output<IdentityMessage> =>
  laterByName(args, onlyIdentity);

/** getRole with inputs that may not be known yet. */
export const getRoleOutput = (args: GetOutputArgs): pulumi.Output<RoleMessage> => laterByName(args, onlyRole);

const laterByName = <T>({ name, parent }: GetOutputArgs, get: (args: GetArgs) => Promise<T>): pulumi.Output<T> => {
  // A parent that was given and turns out undefined must not become a search at the root.
  const inputs = parent === undefined ? { name } : { name, parent: referenceUid(parent, "Group", "parent") };
  return pulumi.output(inputs).apply((args) => get(args as GetArgs)) as pulumi.Output<T>;
};

// The kinds that are never at the root: by uid, or by what is unique, or should be, in its place.

/** A record by its uid. */
export interface GetByUidArgs {
  uid: string;
}

/** A record by its name in a group. */
interface GetInGroupArgs {
  /** The whole name */
  name: string;
  /** uid of the group that directly holds it */
  parent: string;
}

export type GetIdentityProviderArgs = GetByUidArgs | GetInGroupArgs;
export type GetRepoArgs = GetByUidArgs | GetInGroupArgs;

/** A tag by its uid, or by its name in a repo. */
export type GetTagArgs =
  | GetByUidArgs
  | {
      /** The whole name */
      name: string;
      /** uid of the repo */
      repo: string;
    };

/** An account association by its group, whose uid it has. */
export interface GetAccountAssociationArgs {
  /** uid of the group */
  group: string;
}

/** The invite with this uid, without its code. */
export const getGroupInvite = async ({ uid }: GetByUidArgs): Promise<GroupInviteMessage> =>
  onlyWithUid<GroupInviteMessage>(resources.groupInvite, uid);

/** The identity provider with this uid, or of this name in `parent`; without its client secret. */
export const getIdentityProvider = async (args: GetIdentityProviderArgs): Promise<IdentityProviderMessage> =>
  onlyIn<IdentityProviderMessage>(resources.identityProvider, { ...args }, "parent");

/** The account association of a group. */
export const getAccountAssociation = async ({ group }: GetAccountAssociationArgs): Promise<AccountAssociationMessage> =>
  onlyWithUid<AccountAssociationMessage>(resources.accountAssociation, group);

/** The repo with this uid, or of this name in `parent`. */
export const getRepo = async (args: GetRepoArgs): Promise<RepoMessage> =>
  onlyIn<RepoMessage>(resources.repo, { ...args }, "parent");

/** The tag with this uid, or of this name in `repo`. */
export const getTag = async (args: GetTagArgs): Promise<TagMessage> =>
  onlyIn<TagMessage>(resources.tag, { ...args }, "repo");

const later = <Args, T>(inputs: object, get: (args: Args) => Promise<T>): pulumi.Output<T> =>
  pulumi.output(inputs as Json).apply((args) => get(args as Args)) as pulumi.Output<T>;

const inGroup = (args: Inputs<GetByUidArgs> | (Omit<Inputs<GetInGroupArgs>, "parent"> & InGroup)): object =>
  "parent" in args ? { ...args, parent: referenceUid(args.parent, "Group", "parent") } : args;

interface InGroup {
  /** The group that directly holds it: a Group or a uid */
  parent: Group | pulumi.Input<string>;
}

/** getGroupInvite with inputs that may not be known yet. */
export const getGroupInviteOutput = (args: Inputs<GetByUidArgs>): pulumi.Output<GroupInviteMessage> =>
  later(args, getGroupInvite);

/** getIdentityProvider with inputs that may not be known yet. */
export const getIdentityProviderOutput = (
  args: Inputs<GetByUidArgs> | ({ name: pulumi.Input<string> } & InGroup),
): pulumi.Output<IdentityProviderMessage> => later(inGroup(args), getIdentityProvider);

/** getAccountAssociation with inputs that may not be known yet. */
export const getAccountAssociationOutput = ({
  group,
}: {
  group: Group | pulumi.Input<string>;
}): pulumi.Output<AccountAssociationMessage> =>
  later({ group: referenceUid(group, "Group", "group") }, getAccountAssociation);

/** getRepo with inputs that may not be known yet. */
export const getRepoOutput = (
  args: Inputs<GetByUidArgs> | ({ name: pulumi.Input<string> } & InGroup),
): pulumi.Output<RepoMessage> => later(inGroup(args), getRepo);

/** getTag with inputs that may not be known yet. */
export const getTagOutput = (
  args: Inputs<GetByUidArgs> | { name: pulumi.Input<string>; repo: Repo | pulumi.Input<string> },
): pulumi.Output<TagMessage> =>
  later("repo" in args ? { ...args, repo: referenceUid(args.repo, "Repo", "repo") } : args, getTag);
