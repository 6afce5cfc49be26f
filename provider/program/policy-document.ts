// The types of a policy that is an object of a program: the same shape as the file, without `include`.
import type { AwsArgs } from "../../access/preset/aws.ts";
import type { BuildkiteArgs } from "../../access/preset/buildkite.ts";
import type { GithubActionsArgs } from "../../access/preset/github-actions.ts";
import type { GitlabArgs } from "../../access/preset/gitlab.ts";
import type { GoogleArgs } from "../../access/preset/google.ts";
import type { KubernetesArgs } from "../../access/preset/kubernetes.ts";
import type { Identity as IdentityMessage } from "../../schema/public.ts";
import type { OneOf } from "./inputs.ts";

interface RecordDocument {
  /** Name of the record; default: the key */
  name?: string;
  /** The key that it had before: the record keeps its uid */
  was?: string;
  /** One line, at most 512 characters; default: empty */
  description?: string;
}

/** A group of a policy, with the groups below it. */
export interface PolicyGroupDocument extends RecordDocument {
  /** The groups below, by name; default: none */
  groups?: Record<string, PolicyGroupDocument | null>;
}

interface InGroup extends RecordDocument {
  /** Path of its group, such as `platform/registry`; default: the organization */
  in?: string;
}

/** Assumed by a workload: a preset, or a relationship as an Identity has it. */
export type PolicyIdentityDocument = InGroup &
  OneOf<{
    /** GitHub Actions: `{ repository: "acme/images", branch: "main" }` */
    github: GithubActionsArgs;
    /** GitLab: `{ project: "acme/images", branch: "main" }` */
    gitlab: GitlabArgs;
    /** Buildkite: `{ organization: "acme", pipeline: "images", branch: "main" }` */
    buildkite: BuildkiteArgs;
    /** Kubernetes: `{ issuer: "https://…", namespace: "prod", serviceAccount: "deployer" }` */
    kubernetes: KubernetesArgs;
    /** Google: a service account */
    google: GoogleArgs;
    /** AWS: a role */
    aws: AwsArgs;
    /** A token whose claims match */
    claimMatch: NonNullable<IdentityMessage["claimMatch"]>;
    /** A token that one of these public keys has signed */
    staticKeys: NonNullable<IdentityMessage["staticKeys"]>;
    /** An AWS principal */
    awsIdentity: NonNullable<IdentityMessage["awsIdentity"]>;
  }>;

/** A custom role of a policy. */
export interface PolicyRoleDocument extends InGroup {
  /** What the role grants: `repo.list` */
  can: string[];
}

/** The people of an identity provider of the organization. Its default role is the identity provider's own. */
export interface PolicyPeopleDocument {
  /** Roles of the people whose sign-in names this group, by its id at the identity provider: built-in ones, or keys of `roles` */
  externalGroups: Record<string, string[]>;
}

/** Who may do what, by name: the shape of a policy file (docs/policy.md). */
export interface PolicyDocument {
  /** Name of the organization that is created, or the uid of one that exists */
  organization:
    | string
    | {
        /** Name of the organization that is created */
        name: string;
        /** One line, at most 512 characters; default: empty */
        description?: string;
      }
    | {
        /** uid of an organization that exists */
        uid: string;
      };
  /** The groups, by name; default: none */
  groups?: Record<string, PolicyGroupDocument | null>;
  /** Who may act, by name; default: none */
  identities?: Record<string, PolicyIdentityDocument>;
  /** Custom roles, by name; default: none */
  roles?: Record<string, PolicyRoleDocument>;
  /** Who has which role where: path of a group (`/` is the organization), role, identities; default: none */
  access?: Record<string, Record<string, string[]>>;
  /** Roles that people have at the organization, by name of an identity provider of it, which the policy does not create; default: none */
  people?: Record<string, PolicyPeopleDocument>;
}
