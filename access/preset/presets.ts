// The presets of CI systems and clouds, by their words in a policy file.
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
