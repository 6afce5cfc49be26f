// Generated from schema/ by `npm run generate`; not to be edited.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../../schema/index.ts";
import type { ListRolesRequest, Role as RoleMessage } from "../../../schema/public.ts";
import { type GetArgs, type ListArgs, get, getOutput, listRecords } from "../get.ts";
import { IrmResource } from "../resource.ts";
import type { GetOutputArgs, Group } from "./group.ts";

/**
 * What a Role takes.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `roles.create`, and with NOT_FOUND a parent, or another record that is
 * referred to, which does not exist.
 *
 * @example
 * ```ts
 * const auditor = new Role("auditor", {
 *   parent: registry,
 *   name: "auditor",
 *   description: "Reads who may do what",
 *   capabilities: ["groups.list", "identity.list", "roles.list", "role_bindings.list"],
 * });
 * ```
 */
export interface RoleArgs {
  /** The group that defines the role: a Group or a uid */
  parent: Group | pulumi.Input<string>;
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: pulumi.Input<string>;
  /** One line, at most 512 characters; default: empty */
  description?: pulumi.Input<string>;
  /**
   * What the role grants, at least one capability: `groups.list` or `CAP_IAM_GROUPS_LIST`; order and duplicates do
   * not matter
   */
  capabilities: pulumi.Input<pulumi.Input<string>[]>;
  /** Allows a change of parent to create a new role with a new uid; default: refused in the preview */
  allowReplace?: boolean;
  /**
   * Creates the role although one with the same parent and fields exists that this stack did not create; default:
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
}

/**
 * Role: a set of capabilities, defined in a group and granted by role bindings there and below.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `roles.create`, and with NOT_FOUND a parent, or another record that is
 * referred to, which does not exist.
 *
 * @example
 * ```ts
 * const auditor = new Role("auditor", {
 *   parent: registry,
 *   name: "auditor",
 *   description: "Reads who may do what",
 *   capabilities: ["groups.list", "identity.list", "roles.list", "role_bindings.list"],
 * });
 * ```
 */
export class Role extends IrmResource {
  /** uid of the group that defines the role */
  declare readonly parent: pulumi.Output<string>;
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  declare readonly name: pulumi.Output<string>;
  /** One line, at most 512 characters; default: empty */
  declare readonly description: pulumi.Output<string>;
  /** What the role grants, by enum name: `CAP_IAM_GROUPS_LIST`; the order does not matter */
  declare readonly capabilities: pulumi.Output<string[]>;
  /** When it was created: RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;
  /** When it was last changed: RFC 3339, UTC */
  declare readonly updateTime: pulumi.Output<string>;

  /** `name` is its logical name, unique among the resources of its type in the stack. */
  constructor(name: string, args: RoleArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("role", name, args, opts);
  }

  /**
   * The role with this uid, as it is: read in each run, and never changed or deleted by this stack. NOT_FOUND is an
   * error.
   */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): Role {
    return new this(name, {} as RoleArgs, { ...opts, id: uid });
  }
}

/**
 * The role of that name in `parent`; without one, the built-in role of that name: `viewer`, `editor`, `owner`.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `roles.list`.
 *
 * @example
 * ```ts
 * const found = await getRole({ name: "acme" });
 * ```
 */
export const getRole = (args: GetArgs): Promise<RoleMessage> =>
  get<RoleMessage>(resources.role, args);

/**
 * getRole with inputs that may not be known yet. In a preview that does not know them, its value is not known.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `roles.list`.
 *
 * @example
 * ```ts
 * const found = getRoleOutput({ name: "acme" });
 * ```
 */
export const getRoleOutput = (args: GetOutputArgs): pulumi.Output<RoleMessage> =>
  getOutput<RoleMessage>(resources.role, args);

/** Filters of listRoles, ANDed, its order and its page size; default: every record that the caller may read. */
export type ListRolesArgs = ListArgs<ListRolesRequest>;

/**
 * Roles that the caller may read; with `uidp.inRoot`, the built-in ones only.
 *
 * All pages, read while the program iterates. Errors: PERMISSION_DENIED without `roles.list`; INVALID_ARGUMENT for
 * a filter that is none.
 *
 * @example
 * ```ts
 * for await (const role of listRoles({ uidp: { descendantsOf: organization } })) console.log(role.uid);
 * ```
 */
export const listRoles = (args: ListRolesArgs = {}): AsyncGenerator<RoleMessage, void, undefined> =>
  listRecords<RoleMessage>(resources.role, args);
