// Generated from schema/ by `npm run generate`; not to be edited.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../../schema/index.ts";
import type { Group as GroupMessage, ListGroupsRequest, OrgKind as OrgKindValue } from "../../../schema/public.ts";
import { type GetArgs, type GetByUidArgs, type Inputs, type ListArgs, get, getOutput, listRecords } from "../get.ts";
import { IrmResource } from "../resource.ts";

/** Kind of an organization, by its name in the API. */
export type GroupKind = OrgKindValue;

interface GroupFields {
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: pulumi.Input<string>;
  /** One line, at most 512 characters; default: empty */
  description?: pulumi.Input<string>;
  /** Only the operator of the service may set it; default: the service's choice */
  verified?: pulumi.Input<boolean>;
  /** Kind of the organization, which the groups below inherit; default: the service's choice */
  kind?: pulumi.Input<GroupKind>;
  /**
   * Allows a change of parent to create a new group, with a new uid for it and all below it; default: refused in
   * the preview
   */
  allowReplace?: boolean;
  /**
   * Creates the group although one with the same parent and fields exists that this stack did not create; default:
   * the update refuses it
   */
  allowDuplicate?: boolean;
  /**
   * Adopts an existing record: its uid, or "match" for the only one with this parent and name (for a role binding:
   * with this identity and role; for a group invite: with this role and address; for an account association: in
   * this group; for a mapping of an external group: with all its fields). It remains when the resource is deleted.
   * Default: a new record is created
   */
  adopt?: pulumi.Input<string>;
  /** Deletes an adopted record with the resource; default: it remains */
  deleteAdopted?: boolean;
  /**
   * Also deletes the records below the group that this run does not delete. It lists them in the log first and
   * begins with the deepest. It is not allowed on a root group. `protect` and `retainOnDelete` do not protect
   * resources below. Default: a group that contains something is not deleted
   */
  forceDestroy?: boolean;
  /**
   * The most records that forceDestroy may delete; if there are more, the run fails and deletes nothing; default:
   * 50
   */
  forceDestroyMax?: number;
}

/**
 * What a Group takes.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `groups.create`, and with NOT_FOUND a parent, or another record that is
 * referred to, which does not exist.
 *
 * @example
 * ```ts
 * const engineering = new Group("engineering", {
 *   parent: organization,
 *   name: "engineering",
 *   description: "Everybody who builds the product",
 * });
 *
 * const preview = new Group("preview-environments", {
 *   parent: engineering,
 *   name: "preview environments",
 *   forceDestroy: true,        // its content is short-lived, and not all of it is in this program
 *   forceDestroyMax: 20,
 * });
 * ```
 */
export type GroupArgs = GroupFields & (
  | {
      /** The group that this one belongs to: a Group or a uid */
      parent: Group | pulumi.Input<string>;
      root?: undefined;
    }
  | {
      /** Creates an organization, instead of a group in `parent`; the caller becomes its owner */
      root: true;
      parent?: undefined;
    }
);

/**
 * Group: a node of the hierarchy; one without a parent is an organization.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `groups.create`, and with NOT_FOUND a parent, or another record that is
 * referred to, which does not exist.
 *
 * @example
 * ```ts
 * const engineering = new Group("engineering", {
 *   parent: organization,
 *   name: "engineering",
 *   description: "Everybody who builds the product",
 * });
 *
 * const preview = new Group("preview-environments", {
 *   parent: engineering,
 *   name: "preview environments",
 *   forceDestroy: true,        // its content is short-lived, and not all of it is in this program
 *   forceDestroyMax: 20,
 * });
 * ```
 */
export class Group extends IrmResource {
  /** uid of the group that this one belongs to; undefined for an organization */
  declare readonly parent: pulumi.Output<string | undefined>;
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  declare readonly name: pulumi.Output<string>;
  /** One line, at most 512 characters; default: empty */
  declare readonly description: pulumi.Output<string>;
  /** Limits of the organization: number of records, by resource */
  declare readonly resourceLimits: pulumi.Output<Record<string, number>>;
  /** Only the operator of the service may set it; default: the service's choice */
  declare readonly verified: pulumi.Output<boolean>;
  /** When it was created: RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;
  /** When it was last changed: RFC 3339, UTC */
  declare readonly updateTime: pulumi.Output<string>;
  /** Kind of the organization that the group belongs to */
  declare readonly kind: pulumi.Output<NonNullable<GroupMessage["kind"]> | undefined>;
  /** State of the organization that the group belongs to */
  declare readonly status: pulumi.Output<NonNullable<GroupMessage["status"]> | undefined>;

  /** `name` is its logical name, unique among the resources of its type in the stack. */
  constructor(name: string, args: GroupArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("group", name, args, opts);
  }

  /**
   * The group with this uid, as it is: read in each run, and never changed or deleted by this stack. NOT_FOUND is
   * an error.
   */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): Group {
    return new this(name, {} as GroupArgs, { ...opts, id: uid });
  }
}

/** A record by its name, with inputs that may not be known yet. */
export interface GetOutputArgs {
  /** The whole name */
  name: pulumi.Input<string>;
  /** The group that directly holds the record, a Group or a uid; default: root-level records only */
  parent?: Group | pulumi.Input<string>;
}

/** A record by its uid, or by its name in a group, with inputs that may not be known yet. */
export type GetInGroupOutputArgs =
  | Inputs<GetByUidArgs>
  | {
      /** The whole name */
      name: pulumi.Input<string>;
      /** The group that directly holds it: a Group or a uid */
      parent: Group | pulumi.Input<string>;
    };

/**
 * The group of that name in `parent`; without one, the organization of that name.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `groups.list`.
 *
 * @example
 * ```ts
 * const found = await getGroup({ name: "acme" });
 * ```
 */
export const getGroup = (args: GetArgs): Promise<GroupMessage> =>
  get<GroupMessage>(resources.group, args);

/**
 * getGroup with inputs that may not be known yet. In a preview that does not know them, its value is not known.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `groups.list`.
 *
 * @example
 * ```ts
 * const found = getGroupOutput({ name: "acme" });
 * ```
 */
export const getGroupOutput = (args: GetOutputArgs): pulumi.Output<GroupMessage> =>
  getOutput<GroupMessage>(resources.group, args);

/** Filters of listGroups, ANDed, its order and its page size; default: every record that the caller may read. */
export type ListGroupsArgs = ListArgs<ListGroupsRequest>;

/**
 * Groups that the caller may read.
 *
 * All pages, read while the program iterates. Errors: PERMISSION_DENIED without `groups.list`; INVALID_ARGUMENT for
 * a filter that is none.
 *
 * @example
 * ```ts
 * for await (const group of listGroups({ uidp: { descendantsOf: organization } })) console.log(group.uid);
 * ```
 */
export const listGroups = (args: ListGroupsArgs = {}): AsyncGenerator<GroupMessage, void, undefined> =>
  listRecords<GroupMessage>(resources.group, args);
