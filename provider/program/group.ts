// Group: a node of the hierarchy; one without a parent is an organization.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../schema/index.ts";
import type { Group as GroupMessage, ListGroupsRequest } from "../../schema/public.ts";
import type { AdoptArgs } from "./adoption.ts";
import { type GetArgs, type GetByUidArgs, getNamed, getNamedOutput, type Inputs } from "./get.ts";
import { type ListArgs, listRecords } from "./list.ts";
import { IrmResource } from "./resource.ts";

export type GroupKind = NonNullable<GroupMessage["kind"]>;

interface GroupFields extends AdoptArgs {
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: pulumi.Input<string>;
  /** One line, at most 512 characters; default: empty */
  description?: pulumi.Input<string>;
  /** Set by the operator of the service only; default: the service's choice */
  verified?: pulumi.Input<boolean>;
  /** Kind of an organization; groups below a root inherit it; default: the service's choice */
  kind?: pulumi.Input<GroupKind>;
  /** Allows a change of parent to create a new group, with a new uid for it and all below it; default: refused in the preview */
  allowReplace?: boolean;
  /**
   * Deletes with the group the records below it that this run does not delete: listed in the log first, deepest first, never on
   * a root group. `protect` and `retainOnDelete` of resources below do not reach it. Default: a group that
   * holds something is not deleted
   */
  forceDestroy?: boolean;
  /** Most records that forceDestroy deletes; more are an error and nothing is deleted; default: 50 */
  forceDestroyMax?: number;
}

/** A group in another, or a new organization: never by a forgotten parent. */
export type GroupArgs = GroupFields &
  (
    | {
        /** The group that this one belongs to: a Group or a uid */
        parent: Group | pulumi.Input<string>;
        root?: undefined;
      }
    | {
        /** Creates a new root organization */
        root: true;
        parent?: undefined;
      }
  );

export class Group extends IrmResource {
  /** uid of the group that this one belongs to; undefined for an organization */
  declare readonly parent: pulumi.Output<string | undefined>;
  /** As given */
  declare readonly name: pulumi.Output<string>;
  /** As given; empty when not */
  declare readonly description: pulumi.Output<string>;
  /** Limits of the organization, by resource */
  declare readonly resourceLimits: pulumi.Output<Record<string, number>>;
  /** Set by the operator of the service */
  declare readonly verified: pulumi.Output<boolean>;
  /** RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;
  /** RFC 3339, UTC */
  declare readonly updateTime: pulumi.Output<string>;
  /** Kind of the organization that the group belongs to */
  declare readonly kind: pulumi.Output<GroupKind | undefined>;
  /** State of the organization that the group belongs to */
  declare readonly status: pulumi.Output<GroupMessage["status"]>;

  constructor(name: string, args: GroupArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("group", name, args, opts);
  }

  /** The group with this uid, as it is: read in each run, and never changed or deleted by this stack */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): Group {
    return new this(name, {} as GroupArgs, { ...opts, id: uid });
  }
}

export interface GetOutputArgs {
  /** The whole name */
  name: pulumi.Input<string>;
  /** The group that directly holds the record, a Group or a uid; default: root-level records only */
  parent?: Group | pulumi.Input<string>;
}

/** A record by its uid, or by its name in a group. */
export type GetInGroupOutputArgs =
  | Inputs<GetByUidArgs>
  | {
      /** The whole name */
      name: pulumi.Input<string>;
      /** The group that directly holds it: a Group or a uid */
      parent: Group | pulumi.Input<string>;
    };

/** The group of that name in `parent`; without one, the organization of that name. */
export const getGroup = (args: GetArgs): Promise<GroupMessage> => getNamed<GroupMessage>(resources.group, args);

/** getGroup with inputs that may not be known yet. */
export const getGroupOutput = (args: GetOutputArgs): pulumi.Output<GroupMessage> =>
  getNamedOutput<GroupMessage>(resources.group, args);

export type ListGroupsArgs = ListArgs<ListGroupsRequest>;

/** Groups that the caller may read. */
export const listGroups = (args: ListGroupsArgs = {}) => listRecords<GroupMessage>(resources.group, args);
