// Buildkite: https://buildkite.com/docs/pipelines/security/oidc. The subject ends with the commit and the key of the step, which may be
// empty, so it is always a pattern. Neither contains a colon, so a branch with a colon cannot pass for another one.
import {
  audienceField,
  type ClaimMatchRelationship,
  oneSegment,
  type Preset,
  presetFunction,
  refFields,
  segment,
  subjectOf,
} from "./preset.ts";

/** Exactly one of branch and tag. */
export interface BuildkiteArgs {
  /** Slug of the organization */
  organization: string;
  /** Slug of the pipeline; `*` for every pipeline */
  pipeline: string;
  /** Name of a branch: `main`, `release/*`; default: any */
  branch?: string;
  /** Name of a tag: `v*`; default: any */
  tag?: string;
  /** `aud` of the token; default: what this service accepts by itself */
  audience?: string;
}

export const BUILDKITE_ISSUER = "https://agent.buildkite.com";

const relationship = ({ organization, pipeline, branch, tag, audience }: BuildkiteArgs): ClaimMatchRelationship => {
  const ref = branch === undefined ? `refs/tags/${tag}` : `refs/heads/${branch}`;
  return {
    claimMatch: {
      issuer: BUILDKITE_ISSUER,
      ...subjectOf(`organization:${organization}:pipeline:${pipeline}:ref:${ref}`, {
        pattern: ":commit:[^:]*:step:[^:]*",
      }),
      audience,
    },
  };
};

export const buildkitePreset: Preset<BuildkiteArgs, ClaimMatchRelationship> = {
  title: "Buildkite",
  fields: {
    organization: { description: "slug of the organization", violation: oneSegment("organization") },
    pipeline: { description: "slug of the pipeline; * for every pipeline", violation: segment },
    ...refFields,
    audience: audienceField,
  },
  choice: ["branch", "tag"],
  relationship,
};

/**
 * Assumed by the jobs of a pipeline. Errors: an argument that breaks a rule is a TypeError that names each problem.
 *
 * @example
 * ```ts
 * new Identity("ci", { parent: platform, name: "ci", ...buildkite({ organization: "acme", pipeline: "images", branch: "main" }) });
 * ```
 */
export const buildkite = presetFunction("buildkite", buildkitePreset);
