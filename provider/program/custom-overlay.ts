// CustomOverlay: what a repo puts into each of its images. Lists without order: packages, keyring, users, groups, members,
// certificates, providers. In order: the repositories that packages come from.
import type * as pulumi from "@pulumi/pulumi";

type List<T> = pulumi.Input<pulumi.Input<T>[]>;

/** A file by its name. */
export interface NamedContent {
  /** Name of the file */
  name: pulumi.Input<string>;
  /** Text of the file */
  content: pulumi.Input<string>;
}

export interface OverlayUser {
  /** Name of the user */
  username: pulumi.Input<string>;
  /** Default: 0 */
  uid?: pulumi.Input<number>;
  /** Default: 0 */
  gid?: pulumi.Input<number>;
  /** Name of its main group */
  groupName?: pulumi.Input<string>;
  /** Path of the shell */
  shell?: pulumi.Input<string>;
  /** Path of the home directory */
  homeDir?: pulumi.Input<string>;
}

export interface OverlayGroup {
  /** Name of the group */
  groupname: pulumi.Input<string>;
  /** Default: 0 */
  gid?: pulumi.Input<number>;
  /** Names of users */
  members?: List<string>;
}

export interface CustomOverlay {
  /** Packages, and where they come from */
  contents?: pulumi.Input<{
    /** Packages that are added */
    packages?: List<string>;
    /** Where packages come from at run time, the first one first */
    runtimeRepositories?: List<string>;
    /** Keys of those repositories */
    runtimeKeyring?: List<NamedContent>;
  }>;
  /** Variables; none may begin with `CHAINGUARD_` */
  environment?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** None may begin with `dev.chainguard.` or `org.opencontainers.` */
  annotations?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Users and groups of the image */
  accounts?: pulumi.Input<{
    /** User that the image runs as: a name or a number */
    runAs?: pulumi.Input<string>;
    /** Users that are added; their order means nothing */
    users?: List<OverlayUser>;
    /** Groups that are added; their order means nothing */
    groups?: List<OverlayGroup>;
  }>;
  /** Certificate authorities that the image trusts */
  certificates?: pulumi.Input<{
    /** PEM certificates that are trusted besides the usual ones */
    additional?: List<NamedContent>;
    /** Trust stores that get them */
    providers?: List<string>;
  }>;
}
