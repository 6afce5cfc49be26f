// Identity: who may call. A workload assumes it by a token whose claims match, by a key of its own, or as an AWS principal.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../schema/index.ts";
import type { Identity as IdentityMessage, ListIdentitiesRequest } from "../../schema/public.ts";
import type { AdoptArgs } from "./adoption.ts";
import { type GetArgs, getNamed, getNamedOutput } from "./get.ts";
import type { GetOutputArgs, Group } from "./group.ts";
import type { OneOf } from "./inputs.ts";
import { type ListArgs, listRecords } from "./list.ts";
import { IrmResource } from "./resource.ts";

/** Patterns are RE2 and match the whole claim; at most 1024 characters each. */
export type ClaimMatch = OneOf<{
  /** `iss` of the workload's token, byte for byte: an https URL */
  issuer: pulumi.Input<string>;
  /** Pattern for `iss` */
  issuerPattern: pulumi.Input<string>;
}> &
  OneOf<{
    /** `sub` of the workload's token, byte for byte, at most 255 characters */
    subject: pulumi.Input<string>;
    /** Pattern for `sub` */
    subjectPattern: pulumi.Input<string>;
  }> & {
    /** `aud` of the workload's token; default: the issuer of this service, its bare host, or the API audience */
    audience?: pulumi.Input<string>;
    /** Pattern for `aud`, instead of audience */
    audiencePattern?: pulumi.Input<string>;
    /** Further claims, each equal */
    claims?: pulumi.Input<Record<string, pulumi.Input<string>>>;
    /** Further claims, each matching its pattern; at most 20 */
    claimPatterns?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  };

/** Any change creates a new identity (allowReplace). */
export interface StaticKeys {
  /** `iss` of the workload's token: an https URL */
  issuer: pulumi.Input<string>;
  /** `sub` of the workload's token */
  subject: pulumi.Input<string>;
  /** JSON Web Key Set (RFC 7517) of public keys, as text */
  issuerKeys: pulumi.Input<string>;
  /** RFC 3339; default and longest: 365 days after creation */
  expirationTime?: pulumi.Input<string>;
  /** At most one; default: as for a claim match */
  audiences?: pulumi.Input<pulumi.Input<string>[]>;
}

export type AwsIdentity = {
  /** Twelve digits */
  awsAccount: pulumi.Input<string>;
} & OneOf<{
  /** ARN of the principal */
  arn: pulumi.Input<string>;
  /** Pattern for the ARN */
  arnPattern: pulumi.Input<string>;
}> &
  OneOf<{
    /** Id of the principal */
    userId: pulumi.Input<string>;
    /** Pattern for the id */
    userIdPattern: pulumi.Input<string>;
  }>;

export type ServicePrincipal = NonNullable<IdentityMessage["servicePrincipal"]>;

interface IdentityFields extends AdoptArgs {
  /** The group that the identity belongs to: a Group or a uid */
  parent: Group | pulumi.Input<string>;
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: pulumi.Input<string>;
  /** One line, at most 512 characters; default: empty */
  description?: pulumi.Input<string>;
  /** At most 255 characters; default: empty */
  company?: pulumi.Input<string>;
  /** Allows a change of parent, staticKeys or servicePrincipal to create a new identity; default: refused in the preview */
  allowReplace?: boolean;
  /** Deletes with the identity role bindings that this run does not delete; default: they prevent the deletion */
  forceDestroy?: boolean;
}

/** Exactly one of claimMatch, staticKeys, awsIdentity, servicePrincipal. */
export type IdentityArgs = IdentityFields &
  OneOf<{
    /** Assumed by a workload whose token's claims match */
    claimMatch: pulumi.Input<ClaimMatch>;
    /** Assumed by a workload that signs with one of these keys */
    staticKeys: pulumi.Input<StaticKeys>;
    /** Assumed by an AWS principal */
    awsIdentity: pulumi.Input<AwsIdentity>;
    /** A service of the platform */
    servicePrincipal: pulumi.Input<ServicePrincipal>;
  }>;

export class Identity extends IrmResource {
  /** uid of the group that the identity belongs to */
  declare readonly parent: pulumi.Output<string>;
  /** As given */
  declare readonly name: pulumi.Output<string>;
  /** As given; empty when not */
  declare readonly description: pulumi.Output<string>;
  /** Verified address of a person */
  declare readonly email: pulumi.Output<string | undefined>;
  /** Unverified address of a person */
  declare readonly emailUnverified: pulumi.Output<string | undefined>;
  /** As given */
  declare readonly company: pulumi.Output<string | undefined>;
  /** RFC 3339, UTC; as of the last create or update: it moves by itself */
  declare readonly lastSeenTime: pulumi.Output<string>;
  /** RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;
  /** RFC 3339, UTC */
  declare readonly updateTime: pulumi.Output<string>;
  /** As given; undefined for another relationship */
  declare readonly claimMatch: pulumi.Output<IdentityMessage["claimMatch"]>;
  /** As given, with the time of expiry; undefined for another relationship */
  declare readonly staticKeys: pulumi.Output<IdentityMessage["staticKeys"]>;
  /** As given; undefined for another relationship */
  declare readonly awsIdentity: pulumi.Output<IdentityMessage["awsIdentity"]>;
  /** As given; undefined for another relationship */
  declare readonly servicePrincipal: pulumi.Output<IdentityMessage["servicePrincipal"]>;

  constructor(name: string, args: IdentityArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("identity", name, args, opts);
  }

  /** The identity with this uid, as it is: read in each run, and never changed or deleted by this stack */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): Identity {
    return new this(name, {} as IdentityArgs, { ...opts, id: uid });
  }
}

/** The identity of that name in `parent`. */
export const getIdentity = (args: GetArgs): Promise<IdentityMessage> =>
  getNamed<IdentityMessage>(resources.identity, args);

/** getIdentity with inputs that may not be known yet. */
export const getIdentityOutput = (args: GetOutputArgs): pulumi.Output<IdentityMessage> =>
  getNamedOutput<IdentityMessage>(resources.identity, args);

export type ListIdentitiesArgs = ListArgs<ListIdentitiesRequest>;

/** Identities that the caller may read. */
export const listIdentities = (args: ListIdentitiesArgs = {}) => listRecords<IdentityMessage>(resources.identity, args);
