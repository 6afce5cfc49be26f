// Generated from schema/ by `npm run generate`; not to be edited.
import type * as pulumi from "@pulumi/pulumi";
import { SetResource } from "../set-resource.ts";
import type { BoundRecord } from "./bound-record.ts";
import type { Group } from "./group.ts";
import type { Identity } from "./identity.ts";
import type { Role } from "./role.ts";

/** Who has which role. */
export interface RoleBindingPair {
  /** The identity that is granted the role: an Identity or a uid */
  identity: Identity | pulumi.Input<string>;
  /** The role to grant: the name of a built-in one (`viewer`, `editor`, `owner`), a Role, or a uid */
  role: Role | pulumi.Input<string>;
}

/**
 * What a RoleBindingSet takes.
 *
 * Errors: the preview refuses a pair that occurs twice, and a group whose bindings another resource declares. The
 * service refuses with PERMISSION_DENIED a caller without `role_bindings.create`, or without the capabilities of a
 * role that it grants.
 *
 * @example
 * ```ts
 * const set = new RoleBindingSet("tooling", {
 *   parent: tooling,
 *   bindings: [
 *     { identity: images, role: uploader },
 *     { identity: audit, role: "viewer" },
 *   ],
 *   exclusive: true,
 * });
 * ```
 */
export interface RoleBindingSetArgs {
  /**
   * The group that the grants cover, with everything below it: a Group or a uid; a change creates the new set
   * before the old one is deleted
   */
  parent: Group | pulumi.Input<string>;
  /** Who has which role there; the order does not matter */
  bindings: RoleBindingPair[];
  /**
   * Removes bindings of the group that this set does not declare, if the last run or refresh recorded them in
   * `unmanaged`. So a preview shows them first. Default: they remain
   */
  exclusive?: boolean;
  /**
   * The most role bindings that a run of an exclusive set may remove; if there are more, the run fails and removes
   * nothing; default: 20
   */
  maxRemovals?: number;
}

/** A role binding of the set's group. */
export interface SetBinding {
  /** uid of the role binding */
  uid: string;
  /** The identity that is granted the role */
  identity: BoundRecord;
  /** The role that is granted */
  role: BoundRecord;
}

/** A role binding that the set does not declare. */
export interface UnmanagedBinding {
  /** uid of the role binding */
  uid: string;
  /** The identity that is granted the role */
  identity: BoundRecord;
  /** The role that is granted */
  role: BoundRecord;
  /** Why an exclusive set never removes it */
  kept?: string;
}

/**
 * RoleBindingSet: all role bindings of one group as one resource, so that the engine handles few resources instead
 * of thousands.
 *
 * Errors: the preview refuses a pair that occurs twice, and a group whose bindings another resource declares. The
 * service refuses with PERMISSION_DENIED a caller without `role_bindings.create`, or without the capabilities of a
 * role that it grants.
 *
 * @example
 * ```ts
 * const set = new RoleBindingSet("tooling", {
 *   parent: tooling,
 *   bindings: [
 *     { identity: images, role: uploader },
 *     { identity: audit, role: "viewer" },
 *   ],
 *   exclusive: true,
 * });
 * ```
 */
export class RoleBindingSet extends SetResource {
  /** uid of the group that the grants cover, with everything below it */
  declare readonly parent: pulumi.Output<string>;
  /** The role bindings that the set manages, in the order of the program */
  declare readonly bindings: pulumi.Output<SetBinding[]>;
  /** The other role bindings of the group, as of the last update or refresh */
  declare readonly unmanaged: pulumi.Output<UnmanagedBinding[]>;
  /** Whether bindings that the set does not declare are removed */
  declare readonly exclusive: pulumi.Output<boolean>;
  /** The most role bindings that a run may remove */
  declare readonly maxRemovals: pulumi.Output<number>;
  /** When the newest of its role bindings was created: RFC 3339, UTC; undefined while there are none */
  declare readonly updateTime: pulumi.Output<string | undefined>;

  /** `name` is its logical name, unique among the sets of the stack. */
  constructor(name: string, args: RoleBindingSetArgs, opts: pulumi.CustomResourceOptions = {}) {
    super(name, args, opts);
  }
}
