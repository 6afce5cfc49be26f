// Look-ups for programs: exactly one record, or an error that lists what was found. Without a parent only root-level
// records count (organisations, built-in roles), so that nobody can put a record of the same name in their way.
import * as pulumi from "@pulumi/pulumi";
import { resources } from "../../schema/index.ts";
import type { Group as GroupMessage, Identity as IdentityMessage, Role as RoleMessage } from "../../schema/public.ts";
import { remembered } from "./binding-names.ts";
import { type GetArgs, onlyNamed } from "./find-only.ts";
import type { Group } from "./group.ts";
import { referenceUid } from "./reference.ts";

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
export const getGroupOutput = (args: GetOutputArgs): pulumi.Output<GroupMessage> => later(args, onlyGroup);

/** getIdentity with inputs that may not be known yet. */
export const getIdentityOutput = (args: GetOutputArgs): pulumi.Output<IdentityMessage> => later(args, onlyIdentity);

/** getRole with inputs that may not be known yet. */
export const getRoleOutput = (args: GetOutputArgs): pulumi.Output<RoleMessage> => later(args, onlyRole);

const later = <T>({ name, parent }: GetOutputArgs, get: (args: GetArgs) => Promise<T>): pulumi.Output<T> => {
  // A parent that was given and turns out undefined must not become a search at the root.
  const inputs = parent === undefined ? { name } : { name, parent: referenceUid(parent, "Group", "parent") };
  return pulumi.output(inputs).apply((args) => get(args as GetArgs)) as pulumi.Output<T>;
};
