// The published built-in roles (docs/contract.md#built-in-roles), and what they grant. A service may have more.
import { isUidp } from "./uidp.ts";

export const BUILT_IN_ROLES = [
  "owner",
  "editor",
  "viewer",
  "limited_owner",
  "console_viewer",
  "registry.pull",
  "registry.push",
  "registry.pull_token_creator",
  "apk.pull",
  "advisories.viewer",
] as const;

// The pattern of the API for names of roles.
const ROLE_NAME = /^[a-z0-9 ._-]{1,255}$/;

/** Whether a text where a uid is allowed names a built-in role. Anything else is a uid, or wrong. */
export const isRoleName = (value: unknown): value is string =>
  typeof value === "string" && !isUidp(value.trim()) && ROLE_NAME.test(value);

export type BuiltInRole = (typeof BUILT_IN_ROLES)[number];

export const isBuiltInRole = (name: string): boolean => (BUILT_IN_ROLES as readonly string[]).includes(name);

const VIEWER = `account_associations.list advisories.list group_invites.list groups.list identity.list
  identity_providers.list manifest.list manifest.metadata.list referrers.list registry.overlays.list repo.blobs.get
  repo.list role_bindings.list roles.list subscriptions.list tag.list terms.list`;

// Published tokens of a viewer and of an owner hold these, beyond the documented lists (docs/contract.md#api-tokens).
const VIEWER_TOKEN = `record_signatures.list sboms.list vuln_reports.list apk.list version.list vuln_report.list
  build_report.list libraries.entitlements.list registry.entitlements.list libraries.artifacts.list
  registry.deployments.list registry.settings.list apk.blobs.get policies.policy.list policies.binding.list
  packages.entitlements.list`;

const REGISTRY_PULL = `groups.list manifest.list manifest.metadata.list referrers.list repo.blobs.get repo.list tag.list`;

const BUNDLES: Readonly<Record<BuiltInRole, string>> = {
  owner: `${VIEWER} ${VIEWER_TOKEN}
    account_associations.create account_associations.delete account_associations.update group_invites.create
    group_invites.delete groups.create groups.delete groups.update identity.create identity.delete identity.update
    identity_providers.create identity_providers.delete identity_providers.scim.manage identity_providers.update
    manifest.create manifest.delete manifest.update registry.overlays.edit repo.check_policies repo.create repo.delete
    repo.update role_bindings.create role_bindings.delete role_bindings.update roles.create roles.delete roles.update
    subscriptions.create subscriptions.delete subscriptions.update tag.create tag.delete tag.update terms.accept
    apk.create apk.delete vuln_report.create vuln.create libraries.entitlements.create libraries.entitlements.delete
    libraries.python.list libraries.java.list libraries.javascript.list libraries.javascript.create
    libraries.java.create libraries.python.create policies.binding.create policies.binding.update
    policies.binding.delete`,
  editor: `${VIEWER} ${VIEWER_TOKEN} registry.overlays.edit repo.create repo.delete repo.update subscriptions.create
    subscriptions.delete subscriptions.update`,
  viewer: `${VIEWER} ${VIEWER_TOKEN}`,
  limited_owner: `${VIEWER} ${VIEWER_TOKEN} identity.create role_bindings.create`,
  console_viewer: `account_associations.list advisories.list group_invites.list groups.list identity.list
    identity_providers.list manifest.list manifest.metadata.list referrers.list registry.overlays.list repo.list
    role_bindings.list roles.list subscriptions.list tag.list`,
  "registry.pull": REGISTRY_PULL,
  "registry.push": `${REGISTRY_PULL} groups.create manifest.create manifest.delete manifest.update repo.create
    repo.delete repo.update tag.create tag.delete tag.update`,
  "registry.pull_token_creator": `${REGISTRY_PULL} identity.create role_bindings.create roles.list`,
  "apk.pull": "groups.list apk.list apk.blobs.get",
  "advisories.viewer": "advisories.list",
};

const splitNames = (names: string): readonly string[] => names.trim().split(/\s+/);

/** Friendly names, such as `groups.list`. */
export const BUILT_IN_ROLE_CAPABILITIES = Object.fromEntries(
  BUILT_IN_ROLES.map((name) => [name, splitNames(BUNDLES[name])]),
) as Record<BuiltInRole, readonly string[]>;
