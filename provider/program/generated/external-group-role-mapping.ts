// Generated from schema/ by `npm run generate`; not to be edited.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../../schema/index.ts";
import type { ExternalGroupRoleMapping as ExternalGroupRoleMappingMessage, ListExternalGroupRoleMappingsRequest } from "../../../schema/public.ts";
import { type GetByUidArgs, type Inputs, type ListArgs, get, getOutput, listRecords } from "../get.ts";
import { IrmResource } from "../resource.ts";
import type { Group } from "./group.ts";
import type { IdentityProvider } from "./identity-provider.ts";
import type { Role } from "./role.ts";

/**
 * What an ExternalGroupRoleMapping takes.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `identity_providers.create` and `role_bindings.create`, and with NOT_FOUND a
 * parent, or another record that is referred to, which does not exist.
 *
 * @example
 * ```ts
 * new ExternalGroupRoleMapping("sre", {
 *   parent: sso,
 *   externalGroupId: "Platform-SRE",
 *   role: "editor",
 *   scope: acme,
 * });
 * ```
 */
export interface ExternalGroupRoleMappingArgs {
  /**
   * The identity provider where the people sign in: an IdentityProvider or a uid; a change creates a new mapping
   * before the old one is deleted
   */
  parent: IdentityProvider | pulumi.Input<string>;
  /** The external group: a value of the provider's `groupsClaim`, byte for byte, at most 1024 characters */
  externalGroupId: pulumi.Input<string>;
  /**
   * The role that the group's people get: the name of a built-in one (`viewer`, `editor`, `owner`), a Role, or a
   * uid
   */
  role: Role | pulumi.Input<string>;
  /** The organization where they get the role: a Group or a uid */
  scope: Group | pulumi.Input<string>;
  /** Accepted as on every resource; a mapping may always be replaced; default: false */
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
 * ExternalGroupRoleMapping: grants a role at the organization to the people whose sign-in names a group of their
 * identity provider.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `identity_providers.create` and `role_bindings.create`, and with NOT_FOUND a
 * parent, or another record that is referred to, which does not exist.
 *
 * @example
 * ```ts
 * new ExternalGroupRoleMapping("sre", {
 *   parent: sso,
 *   externalGroupId: "Platform-SRE",
 *   role: "editor",
 *   scope: acme,
 * });
 * ```
 */
export class ExternalGroupRoleMapping extends IrmResource {
  /** uid of the identity provider where the people sign in */
  declare readonly parent: pulumi.Output<string>;
  /** uid of its identity provider */
  declare readonly identityProviderUid: pulumi.Output<string>;
  /** The external group: a value of the provider's `groupsClaim`, byte for byte, at most 1024 characters */
  declare readonly externalGroupId: pulumi.Output<string>;
  /** uid of the role that the group's people get */
  declare readonly roleUid: pulumi.Output<string>;
  /** uid of the organization where they get the role */
  declare readonly scope: pulumi.Output<string>;
  /** When it was created: RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;

  /** `name` is its logical name, unique among the resources of its type in the stack. */
  constructor(name: string, args: ExternalGroupRoleMappingArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("externalGroupRoleMapping", name, args, opts);
  }

  /**
   * The external group role mapping with this uid, as it is: read in each run, and never changed or deleted by this
   * stack. NOT_FOUND is an error.
   */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): ExternalGroupRoleMapping {
    return new this(name, {} as ExternalGroupRoleMappingArgs, { ...opts, id: uid });
  }
}

/**
 * The mapping with this uid.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `identity_providers.list`.
 *
 * @example
 * ```ts
 * const found = await getExternalGroupRoleMapping({ uid: uid });
 * ```
 */
export const getExternalGroupRoleMapping = (args: GetByUidArgs): Promise<ExternalGroupRoleMappingMessage> =>
  get<ExternalGroupRoleMappingMessage>(resources.externalGroupRoleMapping, args);

/**
 * getExternalGroupRoleMapping with inputs that may not be known yet. In a preview that does not know them, its
 * value is not known.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `identity_providers.list`.
 *
 * @example
 * ```ts
 * const found = getExternalGroupRoleMappingOutput({ uid: uid });
 * ```
 */
export const getExternalGroupRoleMappingOutput = (args: Inputs<GetByUidArgs>): pulumi.Output<ExternalGroupRoleMappingMessage> =>
  getOutput<ExternalGroupRoleMappingMessage>(resources.externalGroupRoleMapping, args);

/**
 * Filters of listExternalGroupRoleMappings, ANDed, its order and its page size; default: every record that the
 * caller may read.
 */
export type ListExternalGroupRoleMappingsArgs = ListArgs<ListExternalGroupRoleMappingsRequest>;

/**
 * Mappings of external groups that the caller may read; `identityProviderUid` selects one identity provider.
 *
 * All pages, read while the program iterates. Errors: PERMISSION_DENIED without `identity_providers.list`;
 * INVALID_ARGUMENT for a filter that is none.
 *
 * @example
 * ```ts
 * for await (const externalGroupRoleMapping of listExternalGroupRoleMappings({ uidp: { descendantsOf: organization } })) console.log(externalGroupRoleMapping.uid);
 * ```
 */
export const listExternalGroupRoleMappings = (args: ListExternalGroupRoleMappingsArgs = {}): AsyncGenerator<ExternalGroupRoleMappingMessage, void, undefined> =>
  listRecords<ExternalGroupRoleMappingMessage>(resources.externalGroupRoleMapping, args);
