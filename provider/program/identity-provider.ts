// IdentityProvider: where the people of an organization sign in.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../schema/index.ts";
import type {
  IdentityProvider as IdentityProviderMessage,
  IdentityProviderOIDC,
  IdentityProviderSCIM,
  ListIdentityProvidersRequest,
} from "../../schema/public.ts";
import type { AdoptArgs } from "./adoption.ts";
import { type GetByUidArgs, type GetInGroupArgs, getIn, getOutput } from "./get.ts";
import type { GetInGroupOutputArgs, Group } from "./group.ts";
import { type ListArgs, listRecords } from "./list.ts";
import { IrmResource } from "./resource.ts";
import type { Role } from "./role.ts";

export type CorrelationRule = NonNullable<IdentityProviderOIDC["correlationRule"]>;

interface OidcFields {
  /** https URL of the issuer, byte for byte as its tokens have it */
  issuer: pulumi.Input<string>;
  /** Id of the client that is registered at the issuer; not secret */
  clientId: pulumi.Input<string>;
  /** Scopes beside `openid`, which is always asked for; order and duplicates mean nothing */
  additionalScopes?: pulumi.Input<pulumi.Input<string>[]>;
  /** Claim that carries the groups of who signs in */
  groupsClaim?: pulumi.Input<string>;
  /** How people who sign in are matched to provisioned users; default: by `sub`. A change creates a new provider (allowReplace) */
  correlationRule?: pulumi.Input<CorrelationRule>;
}

/** A client with a secret, or one that proves itself each time by PKCE (RFC 7636), or both. */
export type OidcConfig = OidcFields &
  (
    | {
        /** Secret of the client, at most 4096 characters: encrypted in the state, and never returned by the service */
        clientSecret: pulumi.Input<string>;
        /** Proves itself by PKCE as well; default: false */
        pkceEnabled?: pulumi.Input<boolean>;
      }
    | {
        /** Proves itself by PKCE alone */
        pkceEnabled: pulumi.Input<true>;
        clientSecret?: undefined;
      }
  );

export interface IdentityProviderArgs extends AdoptArgs {
  /** The organization or group whose people sign in there: a Group or a uid */
  parent: Group | pulumi.Input<string>;
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: pulumi.Input<string>;
  /** One line, at most 512 characters; default: empty */
  description?: pulumi.Input<string>;
  /** The role granted at the first sign-in: the name of a built-in role, a Role, or a uid */
  defaultRole: Role | pulumi.Input<string>;
  /** OpenID Connect */
  oidc: pulumi.Input<OidcConfig>;
  /** Allows a change of parent or correlationRule to create a new provider with a new uid; default: refused in the preview */
  allowReplace?: boolean;
}

export class IdentityProvider extends IrmResource {
  /** uid of the group whose people sign in there */
  declare readonly parent: pulumi.Output<string>;
  /** As given */
  declare readonly name: pulumi.Output<string>;
  /** As given; undefined when not */
  declare readonly description: pulumi.Output<string | undefined>;
  /** uid of the role */
  declare readonly defaultRole: pulumi.Output<string>;
  /** As given, without the client secret */
  declare readonly oidc: pulumi.Output<Omit<IdentityProviderOIDC, "clientSecret">>;
  /** State of provisioning (SCIM, RFC 7644) */
  declare readonly scim: pulumi.Output<IdentityProviderSCIM | undefined>;
  /** RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;
  /** RFC 3339, UTC */
  declare readonly updateTime: pulumi.Output<string>;

  constructor(name: string, args: IdentityProviderArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("identityProvider", name, args, opts);
  }

  /** The provider with this uid, as it is: read in each run, and never changed or deleted by this stack */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): IdentityProvider {
    return new this(name, {} as IdentityProviderArgs, { ...opts, id: uid });
  }
}

export type GetIdentityProviderArgs = GetByUidArgs | GetInGroupArgs;

/** The identity provider with this uid, or of this name in `parent`; without its client secret. */
export const getIdentityProvider = (args: GetIdentityProviderArgs): Promise<IdentityProviderMessage> =>
  getIn<IdentityProviderMessage>(resources.identityProvider, args);

/** getIdentityProvider with inputs that may not be known yet. */
export const getIdentityProviderOutput = (args: GetInGroupOutputArgs): pulumi.Output<IdentityProviderMessage> =>
  getOutput(resources.identityProvider, getIdentityProvider, args);

export type ListIdentityProvidersArgs = ListArgs<ListIdentityProvidersRequest>;

/** Identity providers that the caller may read, without their client secrets. */
export const listIdentityProviders = (args: ListIdentityProvidersArgs = {}) =>
  listRecords<IdentityProviderMessage>(resources.identityProvider, args);
