// Generated from schema/ by `npm run generate`; not to be edited.
export * from "./account-association.ts";
export * from "./bound-record.ts";
export * from "./external-group-role-mapping.ts";
export * from "./group-invite.ts";
export * from "./group.ts";
export * from "./identity-provider.ts";
export * from "./identity.ts";
export * from "./repo.ts";
export * from "./role-binding-set.ts";
export * from "./role-binding.ts";
export * from "./role.ts";
export * from "./tag.ts";
