// Generated from schema/ by `npm run generate`; not to be edited.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../../schema/index.ts";
import type { IdentityProvider as IdentityProviderMessage, IdentityProviderOIDCCorrelationRule as IdentityProviderOIDCCorrelationRuleValue, ListIdentityProvidersRequest } from "../../../schema/public.ts";
import { type GetByUidArgs, type GetInGroupArgs, type ListArgs, get, getOutput, listRecords } from "../get.ts";
import { IrmResource } from "../resource.ts";
import type { GetInGroupOutputArgs, Group } from "./group.ts";
import type { Role } from "./role.ts";

/** How people who sign in are matched to provisioned users, by its name in the API. */
export type CorrelationRule = IdentityProviderOIDCCorrelationRuleValue;

/** A client with a secret, with PKCE (RFC 7636), or with both. */
export type OidcConfig = {
  /** URL of the issuer, with https, byte for byte as in its tokens */
  issuer: pulumi.Input<string>;
  /** Id of the client that is registered with the issuer; not secret */
  clientId: pulumi.Input<string>;
  /** Scopes to request besides `openid`; order and duplicates do not matter; default: empty */
  additionalScopes?: pulumi.Input<pulumi.Input<string>[]>;
  /** Claim that lists the groups of the person who signs in; default: none */
  groupsClaim?: pulumi.Input<string>;
  /**
   * How people who sign in are matched to provisioned users; default: by `sub`. A change creates a new provider,
   * which needs allowReplace
   */
  correlationRule?: pulumi.Input<CorrelationRule>;
} & (
  | {
      /**
       * Secret of the client, at most 4096 characters. Required without `pkceEnabled`, encrypted in the state,
       * never returned by the service
       */
      clientSecret: pulumi.Input<string>;
      /** The client uses PKCE (RFC 7636), with or without a secret; default: false */
      pkceEnabled?: pulumi.Input<boolean>;
    }
  | {
      clientSecret?: undefined;
      /** The client uses PKCE (RFC 7636), with or without a secret; default: false */
      pkceEnabled: pulumi.Input<true>;
    }
);

/**
 * What an IdentityProvider takes.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `identity_providers.create` and `role_bindings.create`, and with NOT_FOUND a
 * parent, or another record that is referred to, which does not exist.
 *
 * @example
 * ```ts
 * new IdentityProvider("login", {
 *   parent: people,
 *   name: "login",
 *   description: "Where our people sign in",
 *   defaultRole: "viewer",
 *   oidc: {
 *     issuer: "https://login.acme.example",
 *     clientId: "irm",
 *     pkceEnabled: true,
 *     additionalScopes: ["email", "profile"],
 *   },
 * });
 * ```
 */
export interface IdentityProviderArgs {
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
  /**
   * Allows a change of parent or correlationRule to create a new provider with a new uid; default: refused in the
   * preview
   */
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
  /**
   * Also deletes its mappings of external groups that this run does not delete; default: they prevent the deletion
   */
  forceDestroy?: boolean;
}

/**
 * IdentityProvider: where the people of an organization sign in.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `identity_providers.create` and `role_bindings.create`, and with NOT_FOUND a
 * parent, or another record that is referred to, which does not exist.
 *
 * @example
 * ```ts
 * new IdentityProvider("login", {
 *   parent: people,
 *   name: "login",
 *   description: "Where our people sign in",
 *   defaultRole: "viewer",
 *   oidc: {
 *     issuer: "https://login.acme.example",
 *     clientId: "irm",
 *     pkceEnabled: true,
 *     additionalScopes: ["email", "profile"],
 *   },
 * });
 * ```
 */
export class IdentityProvider extends IrmResource {
  /** uid of the group whose people sign in there */
  declare readonly parent: pulumi.Output<string>;
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  declare readonly name: pulumi.Output<string>;
  /** One line, at most 512 characters; default: empty */
  declare readonly description: pulumi.Output<string | undefined>;
  /** When it was created: RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;
  /** When it was last changed: RFC 3339, UTC */
  declare readonly updateTime: pulumi.Output<string>;
  /** uid of the role that a first sign-in grants */
  declare readonly defaultRole: pulumi.Output<string>;
  /** OpenID Connect, without the client secret */
  declare readonly oidc: pulumi.Output<Omit<NonNullable<IdentityProviderMessage["oidc"]>, "clientSecret">>;
  /** State of provisioning (SCIM, RFC 7644); absent from lists */
  declare readonly scim: pulumi.Output<NonNullable<IdentityProviderMessage["scim"]> | undefined>;

  /** `name` is its logical name, unique among the resources of its type in the stack. */
  constructor(name: string, args: IdentityProviderArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("identityProvider", name, args, opts);
  }

  /**
   * The identity provider with this uid, as it is: read in each run, and never changed or deleted by this stack.
   * NOT_FOUND is an error.
   */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): IdentityProvider {
    return new this(name, {} as IdentityProviderArgs, { ...opts, id: uid });
  }
}

/** An identity provider by its uid, or by its name in a group. */
export type GetIdentityProviderArgs = GetByUidArgs | GetInGroupArgs;

/**
 * The identity provider with this uid, or of this name in `parent`; without its client secret.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `identity_providers.list`.
 *
 * @example
 * ```ts
 * const found = await getIdentityProvider({ name: "acme", parent: platform.uid });
 * ```
 */
export const getIdentityProvider = (args: GetIdentityProviderArgs): Promise<IdentityProviderMessage> =>
  get<IdentityProviderMessage>(resources.identityProvider, args);

/**
 * getIdentityProvider with inputs that may not be known yet. In a preview that does not know them, its value is not
 * known.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `identity_providers.list`.
 *
 * @example
 * ```ts
 * const found = getIdentityProviderOutput({ name: "acme", parent: platform.uid });
 * ```
 */
export const getIdentityProviderOutput = (args: GetInGroupOutputArgs): pulumi.Output<IdentityProviderMessage> =>
  getOutput<IdentityProviderMessage>(resources.identityProvider, args);

/**
 * Filters of listIdentityProviders, ANDed, its order and its page size; default: every record that the caller may
 * read.
 */
export type ListIdentityProvidersArgs = ListArgs<ListIdentityProvidersRequest>;

/**
 * Identity providers that the caller may read, without their client secrets.
 *
 * All pages, read while the program iterates. Errors: PERMISSION_DENIED without `identity_providers.list`;
 * INVALID_ARGUMENT for a filter that is none.
 *
 * @example
 * ```ts
 * for await (const identityProvider of listIdentityProviders({ uidp: { descendantsOf: organization } })) console.log(identityProvider.uid);
 * ```
 */
export const listIdentityProviders = (args: ListIdentityProvidersArgs = {}): AsyncGenerator<IdentityProviderMessage, void, undefined> =>
  listRecords<IdentityProviderMessage>(resources.identityProvider, args);
