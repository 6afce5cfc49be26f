// Generated from schema/ by `npm run generate`; not to be edited.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../../schema/index.ts";
import type { CatalogTier as CatalogTierValue, ListReposRequest, Repo as RepoMessage } from "../../../schema/public.ts";
import { type GetByUidArgs, type GetInGroupArgs, type ListArgs, get, getOutput, listRecords } from "../get.ts";
import { IrmResource } from "../resource.ts";
import type { GetInGroupOutputArgs, Group } from "./group.ts";

/** A file by its name. */
export interface NamedContent {
  /** Name of the file */
  name: pulumi.Input<string>;
  /** Text of the file */
  content: pulumi.Input<string>;
}

/** A user of the image. */
export interface OverlayUser {
  /** Name of the user */
  username: pulumi.Input<string>;
  /** Number of the user; default: 0 */
  uid?: pulumi.Input<number>;
  /** Number of its main group; default: 0 */
  gid?: pulumi.Input<number>;
  /** Name of its main group; default: none */
  groupName?: pulumi.Input<string>;
  /** Path of the shell; default: none */
  shell?: pulumi.Input<string>;
  /** Path of the home directory; default: none */
  homeDir?: pulumi.Input<string>;
}

/** A group of the image. */
export interface OverlayGroup {
  /** Name of the group */
  groupname: pulumi.Input<string>;
  /** Number of the group; default: 0 */
  gid?: pulumi.Input<number>;
  /** Names of users; default: empty */
  members?: pulumi.Input<pulumi.Input<string>[]>;
}

/** What a repo adds to each of its images or removes from it. */
export interface CustomOverlay {
  /** Packages, and the repositories that they come from; default: none */
  contents?: pulumi.Input<{
    /** Packages that are added; default: empty */
    packages?: pulumi.Input<pulumi.Input<string>[]>;
    /** Where packages come from at run time; the first has precedence; default: empty */
    runtimeRepositories?: pulumi.Input<pulumi.Input<string>[]>;
    /** Keys of those repositories; default: empty */
    runtimeKeyring?: pulumi.Input<pulumi.Input<NamedContent>[]>;
  }>;
  /** Variables, by name; no name may begin with `CHAINGUARD_`; default: empty */
  environment?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Annotations, by key; no key may begin with `dev.chainguard.` or `org.opencontainers.`; default: empty */
  annotations?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Users and groups of the image; default: none */
  accounts?: pulumi.Input<{
    /** User that the image runs as: a name or a number; default: none */
    runAs?: pulumi.Input<string>;
    /** Users that are added; their order does not matter; default: empty */
    users?: pulumi.Input<pulumi.Input<OverlayUser>[]>;
    /** Groups that are added; their order does not matter; default: empty */
    groups?: pulumi.Input<pulumi.Input<OverlayGroup>[]>;
  }>;
  /** Certificate authorities that the image trusts; default: none */
  certificates?: pulumi.Input<{
    /** PEM certificates to trust besides the usual ones; default: empty */
    additional?: pulumi.Input<pulumi.Input<NamedContent>[]>;
    /** Trust stores that get them; default: empty */
    providers?: pulumi.Input<pulumi.Input<string>[]>;
  }>;
}

/** Where images come from. The repo then has the source's catalog tier, bundles, aliases and active tags. */
export interface SyncConfig {
  /**
   * The repo to sync from: a Repo, its uid, its path (`chainguard/nginx`), or its image
   * (`registry.example.com/chainguard/nginx`)
   */
  source: Repo | pulumi.Input<string>;
  /** Registry at Google Cloud that images are copied to; default: none */
  google?: pulumi.Input<string>;
  /** Registry at AWS that images are copied to; default: none */
  amazon?: pulumi.Input<string>;
  /** Registry at Azure that images are copied to; default: none */
  azure?: pulumi.Input<string>;
}

/** Part of the catalog, by its name in the API. */
export type CatalogTier = CatalogTierValue;

interface RepoFields {
  /** The group that the repo belongs to: a Group or a uid */
  parent: Group | pulumi.Input<string>;
  /** Without white space, at most 255 characters; unique in its group */
  name: pulumi.Input<string>;
  /** One line, at most 512 characters; default: empty, or the source's */
  description?: pulumi.Input<string>;
  /** What is added to each image or removed from it; default: none */
  customOverlay?: pulumi.Input<CustomOverlay>;
  /**
   * Allows a change of parent to create a new repo, without the images and tags of the old one; default: refused in
   * the preview
   */
  allowReplace?: boolean;
  /**
   * Adopts an existing record: its uid, or "match" for the only one with this parent and name (for a role binding:
   * with this identity and role; for a group invite: with this role and address; for an account association: in
   * this group; for a mapping of an external group: with all its fields). It remains when the resource is deleted.
   * Default: a new record is created
   */
  adopt?: pulumi.Input<string>;
  /** Deletes an adopted record with the resource; default: it remains */
  deleteAdopted?: boolean;
  /** Also deletes its tags that this run does not delete; default: they prevent the deletion */
  forceDestroy?: boolean;
}

/**
 * What a Repo takes.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `repo.create`, and with NOT_FOUND a parent, or another record that is referred
 * to, which does not exist.
 *
 * @example
 * ```ts
 * const nginx = new Repo("nginx", {
 *   parent: catalog,
 *   name: "nginx",
 *   description: "The web server",
 *   bundles: ["application"],
 *   aliases: ["web:latest"],
 *   activeTags: ["latest", "1.27"],
 *   customOverlay: {
 *     contents: { packages: ["bash", "curl"] },
 *     environment: { TZ: "UTC" },
 *   },
 * });
 *
 * // Has the tier, bundles, aliases and active tags of its source.
 * new Repo("nginx-mirror", { parent: catalog, name: "nginx-mirror", syncConfig: { source: nginx } });
 * ```
 */
export type RepoArgs = RepoFields & (
  | {
      /** Syncs the images of another repo */
      syncConfig: SyncConfig;
      catalogTier?: undefined;
      bundles?: undefined;
      aliases?: undefined;
      activeTags?: undefined;
    }
  | {
      syncConfig?: undefined;
      /** Part of the catalog that the images belong to; default: none, or the source's */
      catalogTier?: pulumi.Input<CatalogTier>;
      /**
       * Bundles that the images belong to, such as `base`; order and duplicates do not matter; default: the
       * source's
       */
      bundles?: pulumi.Input<pulumi.Input<string>[]>;
      /**
       * Other names of the image, each with a tag, such as `nginx:latest`; order and duplicates do not matter;
       * default: the source's
       */
      aliases?: pulumi.Input<pulumi.Input<string>[]>;
      /** Tags that are kept up to date; order and duplicates do not matter; default: the source's */
      activeTags?: pulumi.Input<pulumi.Input<string>[]>;
    }
);

/**
 * Repo: a repository of images, either your own or synced from another repository.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `repo.create`, and with NOT_FOUND a parent, or another record that is referred
 * to, which does not exist.
 *
 * @example
 * ```ts
 * const nginx = new Repo("nginx", {
 *   parent: catalog,
 *   name: "nginx",
 *   description: "The web server",
 *   bundles: ["application"],
 *   aliases: ["web:latest"],
 *   activeTags: ["latest", "1.27"],
 *   customOverlay: {
 *     contents: { packages: ["bash", "curl"] },
 *     environment: { TZ: "UTC" },
 *   },
 * });
 *
 * // Has the tier, bundles, aliases and active tags of its source.
 * new Repo("nginx-mirror", { parent: catalog, name: "nginx-mirror", syncConfig: { source: nginx } });
 * ```
 */
export class Repo extends IrmResource {
  /** uid of the group that the repo belongs to */
  declare readonly parent: pulumi.Output<string>;
  /** Without white space, at most 255 characters; unique in its group */
  declare readonly name: pulumi.Output<string>;
  /** One line, at most 512 characters; default: empty, or the source's */
  declare readonly description: pulumi.Output<string | undefined>;
  /** Part of the catalog that the images belong to; default: none, or the source's */
  declare readonly catalogTier: pulumi.Output<NonNullable<RepoMessage["catalogTier"]> | undefined>;
  /**
   * Bundles that the images belong to, such as `base`; order and duplicates do not matter; default: the source's
   */
  declare readonly bundles: pulumi.Output<string[] | undefined>;
  /**
   * Other names of the image, each with a tag, such as `nginx:latest`; order and duplicates do not matter; default:
   * the source's
   */
  declare readonly aliases: pulumi.Output<string[] | undefined>;
  /** Tags that are kept up to date; order and duplicates do not matter; default: the source's */
  declare readonly activeTags: pulumi.Output<string[] | undefined>;
  /** The repo to sync from, by its uid, and when syncing ends */
  declare readonly syncConfig: pulumi.Output<NonNullable<RepoMessage["sync_config"]> | undefined>;
  /** What is added to each image or removed from it */
  declare readonly customOverlay: pulumi.Output<NonNullable<RepoMessage["customOverlay"]> | undefined>;
  /** When it was created: RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;
  /** When it was last changed: RFC 3339, UTC */
  declare readonly updateTime: pulumi.Output<string>;

  /** `name` is its logical name, unique among the resources of its type in the stack. */
  constructor(name: string, args: RepoArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("repo", name, args, opts);
  }

  /**
   * The repo with this uid, as it is: read in each run, and never changed or deleted by this stack. NOT_FOUND is an
   * error.
   */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): Repo {
    return new this(name, {} as RepoArgs, { ...opts, id: uid });
  }
}

/** A repo by its uid, or by its name in a group. */
export type GetRepoArgs = GetByUidArgs | GetInGroupArgs;

/**
 * The repo with this uid, or of this name in `parent`.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `repo.list`.
 *
 * @example
 * ```ts
 * const found = await getRepo({ name: "acme", parent: platform.uid });
 * ```
 */
export const getRepo = (args: GetRepoArgs): Promise<RepoMessage> =>
  get<RepoMessage>(resources.repo, args);

/**
 * getRepo with inputs that may not be known yet. In a preview that does not know them, its value is not known.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `repo.list`.
 *
 * @example
 * ```ts
 * const found = getRepoOutput({ name: "acme", parent: platform.uid });
 * ```
 */
export const getRepoOutput = (args: GetInGroupOutputArgs): pulumi.Output<RepoMessage> =>
  getOutput<RepoMessage>(resources.repo, args);

/** Filters of listRepos, ANDed, its order and its page size; default: every record that the caller may read. */
export type ListReposArgs = ListArgs<ListReposRequest>;

/**
 * Repositories that the caller may read.
 *
 * All pages, read while the program iterates. Errors: PERMISSION_DENIED without `repo.list`; INVALID_ARGUMENT for a
 * filter that is none.
 *
 * @example
 * ```ts
 * for await (const repo of listRepos({ uidp: { descendantsOf: organization } })) console.log(repo.uid);
 * ```
 */
export const listRepos = (args: ListReposArgs = {}): AsyncGenerator<RepoMessage, void, undefined> =>
  listRecords<RepoMessage>(resources.repo, args);
