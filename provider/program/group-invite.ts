// GroupInvite: a code that lets a person without an identity join a group, with a role.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../schema/index.ts";
import type { GroupInvite as GroupInviteMessage, ListGroupInvitesRequest } from "../../schema/public.ts";
import type { AdoptArgs } from "./adoption.ts";
import { type GetByUidArgs, getByUid, getOutput, type Inputs } from "./get.ts";
import type { Group } from "./group.ts";
import type { BoundRecord } from "./inputs.ts";
import { type ListArgs, listRecords } from "./list.ts";
import { IrmResource } from "./resource.ts";
import type { Role } from "./role.ts";

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
    super("groupInvite", name, args, opts);
  }

  /** The invite with this uid, as it is, without its code: read in each run, and never changed or deleted by this stack */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): GroupInvite {
    return new this(name, {} as GroupInviteArgs, { ...opts, id: uid });
  }
}

/** The invite with this uid, without its code. */
export const getGroupInvite = ({ uid }: GetByUidArgs): Promise<GroupInviteMessage> =>
  getByUid<GroupInviteMessage>(resources.groupInvite, uid);

/** getGroupInvite with inputs that may not be known yet. */
export const getGroupInviteOutput = (args: Inputs<GetByUidArgs>): pulumi.Output<GroupInviteMessage> =>
  getOutput(resources.groupInvite, getGroupInvite, args);

export type ListGroupInvitesArgs = ListArgs<ListGroupInvitesRequest>;

/** Group invites that the caller may read, without their codes. */
export const listGroupInvites = (args: ListGroupInvitesArgs = {}) =>
  listRecords<GroupInviteMessage>(resources.groupInvite, args);
