// The built-in roles and what they grant in our domains, copied from the vendor's SDK (docs/contract.md#built-in-roles).
export const publishedRoles: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  `
owner: account_associations.create account_associations.delete account_associations.list account_associations.update advisories.list group_invites.create group_invites.delete group_invites.list groups.create groups.delete groups.list groups.update identity.create identity.delete identity.list identity.update identity_providers.create identity_providers.delete identity_providers.list identity_providers.scim.manage identity_providers.update manifest.create manifest.delete manifest.list manifest.metadata.list manifest.update referrers.list registry.overlays.edit registry.overlays.list repo.blobs.get repo.check_policies repo.create repo.delete repo.list repo.update role_bindings.create role_bindings.delete role_bindings.list role_bindings.update roles.create roles.delete roles.list roles.update subscriptions.create subscriptions.delete subscriptions.list subscriptions.update tag.create tag.delete tag.list tag.update terms.accept terms.list
editor: account_associations.list advisories.list group_invites.list groups.list identity.list identity_providers.list manifest.list manifest.metadata.list referrers.list registry.overlays.edit registry.overlays.list repo.blobs.get repo.create repo.delete repo.list repo.update role_bindings.list roles.list subscriptions.create subscriptions.delete subscriptions.list subscriptions.update tag.list terms.list
viewer: account_associations.list advisories.list group_invites.list groups.list identity.list identity_providers.list manifest.list manifest.metadata.list referrers.list registry.overlays.list repo.blobs.get repo.list role_bindings.list roles.list subscriptions.list tag.list terms.list
console_viewer: account_associations.list advisories.list group_invites.list groups.list identity.list identity_providers.list manifest.list manifest.metadata.list referrers.list registry.overlays.list repo.list role_bindings.list roles.list subscriptions.list tag.list
registry.pull: groups.list manifest.list manifest.metadata.list referrers.list repo.blobs.get repo.list tag.list
registry.push: groups.create groups.list manifest.create manifest.delete manifest.list manifest.metadata.list manifest.update referrers.list repo.blobs.get repo.create repo.delete repo.list repo.update tag.create tag.delete tag.list tag.update
registry.pull_token_creator: groups.list identity.create manifest.list manifest.metadata.list referrers.list repo.blobs.get repo.list role_bindings.create roles.list tag.list
apk.pull: groups.list
advisories.viewer: advisories.list
`
    .trim()
    .split("\n")
    .map((line) => line.split(": ") as [string, string])
    .map(([name, capabilities]) => [name, capabilities.split(" ")]),
);
