// Generated from schema/ by `npm run generate`; not to be edited.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../../schema/index.ts";
import type { Identity as IdentityMessage, ListIdentitiesRequest, ServicePrincipal as ServicePrincipalValue } from "../../../schema/public.ts";
import { type GetArgs, type ListArgs, get, getOutput, listRecords } from "../get.ts";
import type { OneOf } from "../inputs.ts";
import { IrmResource } from "../resource.ts";
import type { GetOutputArgs, Group } from "./group.ts";

/** Patterns are RE2 and match the whole claim; at most 1024 characters each. */
export type ClaimMatch = {
  /** `aud` of the workload's token; default: the issuer of this service, its bare host, or the API audience */
  audience?: pulumi.Input<string>;
  /** Pattern for `aud`, instead of audience; default: none */
  audiencePattern?: pulumi.Input<string>;
  /** Further claims, which must be equal; default: empty */
  claims?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Further claims, which must match their patterns; at most 20; default: empty */
  claimPatterns?: pulumi.Input<Record<string, pulumi.Input<string>>>;
} & OneOf<{
  /** `iss` of the workload's token, byte for byte: an https URL */
  issuer: pulumi.Input<string>;
  /** Pattern for `iss` */
  issuerPattern: pulumi.Input<string>;
}> & OneOf<{
  /** `sub` of the workload's token, byte for byte, at most 255 characters */
  subject: pulumi.Input<string>;
  /** Pattern for `sub` */
  subjectPattern: pulumi.Input<string>;
}>;

/** Keys of a workload. Any change creates a new identity (allowReplace). */
export interface StaticKeys {
  /** `iss` of the workload's token: an https URL, from which nothing is fetched */
  issuer: pulumi.Input<string>;
  /** `sub` of the workload's token */
  subject: pulumi.Input<string>;
  /** JSON Web Key Set (RFC 7517) of public keys, as text */
  issuerKeys: pulumi.Input<string>;
  /** RFC 3339, at most 365 days after creation; default: the maximum */
  expirationTime?: pulumi.Input<string>;
  /** `aud` of the workload's token, at most one; default: as for a claim match */
  audiences?: pulumi.Input<pulumi.Input<string>[]>;
}

/** An AWS principal: its account, and its ARN and user id, or patterns for them. */
export type AwsIdentity = {
  /** Twelve digits */
  awsAccount: pulumi.Input<string>;
} & OneOf<{
  /** ARN of the principal */
  arn: pulumi.Input<string>;
  /** Pattern for the ARN */
  arnPattern: pulumi.Input<string>;
}> & OneOf<{
  /** User id of the principal */
  userId: pulumi.Input<string>;
  /** Pattern for the user id */
  userIdPattern: pulumi.Input<string>;
}>;

/** A service of the platform, by its name in the API. */
export type ServicePrincipal = ServicePrincipalValue;

interface IdentityFields {
  /** The group that the identity belongs to: a Group or a uid */
  parent: Group | pulumi.Input<string>;
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: pulumi.Input<string>;
  /** One line, at most 512 characters; default: empty */
  description?: pulumi.Input<string>;
  /** At most 255 characters; default: empty */
  company?: pulumi.Input<string>;
  /**
   * Allows a change of parent, staticKeys or servicePrincipal to create a new identity; default: refused in the
   * preview
   */
  allowReplace?: boolean;
  /**
   * Creates the identity although one with the same parent and fields exists that this stack did not create;
   * default: the update refuses it
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
  /** Also deletes its role bindings that this run does not delete; default: they prevent the deletion */
  forceDestroy?: boolean;
}

/**
 * What an Identity takes.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `identity.create`, and with NOT_FOUND a parent, or another record that is
 * referred to, which does not exist.
 *
 * @example
 * ```ts
 * const ship = new Identity("ship", {
 *   parent: delivery,
 *   name: "ship workflow",
 *   description: "Publishes images from the main branch",
 *   claimMatch: {
 *     issuer: "https://token.actions.githubusercontent.com",
 *     subject: "repo:acme@123456/delivery@456794:ref:refs/heads/main",
 *   },
 * });
 * ```
 */
export type IdentityArgs = IdentityFields & OneOf<{
  /** Assumed by a workload whose token's claims match */
  claimMatch: pulumi.Input<ClaimMatch>;
  /** Assumed by a workload that signs with one of these keys */
  staticKeys: pulumi.Input<StaticKeys>;
  /** Assumed by an AWS principal */
  awsIdentity: pulumi.Input<AwsIdentity>;
  /** A service of the platform */
  servicePrincipal: pulumi.Input<ServicePrincipal>;
}>;

/**
 * Identity: a caller of the API. A workload assumes it with a token whose claims match, with its own key, or as an
 * AWS principal.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `identity.create`, and with NOT_FOUND a parent, or another record that is
 * referred to, which does not exist.
 *
 * @example
 * ```ts
 * const ship = new Identity("ship", {
 *   parent: delivery,
 *   name: "ship workflow",
 *   description: "Publishes images from the main branch",
 *   claimMatch: {
 *     issuer: "https://token.actions.githubusercontent.com",
 *     subject: "repo:acme@123456/delivery@456794:ref:refs/heads/main",
 *   },
 * });
 * ```
 */
export class Identity extends IrmResource {
  /** uid of the group that the identity belongs to */
  declare readonly parent: pulumi.Output<string>;
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  declare readonly name: pulumi.Output<string>;
  /** One line, at most 512 characters; default: empty */
  declare readonly description: pulumi.Output<string>;
  /** Verified address of a person */
  declare readonly email: pulumi.Output<string | undefined>;
  /** Unverified address of a person */
  declare readonly emailUnverified: pulumi.Output<string | undefined>;
  /** At most 255 characters; default: empty */
  declare readonly company: pulumi.Output<string | undefined>;
  /**
   * When it last exchanged a token, or was created: RFC 3339, UTC. Only a create or an update refreshes this output
   */
  declare readonly lastSeenTime: pulumi.Output<string>;
  /** When it was created: RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;
  /** When it was last changed: RFC 3339, UTC */
  declare readonly updateTime: pulumi.Output<string>;
  /** Assumed by a workload whose token's claims match */
  declare readonly claimMatch: pulumi.Output<NonNullable<IdentityMessage["claimMatch"]> | undefined>;
  /** Assumed by a workload that signs with one of these keys */
  declare readonly staticKeys: pulumi.Output<NonNullable<IdentityMessage["staticKeys"]> | undefined>;
  /** Assumed by an AWS principal */
  declare readonly awsIdentity: pulumi.Output<NonNullable<IdentityMessage["awsIdentity"]> | undefined>;
  /** A service of the platform */
  declare readonly servicePrincipal: pulumi.Output<NonNullable<IdentityMessage["servicePrincipal"]> | undefined>;

  /** `name` is its logical name, unique among the resources of its type in the stack. */
  constructor(name: string, args: IdentityArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("identity", name, args, opts);
  }

  /**
   * The identity with this uid, as it is: read in each run, and never changed or deleted by this stack. NOT_FOUND
   * is an error.
   */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): Identity {
    return new this(name, {} as IdentityArgs, { ...opts, id: uid });
  }
}

/**
 * The identity of that name in `parent`.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `identity.list`.
 *
 * @example
 * ```ts
 * const found = await getIdentity({ name: "acme" });
 * ```
 */
export const getIdentity = (args: GetArgs): Promise<IdentityMessage> =>
  get<IdentityMessage>(resources.identity, args);

/**
 * getIdentity with inputs that may not be known yet. In a preview that does not know them, its value is not known.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `identity.list`.
 *
 * @example
 * ```ts
 * const found = getIdentityOutput({ name: "acme" });
 * ```
 */
export const getIdentityOutput = (args: GetOutputArgs): pulumi.Output<IdentityMessage> =>
  getOutput<IdentityMessage>(resources.identity, args);

/**
 * Filters of listIdentities, ANDed, its order and its page size; default: every record that the caller may read.
 */
export type ListIdentitiesArgs = ListArgs<ListIdentitiesRequest>;

/**
 * Identities that the caller may read.
 *
 * All pages, read while the program iterates. Errors: PERMISSION_DENIED without `identity.list`; INVALID_ARGUMENT
 * for a filter that is none.
 *
 * @example
 * ```ts
 * for await (const identity of listIdentities({ uidp: { descendantsOf: organization } })) console.log(identity.uid);
 * ```
 */
export const listIdentities = (args: ListIdentitiesArgs = {}): AsyncGenerator<IdentityMessage, void, undefined> =>
  listRecords<IdentityMessage>(resources.identity, args);
