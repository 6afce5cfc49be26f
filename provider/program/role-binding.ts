// RoleBinding: grants a role to an identity at a group and everything below it.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../schema/index.ts";
import type { ListRoleBindingsRequest, RoleBinding as RoleBindingMessage } from "../../schema/public.ts";
import type { AdoptArgs } from "./adoption.ts";
import { bindingNames } from "./binding-names.ts";
import type { Group } from "./group.ts";
import type { Identity } from "./identity.ts";
import type { BoundRecord } from "./inputs.ts";
import { type ListArgs, listRecords } from "./list.ts";
import { IrmResource } from "./resource.ts";
import type { Role } from "./role.ts";
import { programSession } from "./session.ts";

export interface RoleBindingArgs extends AdoptArgs {
  /** The group where the grant holds, and below: a Group or a uid; a change creates a new binding before the old one ends */
  parent: Group | pulumi.Input<string>;
  /** Who is granted the role: an Identity or a uid */
  identity: Identity | pulumi.Input<string>;
  /** What is granted: the name of a built-in role (`viewer`, `editor`, `owner`), a Role, or a uid */
  role: Role | pulumi.Input<string>;
  /** Accepted as on every resource; a role binding may always be replaced */
  allowReplace?: boolean;
}

export class RoleBinding extends IrmResource {
  /** uid of the group where the grant holds, and below */
  declare readonly parent: pulumi.Output<string>;
  /** Who is granted the role */
  declare readonly identity: pulumi.Output<BoundRecord>;
  /** Where the grant holds */
  declare readonly group: pulumi.Output<BoundRecord>;
  /** What is granted */
  declare readonly role: pulumi.Output<BoundRecord>;
  /** RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;
  /** uid of the identity that is granted the role */
  declare readonly identityUid: pulumi.Output<string>;
  /** uid of the role that is granted */
  declare readonly roleUid: pulumi.Output<string>;

  constructor(name: string, args: RoleBindingArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("roleBinding", name, args, opts, (entered, inputs) => ({ names: bindingNames(entered, inputs) }));
  }

  /** The role binding with this uid, as it is: read in each run, and never changed or deleted by this stack */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): RoleBinding {
    return new this(name, {} as RoleBindingArgs, { ...opts, id: uid });
  }
}

export type ListRoleBindingsArgs = ListArgs<ListRoleBindingsRequest>;

/** Role bindings that the caller may read; `role` is a uid or the name of a built-in role. */
export async function* listRoleBindings(
  args: ListRoleBindingsArgs = {},
): AsyncGenerator<RoleBindingMessage, void, undefined> {
  const { builtInRoleUid, isRoleName } = await import("../kind/built-in-role.ts");
  const role = isRoleName(args.role) ? await builtInRoleUid(await programSession(), args.role) : args.role;
  yield* listRecords<RoleBindingMessage>(resources.roleBinding, role === undefined ? args : { ...args, role });
}
