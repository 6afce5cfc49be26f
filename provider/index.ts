// pulumi-irm: access as code. Resources, look-ups and lists for Pulumi programs.
export * from "../access/preset/index.ts";
export * from "./program/access-policy.ts";
export * from "./program/generated/index.ts";
export type { GetArgs, GetByUidArgs } from "./program/get.ts";
