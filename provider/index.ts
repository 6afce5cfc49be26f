// pulumi-irm: access as code. Resources, look-ups and lists for Pulumi programs.
export * from "../access/preset/index.ts";
export * from "./program/access-policy.ts";
export * from "./program/account-association.ts";
export * from "./program/custom-overlay.ts";
export type { GetArgs, GetByUidArgs } from "./program/get.ts";
export * from "./program/group.ts";
export * from "./program/group-invite.ts";
export * from "./program/identity.ts";
export * from "./program/identity-provider.ts";
export type { BoundRecord } from "./program/inputs.ts";
export * from "./program/policy-document.ts";
export * from "./program/repo.ts";
export * from "./program/role.ts";
export * from "./program/role-binding.ts";
export * from "./program/role-binding-set.ts";
export * from "./program/tag.ts";
