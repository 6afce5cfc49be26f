// Generated from schema/ by `npm run generate`; not to be edited.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../../schema/index.ts";
import type { GroupInvite as GroupInviteMessage, ListGroupInvitesRequest } from "../../../schema/public.ts";
import { type GetByUidArgs, type Inputs, type ListArgs, get, getOutput, listRecords } from "../get.ts";
import { IrmResource } from "../resource.ts";
import type { BoundRecord } from "./bound-record.ts";
import type { Group } from "./group.ts";
import type { Role } from "./role.ts";

/**
 * What a GroupInvite takes.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `group_invites.create` and `role_bindings.create`, and with NOT_FOUND a
 * parent, or another record that is referred to, which does not exist.
 *
 * @example
 * ```ts
 * const invite = new GroupInvite("first-of-support", {
 *   parent: support,
 *   role: "viewer",
 *   email: "ann@acme.example",
 *   ttl: "604800s",            // a week
 *   singleUse: true,
 * });
 * ```
 */
export interface GroupInviteArgs {
  /** The group to join: a Group or a uid */
  parent: Group | pulumi.Input<string>;
  /** The role to grant at the group: the name of a built-in one (`viewer`, `editor`, `owner`), a Role, or a uid */
  role: Role | pulumi.Input<string>;
  /** Address of the person who may accept the invite; default: anyone with the code */
  email?: pulumi.Input<string>;
  /** How long the code is valid after its creation: seconds, such as `604800s` (a week), at most ten years */
  ttl: pulumi.Input<string>;
  /** Only one person can accept the invite; default: false */
  singleUse?: pulumi.Input<boolean>;
  /** Accepted as on every resource; an invite may always be replaced; default: false */
  allowReplace?: boolean;
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
 * GroupInvite: a code that lets a person without an identity join a group, with a role. Any change creates a new
 * invite with a new code, and then deletes the old one.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `group_invites.create` and `role_bindings.create`, and with NOT_FOUND a
 * parent, or another record that is referred to, which does not exist.
 *
 * @example
 * ```ts
 * const invite = new GroupInvite("first-of-support", {
 *   parent: support,
 *   role: "viewer",
 *   email: "ann@acme.example",
 *   ttl: "604800s",            // a week
 *   singleUse: true,
 * });
 * ```
 */
export class GroupInvite extends IrmResource {
  /** uid of the group to join */
  declare readonly parent: pulumi.Output<string>;
  /** The role that is granted, with its name if it is built-in */
  declare readonly role: pulumi.Output<BoundRecord>;
  /** uid of the role that is granted at the group */
  declare readonly roleUid: pulumi.Output<string>;
  /** Address of the person who may accept the invite; default: anyone with the code */
  declare readonly email: pulumi.Output<string | undefined>;
  /** How long the code is valid after its creation: seconds, such as `604800s` (a week), at most ten years */
  declare readonly ttl: pulumi.Output<string>;
  /** When the code expires: RFC 3339, UTC */
  declare readonly expirationTime: pulumi.Output<string>;
  /** Only one person can accept the invite; default: false */
  declare readonly singleUse: pulumi.Output<boolean | undefined>;
  /**
   * Secret. The service shows it once, so the state stores it; undefined if the invite was adopted or read by its
   * uid
   */
  declare readonly code: pulumi.Output<string | undefined>;
  /** The first 16 digits of the SHA-256 of the code */
  declare readonly keyId: pulumi.Output<string>;
  /** When it was created: RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;

  /** `name` is its logical name, unique among the resources of its type in the stack. */
  constructor(name: string, args: GroupInviteArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("groupInvite", name, args, opts);
  }

  /**
   * The group invite with this uid, as it is: read in each run, and never changed or deleted by this stack.
   * NOT_FOUND is an error.
   */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): GroupInvite {
    return new this(name, {} as GroupInviteArgs, { ...opts, id: uid });
  }
}

/**
 * The invite with this uid, without its code.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `group_invites.list`.
 *
 * @example
 * ```ts
 * const found = await getGroupInvite({ uid: uid });
 * ```
 */
export const getGroupInvite = (args: GetByUidArgs): Promise<GroupInviteMessage> =>
  get<GroupInviteMessage>(resources.groupInvite, args);

/**
 * getGroupInvite with inputs that may not be known yet. In a preview that does not know them, its value is not
 * known.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `group_invites.list`.
 *
 * @example
 * ```ts
 * const found = getGroupInviteOutput({ uid: uid });
 * ```
 */
export const getGroupInviteOutput = (args: Inputs<GetByUidArgs>): pulumi.Output<GroupInviteMessage> =>
  getOutput<GroupInviteMessage>(resources.groupInvite, args);

/**
 * Filters of listGroupInvites, ANDed, its order and its page size; default: every record that the caller may read.
 */
export type ListGroupInvitesArgs = ListArgs<ListGroupInvitesRequest>;

/**
 * Group invites that the caller may read, without their codes.
 *
 * All pages, read while the program iterates. Errors: PERMISSION_DENIED without `group_invites.list`;
 * INVALID_ARGUMENT for a filter that is none.
 *
 * @example
 * ```ts
 * for await (const groupInvite of listGroupInvites({ uidp: { descendantsOf: organization } })) console.log(groupInvite.uid);
 * ```
 */
export const listGroupInvites = (args: ListGroupInvitesArgs = {}): AsyncGenerator<GroupInviteMessage, void, undefined> =>
  listRecords<GroupInviteMessage>(resources.groupInvite, args);
