// The roles that exist from the start, readable by all (docs/contract.md#built-in-roles). The uid of `viewer` is the published
// one; the others differ between environments and are fixed here.
import { createHash } from "node:crypto";
import { type BuiltInRole, capabilityFrom } from "../../schema/index.ts";
import { roles } from "../store/shape.ts";
import type { Store } from "../store/store.ts";

const VIEWER = `account_associations.list advisories.list group_invites.list groups.list identity.list
  identity_providers.list manifest.list manifest.metadata.list referrers.list registry.overlays.list repo.blobs.get
  repo.list role_bindings.list roles.list subscriptions.list tag.list terms.list`;

// Held by published tokens of a viewer and of an owner, beyond the documented lists (docs/contract.md#api-tokens).
const VIEWER_TOKEN = `record_signatures.list sboms.list vuln_reports.list apk.list version.list vuln_report.list
  build_report.list libraries.entitlements.list registry.entitlements.list libraries.artifacts.list
  registry.deployments.list registry.settings.list apk.blobs.get policies.policy.list policies.binding.list
  packages.entitlements.list`;

const REGISTRY_PULL = `groups.list manifest.list manifest.metadata.list referrers.list repo.blobs.get repo.list tag.list`;

const BUNDLES: Record<BuiltInRole, string> = {
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

/** The friendly names of each role's capabilities. */
export const bundles: Readonly<Record<BuiltInRole, readonly string[]>> = Object.fromEntries(
  Object.entries(BUNDLES).map(([role, names]) => [role, names.trim().split(/\s+/)]),
) as Record<BuiltInRole, string[]>;

export const isBuiltInRole = (name: string): boolean => Object.hasOwn(BUNDLES, name);

/** uid of a built-in role: one segment, fixed. */
export const builtInRoleUid = (name: string): string =>
  name === "viewer"
    ? "63921b2c44617e3f2603851537be0123af4a57d7"
    : createHash("sha256").update(`built-in role ${name}`).digest("hex").slice(0, 40);

/** Writes missing built-in roles into the store, and updates old ones. */
export const ensureBuiltInRoles = (store: Store, now: number): void =>
  store.transaction(() => {
    for (const [name, names] of Object.entries(bundles)) {
      const uid = builtInRoleUid(name);
      const capabilities = names.map((text) => {
        const capability = capabilityFrom(text);
        if (!capability) throw new TypeError(`built-in role ${name} names an unknown capability: ${text}`);
        return capability;
      });
      const body = { description: `Built-in role: ${name}`, capabilities };
      const stored = store.get(roles, uid);
      if (!stored) store.insert(roles, { uid, createTime: now, updateTime: now, columns: { name }, body });
      else if (JSON.stringify(stored.body) !== JSON.stringify(body))
        store.update(roles, { uid, updateTime: now, columns: { name }, body });
    }
  });
