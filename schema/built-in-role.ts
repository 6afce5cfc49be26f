// The names of the published built-in roles (docs/contract.md#built-in-roles). A service may have more.

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

export type BuiltInRole = (typeof BUILT_IN_ROLES)[number];
