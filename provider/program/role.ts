// Role: a set of capabilities, defined in a group and granted by role bindings there and below.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../schema/index.ts";
import type { ListRolesRequest, Role as RoleMessage } from "../../schema/public.ts";
import type { AdoptArgs } from "./adoption.ts";
import { type GetArgs, getNamed, getNamedOutput } from "./get.ts";
import type { GetOutputArgs, Group } from "./group.ts";
import { type ListArgs, listRecords } from "./list.ts";
import { IrmResource } from "./resource.ts";

export interface RoleArgs extends AdoptArgs {
  /** The group that defines the role: a Group or a uid */
  parent: Group | pulumi.Input<string>;
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: pulumi.Input<string>;
  /** One line, at most 512 characters; default: empty */
  description?: pulumi.Input<string>;
  /** What the role grants, at least one: `groups.list` or `CAP_IAM_GROUPS_LIST`; order and duplicates mean nothing */
  capabilities: pulumi.Input<pulumi.Input<string>[]>;
  /** Allows a change of parent to create a new role with a new uid; default: refused in the preview */
  allowReplace?: boolean;
}

export class Role extends IrmResource {
  /** uid of the group that defines the role */
  declare readonly parent: pulumi.Output<string>;
  /** As given */
  declare readonly name: pulumi.Output<string>;
  /** As given; empty when not */
  declare readonly description: pulumi.Output<string>;
  /** What the role grants, by enum name: `CAP_IAM_GROUPS_LIST` */
  declare readonly capabilities: pulumi.Output<string[]>;
  /** RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;
  /** RFC 3339, UTC */
  declare readonly updateTime: pulumi.Output<string>;

  constructor(name: string, args: RoleArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("role", name, args, opts);
  }

  /** The role with this uid, as it is: read in each run, and never changed or deleted by this stack */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): Role {
    return new this(name, {} as RoleArgs, { ...opts, id: uid });
  }
}

/** The role of that name in `parent`; without one, the built-in role of that name: `viewer`, `editor`, `owner`. */
export const getRole = (args: GetArgs): Promise<RoleMessage> => getNamed<RoleMessage>(resources.role, args);

/** getRole with inputs that may not be known yet. */
export const getRoleOutput = (args: GetOutputArgs): pulumi.Output<RoleMessage> =>
  getNamedOutput<RoleMessage>(resources.role, args);

export type ListRolesArgs = ListArgs<ListRolesRequest>;

/** Roles that the caller may read; `uidp: { inRoot: true }` for the built-in ones only. */
export const listRoles = (args: ListRolesArgs = {}) => listRecords<RoleMessage>(resources.role, args);
