// Generated from schema/ by `npm run generate`; not to be edited.
import { registerNative } from "../../form.ts";
import * as dynamic from "../index.ts";

/**
 * AccountAssociation, served by the plugin: the accounts that a group has with cloud providers, and its
 * installations of GitHub apps.
 *
 * Errors: those of this class in pulumi-irm, each with its property.
 *
 * @example
 * ```ts
 * new AccountAssociation("cluster-accounts", {
 *   parent: clusters,
 *   name: "cluster accounts",
 *   amazon: { account: "123456789012" },
 *   google: { projectId: "acme-production", projectNumber: "123456789012" },
 *   azure: {
 *     tenantId: "72f988bf-86f1-41af-91ab-2d7cd011db47",
 *     clientIds: { SYNCER: "00000000-0000-0000-0000-000000000001" },
 *   },
 *   chainguard: { serviceBindings: { SYNCER: syncer } },
 *   github: { appInstallations: { "12345": { installations: [{ installationId: "67890", name: "acme" }] } } },
 * });
 * ```
 */
export class AccountAssociation extends dynamic.AccountAssociation {}

/**
 * ExternalGroupRoleMapping, served by the plugin: grants a role at the organization to the people whose sign-in
 * names a group of their identity provider.
 *
 * Errors: those of this class in pulumi-irm, each with its property.
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
export class ExternalGroupRoleMapping extends dynamic.ExternalGroupRoleMapping {}

/**
 * Group, served by the plugin: a node of the hierarchy; one without a parent is an organization.
 *
 * Errors: those of this class in pulumi-irm, each with its property.
 *
 * @example
 * ```ts
 * const engineering = new Group("engineering", {
 *   parent: organization,
 *   name: "engineering",
 *   description: "Everybody who builds the product",
 * });
 *
 * const preview = new Group("preview-environments", {
 *   parent: engineering,
 *   name: "preview environments",
 *   forceDestroy: true,        // its content is short-lived, and not all of it is in this program
 *   forceDestroyMax: 20,
 * });
 * ```
 */
export class Group extends dynamic.Group {}

/**
 * GroupInvite, served by the plugin: a code that lets a person without an identity join a group, with a role. Any
 * change creates a new invite with a new code, and then deletes the old one.
 *
 * Errors: those of this class in pulumi-irm, each with its property.
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
export class GroupInvite extends dynamic.GroupInvite {}

/**
 * Identity, served by the plugin: a caller of the API. A workload assumes it with a token whose claims match, with
 * its own key, or as an AWS principal.
 *
 * Errors: those of this class in pulumi-irm, each with its property.
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
export class Identity extends dynamic.Identity {}

/**
 * IdentityProvider, served by the plugin: where the people of an organization sign in.
 *
 * Errors: those of this class in pulumi-irm, each with its property.
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
export class IdentityProvider extends dynamic.IdentityProvider {}

/**
 * Repo, served by the plugin: a repository of images, either your own or synced from another repository.
 *
 * Errors: those of this class in pulumi-irm, each with its property.
 *
 * @example
 * ```ts
 * const nginx = new Repo("nginx", {
 *   parent: catalog,
 *   name: "nginx",
 *   description: "The web server",
 *   bundles: ["application"],
 *   aliases: ["web:latest"],
 *   activeTags: ["latest", "1.27"],
 *   customOverlay: {
 *     contents: { packages: ["bash", "curl"] },
 *     environment: { TZ: "UTC" },
 *   },
 * });
 *
 * // Has the tier, bundles, aliases and active tags of its source.
 * new Repo("nginx-mirror", { parent: catalog, name: "nginx-mirror", syncConfig: { source: nginx } });
 * ```
 */
export class Repo extends dynamic.Repo {}

/**
 * Role, served by the plugin: a set of capabilities, defined in a group and granted by role bindings there and
 * below.
 *
 * Errors: those of this class in pulumi-irm, each with its property.
 *
 * @example
 * ```ts
 * const auditor = new Role("auditor", {
 *   parent: registry,
 *   name: "auditor",
 *   description: "Reads who may do what",
 *   capabilities: ["groups.list", "identity.list", "roles.list", "role_bindings.list"],
 * });
 * ```
 */
export class Role extends dynamic.Role {}

/**
 * RoleBinding, served by the plugin: grants a role to an identity at a group and everything below it.
 *
 * Errors: those of this class in pulumi-irm, each with its property.
 *
 * @example
 * ```ts
 * const binding = new RoleBinding("deploy-edits-shop", { parent: shop, identity: deploy, role: "editor" });
 * ```
 */
export class RoleBinding extends dynamic.RoleBinding {}

/**
 * Tag, served by the plugin: a name in a repo that points to an image.
 *
 * Errors: those of this class in pulumi-irm, each with its property.
 *
 * @example
 * ```ts
 * new Tag("server-stable", {
 *   parent: server,
 *   name: "stable",
 *   digest: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
 * });
 * ```
 */
export class Tag extends dynamic.Tag {}

/**
 * RoleBindingSet, served by the plugin: all role bindings of one group as one resource, so that the engine handles
 * few resources instead of thousands.
 *
 * Errors: those of this class in pulumi-irm, each with its property.
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
export class RoleBindingSet extends dynamic.RoleBindingSet {}

registerNative(AccountAssociation, ExternalGroupRoleMapping, Group, GroupInvite, Identity, IdentityProvider, Repo, Role, RoleBinding, Tag, RoleBindingSet);
