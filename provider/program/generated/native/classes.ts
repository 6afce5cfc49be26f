// Generated from schema/ by `npm run generate`; not to be edited.
import { registerNative } from "../../form.ts";
import * as dynamic from "../index.ts";

/**
 * AccountAssociation, served by the plugin: the accounts of a group at cloud providers, and its installations of
 * GitHub apps.
 *
 * Errors: those of this class in pulumi-irm, each with its property.
 *
 * @example
 * ```ts
 * new AccountAssociation("accounts", { parent: platform, name: "accounts", amazon: { account: "123456789012" } });
 * ```
 */
export class AccountAssociation extends dynamic.AccountAssociation {}

/**
 * ExternalGroupRoleMapping, served by the plugin: the people whose sign-in names a group of their identity provider
 * get a role at the organization.
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
 * const acme = new Group("acme", { root: true, name: "acme" });
 * const platform = new Group("platform", { parent: acme, name: "platform" });
 * ```
 */
export class Group extends dynamic.Group {}

/**
 * GroupInvite, served by the plugin: a code that lets a person without an identity join a group, with a role. Any
 * change creates a new invite with a new code, before the old one ends.
 *
 * Errors: those of this class in pulumi-irm, each with its property.
 *
 * @example
 * ```ts
 * const invite = new GroupInvite("ada", { parent: platform, role: "viewer", ttl: "604800s", email: "ada@acme.example" });
 * ```
 */
export class GroupInvite extends dynamic.GroupInvite {}

/**
 * Identity, served by the plugin: who may call. A workload assumes it by a token whose claims match, by a key of
 * its own, or as an AWS principal.
 *
 * Errors: those of this class in pulumi-irm, each with its property.
 *
 * @example
 * ```ts
 * const ci = new Identity("ci", {
 *   parent: platform,
 *   name: "ci",
 *   claimMatch: { issuer: "https://token.actions.githubusercontent.com", subject: "repo:acme@123456/images@456789:ref:refs/heads/main" },
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
 * const sso = new IdentityProvider("sso", {
 *   parent: acme,
 *   name: "acme-sso",
 *   defaultRole: "viewer",
 *   oidc: { issuer: "https://login.acme.example", clientId: "console", pkceEnabled: true },
 * });
 * ```
 */
export class IdentityProvider extends dynamic.IdentityProvider {}

/**
 * Repo, served by the plugin: a repository of images, of its own or synced from another.
 *
 * Errors: those of this class in pulumi-irm, each with its property.
 *
 * @example
 * ```ts
 * const nginx = new Repo("nginx", { parent: platform, name: "nginx", catalogTier: "CATALOG_TIER_BASE" });
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
 * const reader = new Role("reader", { parent: platform, name: "reader", capabilities: ["groups.list", "repo.list"] });
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
 * new RoleBinding("ci-pushes", { parent: platform, identity: ci, role: "editor" });
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
 * const latest = new Tag("latest", { parent: nginx, name: "latest", digest: `sha256:${"0".repeat(64)}` });
 * ```
 */
export class Tag extends dynamic.Tag {}

/**
 * RoleBindingSet, served by the plugin: all role bindings of one group as one resource, so that thousands of them
 * are few resources to the engine.
 *
 * Errors: those of this class in pulumi-irm, each with its property.
 *
 * @example
 * ```ts
 * new RoleBindingSet("platform", {
 *   parent: platform,
 *   bindings: [
 *     { identity: ci, role: "editor" },
 *     { identity: audit, role: "viewer" },
 *   ],
 * });
 * ```
 */
export class RoleBindingSet extends dynamic.RoleBindingSet {}

registerNative(AccountAssociation, ExternalGroupRoleMapping, Group, GroupInvite, Identity, IdentityProvider, Repo, Role, RoleBinding, Tag, RoleBindingSet);
