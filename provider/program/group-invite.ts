// GroupInvite: a code that lets a person without an identity join a group, with a role.
import type * as pulumi from "@pulumi/pulumi";
import { GroupInvite as GroupInviteSchema } from "../../schema/index.ts";
import type { AdoptArgs } from "./adoption.ts";
import type { Group } from "./group.ts";
import { asRecord, type BoundRecord, checkedRole, outputNames, referenceUid } from "./reference.ts";
import { IrmResource, isOfType } from "./resource.ts";
import type { Role } from "./role.ts";
import { withSecretOutputs } from "./secret.ts";

/** Any change creates a new invite with a new code, before the old one ends. */
export interface GroupInviteArgs extends AdoptArgs {
  /** The group to join: a Group or a uid */
  parent: Group | pulumi.Input<string>;
  /** What is granted at the group: the name of a built-in role (`viewer`, `editor`, `owner`), a Role, or a uid */
  role: Role | pulumi.Input<string>;
  /** How long the code is good, from the creation on: seconds such as `604800s` (a week), at most ten years */
  ttl: pulumi.Input<string>;
  /** Address of who may accept it; default: anyone with the code */
  email?: pulumi.Input<string>;
  /** Only one person can accept it; default: false */
  singleUse?: pulumi.Input<boolean>;
  /** Accepted as on every resource; an invite may always be replaced */
  allowReplace?: boolean;
}

export class GroupInvite extends IrmResource {
  /** uid of the group to join */
  declare readonly parent: pulumi.Output<string>;
  /** What is granted; with the name of a built-in role */
  declare readonly role: pulumi.Output<BoundRecord>;
  /** uid of the role that is granted */
  declare readonly roleUid: pulumi.Output<string>;
  /** As given; undefined: anyone with the code */
  declare readonly email: pulumi.Output<string | undefined>;
  /** As given */
  declare readonly ttl: pulumi.Output<string>;
  /** RFC 3339, UTC */
  declare readonly expirationTime: pulumi.Output<string>;
  /** As given */
  declare readonly singleUse: pulumi.Output<boolean | undefined>;
  /** Secret. The service shows it once, so the state keeps it; undefined for an invite that was adopted or got by its uid */
  declare readonly code: pulumi.Output<string | undefined>;
  /** The first 16 digits of the SHA-256 of the code */
  declare readonly keyId: pulumi.Output<string>;
  /** RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;

  constructor(name: string, args: GroupInviteArgs, opts: pulumi.CustomResourceOptions = {}) {
    const { parent, role, ...rest } = args;
    const inputs = {
      ...rest,
      parent: referenceUid(parent, "Group", "parent"),
      role: isOfType(role, "Role") ? role.id : checkedRole(`GroupInvite ${name}`, referenceUid(role, "Role", "role")),
    };
    const outputs = outputNames(GroupInviteSchema).filter((output) => output !== "roleUid");
    super("groupInvite", "GroupInvite", name, inputs, outputs, withSecretOutputs(opts, ["code"]));
    const own = this as { -readonly [K in "role" | "roleUid"]: GroupInvite[K] };
    own.role = asRecord(this.role);
    own.roleUid = own.role.uid;
  }

  /** The invite with this uid, as it is, without its code: read in each run, and never changed or deleted by this stack */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): GroupInvite {
    return new GroupInvite(name, {} as GroupInviteArgs, { ...opts, id: uid });
  }
}
