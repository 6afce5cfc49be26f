// The presets of CI systems and clouds, by the word that a policy file has for each.
import { awsPreset } from "./aws.ts";
import { buildkitePreset } from "./buildkite.ts";
import { githubActionsPreset } from "./github-actions.ts";
import { gitlabPreset } from "./gitlab.ts";
import { googlePreset } from "./google.ts";
import { kubernetesPreset } from "./kubernetes.ts";
import type { Preset } from "./preset.ts";

export const presets = {
  github: githubActionsPreset,
  gitlab: gitlabPreset,
  buildkite: buildkitePreset,
  kubernetes: kubernetesPreset,
  google: googlePreset,
  aws: awsPreset,
} satisfies Record<string, Preset>;

export type PresetName = keyof typeof presets;

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
