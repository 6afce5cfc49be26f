// The presets of CI systems and clouds, as programs call them: `new Identity("release", { …, ...githubActions({ … }) })`.
export type { AwsArgs, AwsRelationship } from "./aws.ts";
export { aws } from "./aws.ts";
export type { BuildkiteArgs } from "./buildkite.ts";
export { buildkite } from "./buildkite.ts";
export type { GithubActionsArgs } from "./github-actions.ts";
export { githubActions } from "./github-actions.ts";
export type { GitlabArgs } from "./gitlab.ts";
export { gitlab } from "./gitlab.ts";
export type { GoogleArgs } from "./google.ts";
export { google } from "./google.ts";
export type { KubernetesArgs } from "./kubernetes.ts";
export { kubernetes } from "./kubernetes.ts";
export type { ClaimMatchRelationship } from "./preset.ts";
