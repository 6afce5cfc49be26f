// GitLab CI/CD: https://docs.gitlab.com/ci/secrets/id_token_authentication/. The subject names the project, and then the branch
// or tag. A merge request's pipeline has the path of its source branch, in the fork if it comes from one.
import {
  audienceField,
  type ClaimMatchRelationship,
  hasWildcard,
  issuerField,
  noColon,
  type Preset,
  presetFunction,
  refFields,
  subjectOf,
} from "./preset.ts";

/** Exactly one of branch and tag. */
export interface GitlabArgs {
  /** Path with its groups: `acme/images`, `acme/platform/images`; `acme/*` for every project directly in acme */
  project: string;
  /** Name of a branch: `main`, `release/*`; default: any */
  branch?: string;
  /** Name of a tag: `v*`; default: any */
  tag?: string;
  /** Whether the branch or tag must be protected; default: not compared */
  protected?: boolean;
  /** Default: `https://gitlab.com`; otherwise the URL of the instance */
  issuer?: string;
  /** `aud` of the token; default: what this service accepts by itself */
  audience?: string;
}

export const GITLAB_ISSUER = "https://gitlab.com";

const projectViolation = (text: string) => {
  const [group = "", ...rest] = text.split("/");
  if (hasWildcard(group)) return "must name one group: * may stand only after the first slash, as in acme/*";
  if (rest.length === 0 || /^\/|\/\/|\/$/.test(text)) return "must be a path such as acme/images";
  return noColon(text);
};

const relationship = (args: GitlabArgs): ClaimMatchRelationship => {
  const { project, branch, tag, issuer = GITLAB_ISSUER, audience } = args;
  const ref = branch === undefined ? `ref_type:tag:ref:${tag}` : `ref_type:branch:ref:${branch}`;
  return {
    claimMatch: {
      issuer,
      ...subjectOf(`project_path:${project}:`, ref),
      audience,
      claims: args.protected === undefined ? undefined : { ref_protected: String(args.protected) },
    },
  };
};

export const gitlabPreset: Preset<GitlabArgs, ClaimMatchRelationship> = {
  title: "GitLab",
  fields: {
    project: {
      description: "path with its groups, such as acme/images, or acme/* for every project directly in acme",
      violation: projectViolation,
    },
    ...refFields,
    protected: {
      description: "whether the branch or tag must be protected; default: not compared",
      optional: true,
      type: "boolean",
    },
    issuer: issuerField("default: https://gitlab.com; otherwise the URL of the instance"),
    audience: audienceField,
  },
  choice: ["branch", "tag"],
  relationship,
};

/**
 * Assumed by the pipelines of a project. Errors: an argument that breaks a rule is a TypeError that names each problem.
 *
 * @example
 * ```ts
 * new Identity("ci", { parent: platform, name: "ci", ...gitlab({ project: "acme/images", branch: "main" }) });
 * ```
 */
export const gitlab = presetFunction("gitlab", gitlabPreset);
