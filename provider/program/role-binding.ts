// RoleBinding: grants a role to an identity at a group and everything below it.
import type * as pulumi from "@pulumi/pulumi";
import { RoleBinding as RoleBindingSchema } from "../../schema/index.ts";
import type { AdoptArgs } from "./adoption.ts";
import { bindingNames } from "./binding-names.ts";
import type { Group } from "./group.ts";
import type { Identity } from "./identity.ts";
import { asRecord, type BoundRecord, checkedRole, outputNames, referenceUid } from "./reference.ts";
import { IrmResource } from "./resource.ts";
import type { Role } from "./role.ts";

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

  constructor(
    name: string,
    { identity, role, parent, ...rest }: RoleBindingArgs,
    opts: pulumi.CustomResourceOptions = {},
  ) {
    const inputs = {
      ...rest,
      parent: referenceUid(parent, "Group", "parent"),
      identity: referenceUid(identity, "Identity", "identity"),
      role: referenceUid(role, "Role", "role"),
    };
    const {
      identityUid: _identityUid,
      roleUid: _roleUid,
      ...outputs
    } = Object.fromEntries(outputNames(RoleBindingSchema).map((output) => [output, true]));
    super("roleBinding", "RoleBinding", name, inputs, Object.keys(outputs), opts, (entered) => ({
      role: entered.resourceOf(inputs.role) ? inputs.role : checkedRole(`RoleBinding ${name}`, inputs.role),
      names: bindingNames(entered, inputs),
    }));
    const own = this as { -readonly [K in "identity" | "role" | "identityUid" | "roleUid"]: RoleBinding[K] };
    own.identity = asRecord(this.identity);
    own.role = asRecord(this.role);
    own.identityUid = own.identity.uid;
    own.roleUid = own.role.uid;
  }

  /** The role binding with this uid, as it is: read in each run, and never changed or deleted by this stack */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): RoleBinding {
    return new RoleBinding(name, {} as RoleBindingArgs, { ...opts, id: uid });
  }
}
