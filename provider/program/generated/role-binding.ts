// Generated from schema/ by `npm run generate`; not to be edited.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../../schema/index.ts";
import type { ListRoleBindingsRequest, RoleBinding as RoleBindingMessage } from "../../../schema/public.ts";
import { type ListArgs, listRecords } from "../get.ts";
import { IrmResource } from "../resource.ts";
import type { BoundRecord } from "./bound-record.ts";
import type { Group } from "./group.ts";
import type { Identity } from "./identity.ts";
import type { Role } from "./role.ts";

/**
 * What a RoleBinding takes.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `role_bindings.create`, and with NOT_FOUND a parent, or another record that is
 * referred to, which does not exist.
 *
 * @example
 * ```ts
 * const binding = new RoleBinding("deploy-edits-shop", { parent: shop, identity: deploy, role: "editor" });
 * ```
 */
export interface RoleBindingArgs {
  /**
   * The group that the grant covers, with everything below it: a Group or a uid; a change creates a new binding
   * before the old one is deleted
   */
  parent: Group | pulumi.Input<string>;
  /** The identity that is granted the role: an Identity or a uid */
  identity: Identity | pulumi.Input<string>;
  /** The role to grant: the name of a built-in one (`viewer`, `editor`, `owner`), a Role, or a uid */
  role: Role | pulumi.Input<string>;
  /** Accepted as on every resource; a role binding may always be replaced; default: false */
  allowReplace?: boolean;
  /**
   * Allows a second, equal role binding in a run without checkpoints (`PULUMI_SKIP_CHECKPOINTS`) if this stack did
   * not create the first one. A run with checkpoints always creates it, and names the first one; default: false
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
 * RoleBinding: grants a role to an identity at a group and everything below it.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `role_bindings.create`, and with NOT_FOUND a parent, or another record that is
 * referred to, which does not exist.
 *
 * @example
 * ```ts
 * const binding = new RoleBinding("deploy-edits-shop", { parent: shop, identity: deploy, role: "editor" });
 * ```
 */
export class RoleBinding extends IrmResource {
  /** uid of the group that the grant covers, with everything below it */
  declare readonly parent: pulumi.Output<string>;
  /** The identity that is granted the role */
  declare readonly identity: pulumi.Output<BoundRecord>;
  /** The group that the grant covers, with everything below it */
  declare readonly group: pulumi.Output<BoundRecord>;
  /** The role that is granted */
  declare readonly role: pulumi.Output<BoundRecord>;
  /** When it was created: RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;
  /** uid of the identity that is granted the role */
  declare readonly identityUid: pulumi.Output<string>;
  /** uid of the role that is granted */
  declare readonly roleUid: pulumi.Output<string>;

  /** `name` is its logical name, unique among the resources of its type in the stack. */
  constructor(name: string, args: RoleBindingArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("roleBinding", name, args, opts);
  }

  /**
   * The role binding with this uid, as it is: read in each run, and never changed or deleted by this stack.
   * NOT_FOUND is an error.
   */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): RoleBinding {
    return new this(name, {} as RoleBindingArgs, { ...opts, id: uid });
  }
}

/**
 * Filters of listRoleBindings, ANDed, its order and its page size; default: every record that the caller may read.
 */
export type ListRoleBindingsArgs = ListArgs<ListRoleBindingsRequest>;

/**
 * Role bindings that the caller may read; `role` is a uid or the name of a built-in role.
 *
 * All pages, read while the program iterates. Errors: PERMISSION_DENIED without `role_bindings.list`;
 * INVALID_ARGUMENT for a filter that is none.
 *
 * @example
 * ```ts
 * for await (const roleBinding of listRoleBindings({ uidp: { descendantsOf: organization } })) console.log(roleBinding.uid);
 * ```
 */
export const listRoleBindings = (args: ListRoleBindingsArgs = {}): AsyncGenerator<RoleBindingMessage, void, undefined> =>
  listRecords<RoleBindingMessage>(resources.roleBinding, args);
