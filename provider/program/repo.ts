// Repo: a repository of images, of its own or synced from another.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../schema/index.ts";
import type { ListReposRequest, Repo as RepoMessage } from "../../schema/public.ts";
import type { AdoptArgs } from "./adoption.ts";
import type { CustomOverlay } from "./custom-overlay.ts";
import { type GetByUidArgs, type GetInGroupArgs, getIn, getOutput } from "./get.ts";
import type { GetInGroupOutputArgs, Group } from "./group.ts";
import { type ListArgs, listRecords } from "./list.ts";
import { IrmResource } from "./resource.ts";

export type CatalogTier = NonNullable<RepoMessage["catalogTier"]>;

/** Where images come from. The catalog tier, bundles, aliases and active tags are then those of the source. */
export interface SyncConfig {
  /** A Repo, its uid, its path (`chainguard/nginx`) or the image (`registry.example.com/chainguard/nginx`) */
  source: Repo | pulumi.Input<string>;
  /** Registry at Google Cloud that images are copied to */
  google?: pulumi.Input<string>;
  /** Registry at AWS that images are copied to */
  amazon?: pulumi.Input<string>;
  /** Registry at Azure that images are copied to */
  azure?: pulumi.Input<string>;
}

interface RepoFields extends AdoptArgs {
  /** The group that the repo belongs to: a Group or a uid */
  parent: Group | pulumi.Input<string>;
  /** Without white space, at most 255 characters; unique in its group */
  name: pulumi.Input<string>;
  /** One line, at most 512 characters; default: empty, or that of the source */
  description?: pulumi.Input<string>;
  /** What is put into each image, or taken out */
  customOverlay?: pulumi.Input<CustomOverlay>;
  /** Allows a change of parent to create a new repo, without the images and tags of the old one; default: refused in the preview */
  allowReplace?: boolean;
  /** Deletes with the repo tags that this run does not delete; default: they prevent the deletion */
  forceDestroy?: boolean;
}

/** A repo that syncs has what its source has. */
export type RepoArgs = RepoFields &
  (
    | {
        /** Syncs from another repo */
        syncConfig: SyncConfig;
        catalogTier?: undefined;
        bundles?: undefined;
        aliases?: undefined;
        activeTags?: undefined;
      }
    | {
        syncConfig?: undefined;
        /** Part of the catalog that the images belong to; default: none */
        catalogTier?: pulumi.Input<CatalogTier>;
        /** Bundles that the images belong to, such as `base`; order and duplicates mean nothing */
        bundles?: pulumi.Input<pulumi.Input<string>[]>;
        /** Other names of the image, each with a tag, such as `nginx:latest`; order and duplicates mean nothing */
        aliases?: pulumi.Input<pulumi.Input<string>[]>;
        /** Tags that are kept up to date; order and duplicates mean nothing */
        activeTags?: pulumi.Input<pulumi.Input<string>[]>;
      }
  );

export class Repo extends IrmResource {
  /** uid of the group that the repo belongs to */
  declare readonly parent: pulumi.Output<string>;
  /** As given */
  declare readonly name: pulumi.Output<string>;
  /** As given, or that of the source */
  declare readonly description: pulumi.Output<string | undefined>;
  /** As given, or that of the source */
  declare readonly catalogTier: pulumi.Output<CatalogTier | undefined>;
  /** As given, or those of the source */
  declare readonly bundles: pulumi.Output<string[] | undefined>;
  /** As given, or those of the source */
  declare readonly aliases: pulumi.Output<string[] | undefined>;
  /** As given, or those of the source */
  declare readonly activeTags: pulumi.Output<string[] | undefined>;
  /** As given, with the uid of the source and the time at which syncing ends */
  declare readonly syncConfig: pulumi.Output<RepoMessage["sync_config"]>;
  /** As given */
  declare readonly customOverlay: pulumi.Output<RepoMessage["customOverlay"]>;
  /** RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;
  /** RFC 3339, UTC */
  declare readonly updateTime: pulumi.Output<string>;

  constructor(name: string, args: RepoArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("repo", name, args, opts);
  }

  /** The repo with this uid, as it is: read in each run, and never changed or deleted by this stack */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): Repo {
    return new this(name, {} as RepoArgs, { ...opts, id: uid });
  }
}

export type GetRepoArgs = GetByUidArgs | GetInGroupArgs;

/** The repo with this uid, or of this name in `parent`. */
export const getRepo = (args: GetRepoArgs): Promise<RepoMessage> => getIn<RepoMessage>(resources.repo, args);

/** getRepo with inputs that may not be known yet. */
export const getRepoOutput = (args: GetInGroupOutputArgs): pulumi.Output<RepoMessage> =>
  getOutput(resources.repo, getRepo, args);

export type ListReposArgs = ListArgs<ListReposRequest>;

/** Repositories that the caller may read. */
export const listRepos = (args: ListReposArgs = {}) => listRecords<RepoMessage>(resources.repo, args);
