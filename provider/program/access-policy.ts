// AccessPolicy: from the arguments of a program to a policy, and from the policy to resources (policy-resources.ts).
import { existsSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { mistakeText, parsePolicy, readPolicy } from "../../access/policy/parse.ts";
import type { Policy } from "../../access/policy/policy.ts";
import type { AwsArgs } from "../../access/preset/aws.ts";
import type { BuildkiteArgs } from "../../access/preset/buildkite.ts";
import type { GithubActionsArgs } from "../../access/preset/github-actions.ts";
import type { GitlabArgs } from "../../access/preset/gitlab.ts";
import type { GoogleArgs } from "../../access/preset/google.ts";
import type { KubernetesArgs } from "../../access/preset/kubernetes.ts";
import { projectFolder } from "../../pulumi/project.ts";
import { partsOfUrn } from "../../pulumi/urn.ts";
import { bulleted, suggestion } from "../../schema/index.ts";
import type { Identity as IdentityMessage } from "../../schema/public.ts";
import type { IdentityProvider } from "./generated/identity-provider.ts";
import type { OneOf } from "./inputs.ts";
import {
  checkGivenProviders,
  policyMatch,
  policyMatchByUid,
  policyProviders,
  providersListedBy,
  readPolicyUids,
} from "./policy-match.ts";
import { createPolicyResources, policyForms } from "./policy-resources.ts";
import { pinPosition } from "./position.ts";
import { programError } from "./session.ts";

// The types of a policy that is an object of a program: the same shape as the file, without `include`.

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

interface AccessPolicyFields {
  /**
   * "match" adopts the records with these names in these groups, and creates the others. `{ file }` adopts the records whose uids are in
   * this file, which irm export writes; its path is relative to the folder of the Pulumi project; default: all are created
   */
  adopt?: "match" | { file: string };
  /** Deletes adopted records with their resources; default: they remain */
  deleteAdopted?: boolean;
  /** Removes role bindings that the policy does not declare, in each of its groups, as RoleBindingSet does; default: they remain */
  exclusive?: boolean;
  /** The most role bindings that a run may remove in one group; default: 20 */
  maxRemovals?: number;
  /** Allows a changed `in` to create a new identity, role or group, with a new uid; default: refused in the preview */
  allowReplace?: boolean;
  /** Creates groups, identities and roles even if equal ones exist that this stack did not create; default: the update refuses them */
  allowDuplicate?: boolean;
  /**
   * Identity providers that `people` names, by name: resources of this program or uids; default: each is looked up by its name in the
   * organization
   */
  identityProviders?: Record<string, IdentityProvider | pulumi.Input<string>>;
}

/** A policy: a file, or an object of the program. */
export type AccessPolicyArgs = AccessPolicyFields &
  (
    | {
        /** The policy file, relative to the folder of the Pulumi project; give this or `policy` */
        file: string;
        policy?: undefined;
      }
    | {
        /** The policy as an object, in the shape of the file */
        policy: PolicyDocument;
        file?: undefined;
      }
  );

/**
 * AccessPolicy: the resources of a policy (docs/policy.md): its groups, roles, identities, and who has which role where. Their logical
 * names come from the keys of the policy, never from its order.
 *
 * Errors: the preview reports all mistakes of the policy in one error, each with its place. Each resource reports its own errors.
 *
 * @example
 * ```ts
 * new AccessPolicy("access", { file: "access.yaml", exclusive: true });
 * ```
 */
export class AccessPolicy extends pulumi.ComponentResource {
  /** uid of the organization */
  declare readonly organization: pulumi.Output<string>;
  /** uids of the groups, by path: `platform/registry` */
  declare readonly groups: Record<string, pulumi.Output<string>>;
  /** uids of the identities, by key */
  declare readonly identities: Record<string, pulumi.Output<string>>;
  /** uids of the custom roles, by key */
  declare readonly roles: Record<string, pulumi.Output<string>>;

  /** `name` is the logical name of the component; the names of its resources begin with it. */
  constructor(name: string, args: AccessPolicyArgs, opts: pulumi.ComponentResourceOptions = {}) {
    const policy = policyFrom(name, args);
    const uids = typeof args.adopt === "object" ? readPolicyUids(name, inProject(args.adopt.file)) : undefined;
    const unpin = pinPosition(new.target);
    try {
      super("irm:index:AccessPolicy", name, {}, opts);
    } finally {
      unpin();
    }
    const { classes, client } = policyForms.of(new.target);
    const { adopt, deleteAdopted, exclusive, maxRemovals, allowReplace, allowDuplicate, identityProviders } = args;
    const listProviders = providersListedBy(() => client(this));
    const match =
      uids === undefined
        ? adopt && policyMatch(name, policy, client(this), listProviders)
        : policyMatchByUid(policy, uids, client(this));
    const formerNames = (opts.aliases ?? []).flatMap((alias) => {
      if (typeof alias === "string") return partsOfUrn(alias).name;
      return "name" in alias && typeof alias.name === "string" ? alias.name : [];
    });
    const { organization, groups, identities, roles } = createPolicyResources(policy, {
      ...{ name, formerNames, parent: this, dependsOn: opts.dependsOn, classes, match },
      providersIn: (own) => policyProviders(name, own, listProviders, identityProviders),
      ...{ deleteAdopted, exclusive, maxRemovals, allowReplace, allowDuplicate },
    });
    const outputs = {
      organization: typeof organization === "string" ? pulumi.output(organization) : organization.uid,
      groups: uidsOf(groups),
      identities: uidsOf(identities),
      roles: uidsOf(roles),
    };
    Object.assign(this, outputs);
    this.registerOutputs(outputs);
  }
}

const uidsOf = (made: ReadonlyMap<string, { uid: pulumi.Output<string> }>): Record<string, pulumi.Output<string>> =>
  Object.fromEntries([...made].map(([key, { uid }]) => [key, uid]));

const ARGUMENTS = [
  "file",
  "policy",
  "adopt",
  "deleteAdopted",
  "exclusive",
  "maxRemovals",
  "allowReplace",
  "allowDuplicate",
  "identityProviders",
];

/** Throws one error with every mistake. */
const policyFrom = (name: string, args: AccessPolicyArgs): Policy => {
  const { file, policy: document, adopt, identityProviders } = args ?? {};
  const problems = Object.keys(args ?? {})
    .filter((key) => !ARGUMENTS.includes(key))
    .map((key) => `${key}: unknown argument${suggestion(key, ARGUMENTS)}`);
  if ((file === undefined) === (document === undefined)) problems.push("exactly one of file and policy is required");
  if (file !== undefined && typeof file !== "string")
    problems.push("file: must be the name of a file, as a plain string");
  if (adopt !== undefined && adopt !== "match" && typeof adopt?.file !== "string")
    problems.push('adopt: must be "match", or { file } with the name of a file of uids');
  if (problems.length > 0) throw programError(bulleted(`AccessPolicy ${name}:`, ...problems));
  const { policy, mistakes } =
    // Only the preview knows whether the organization exists (policy-match.ts).
    file === undefined ? parsePolicy(document) : readPolicy(inProject(file));
  if (policy) {
    checkGivenProviders(name, policy, identityProviders);
    return policy;
  }
  const count = mistakes.length === 1 ? "a mistake" : `${mistakes.length} mistakes`;
  throw programError(bulleted(`AccessPolicy ${name}: the policy has ${count}:`, ...mistakes.map(mistakeText)));
};

/** The file, relative to the working folder, so that messages name it as people do. `main` of a project may have another working folder. */
const inProject = (file: string) => {
  if (isAbsolute(file)) return file;
  const working = process.cwd();
  const folder = projectFolder(working, existsSync);
  // An inline program of the Automation API has no project file.
  return folder === undefined ? file : relative(working, resolve(folder, file));
};
