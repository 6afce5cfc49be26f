// RoleBinding: grants a role to an identity at a group and everything below it.
import type * as pulumi from "@pulumi/pulumi";
import { RoleBinding as RoleBindingSchema } from "../schema/index.ts";
import type { RoleBinding as RoleBindingMessage } from "../schema/public.ts";
import type { AdoptArgs } from "./adopt.ts";
import { IrmResource } from "./dynamic.ts";
import type { Group } from "./group.ts";
import type { Identity } from "./identity.ts";
import { outputNames, referenceUid } from "./reference.ts";
import type { Role } from "./role.ts";

export interface RoleBindingArgs extends AdoptArgs {
  /** The group where the grant holds, and below: a Group or a uid; a change makes a new binding before the old one ends */
  parent: Group | pulumi.Input<string>;
  /** Who is granted the role: an Identity or a uid */
  identity: Identity | pulumi.Input<string>;
  /** What is granted: a Role or a uid (getRole finds built-in ones) */
  role: Role | pulumi.Input<string>;
  /** Accepted as on every resource; a role binding may always be replaced */
  allowReplace?: boolean;
}

export class RoleBinding extends IrmResource {
  /** Who is granted the role: uid, name, description, issuer, subject */
  declare readonly identity: pulumi.Output<RoleBindingMessage["identity"]>;
  /** Where the grant holds: uid, name, description */
  declare readonly group: pulumi.Output<RoleBindingMessage["group"]>;
  /** What is granted: uid, name, description */
  declare readonly role: pulumi.Output<RoleBindingMessage["role"]>;
  /** RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;
  /** uid of the identity that is granted the role */
  declare readonly identityUid: pulumi.Output<string>;
  /** uid of the role that is granted */
  declare readonly roleUid: pulumi.Output<string>;

  constructor(
    name: string,
    { identity, role, parent, ...rest }: RoleBindingArgs,
    opts: pulumi.CustomResourceOptions = {},
  ) {
    // In the bag under the API's names: `identity` and `role` are outputs, of another shape.
    const inputs = {
      ...rest,
      parent: referenceUid(parent, "Group", "parent"),
      identityUid: referenceUid(identity, "Identity", "identity"),
      roleUid: referenceUid(role, "Role", "role"),
    };
    super("roleBinding", "RoleBinding", name, inputs, outputNames(RoleBindingSchema), opts);
  }

  /** The role binding with this uid, as it is: read in each run, and never changed or deleted by this stack */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): RoleBinding {
    return new RoleBinding(name, {} as RoleBindingArgs, { ...opts, id: uid });
  }
}
