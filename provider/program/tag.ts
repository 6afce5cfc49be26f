// Tag: a name in a repo that points to an image.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../schema/index.ts";
import type { ListTagsRequest, Tag as TagMessage } from "../../schema/public.ts";
import type { AdoptArgs } from "./adoption.ts";
import { type GetByUidArgs, getIn, getOutput, type Inputs } from "./get.ts";
import { type ListArgs, listRecords } from "./list.ts";
import type { Repo } from "./repo.ts";
import { IrmResource } from "./resource.ts";

export interface TagArgs extends AdoptArgs {
  /** The repo that the tag belongs to: a Repo or a uid; a change creates a new tag before the old one goes */
  parent: Repo | pulumi.Input<string>;
  /** At most 128 characters; unique in its repo; a change creates a new tag before the old one goes */
  name: pulumi.Input<string>;
  /** Digest of the manifest: `sha256:` and 64 hexadecimal digits; a change moves the tag */
  digest: pulumi.Input<string>;
  /** Marks the tag as deprecated; default: false */
  deprecated?: pulumi.Input<boolean>;
  /** Bundles that the image belongs to, such as `base`; order and duplicates mean nothing */
  bundles?: pulumi.Input<pulumi.Input<string>[]>;
  /** Accepted as on every resource; a tag may always be replaced */
  allowReplace?: boolean;
}

export class Tag extends IrmResource {
  /** uid of the repo that the tag belongs to */
  declare readonly parent: pulumi.Output<string>;
  /** As given */
  declare readonly name: pulumi.Output<string>;
  /** As given */
  declare readonly digest: pulumi.Output<string>;
  /** As given */
  declare readonly deprecated: pulumi.Output<boolean | undefined>;
  /** As given */
  declare readonly bundles: pulumi.Output<string[] | undefined>;
  /** RFC 3339, UTC: when the tag was created, or last moved */
  declare readonly updateTime: pulumi.Output<string>;

  constructor(name: string, args: TagArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("tag", name, args, opts);
  }

  /** The tag with this uid, as it is: read in each run, and never changed or deleted by this stack */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): Tag {
    return new this(name, {} as TagArgs, { ...opts, id: uid });
  }
}

/** A tag by its uid, or by its name in a repo. */
export type GetTagArgs =
  | GetByUidArgs
  | {
      /** The whole name */
      name: string;
      /** uid of the repo */
      repo: string;
    };

/** The tag with this uid, or of this name in `repo`. */
export const getTag = (args: GetTagArgs): Promise<TagMessage> => getIn<TagMessage>(resources.tag, args, "repo");

/** The same with inputs that may not be known yet. */
export type GetTagOutputArgs =
  | Inputs<GetByUidArgs>
  | {
      /** The whole name */
      name: pulumi.Input<string>;
      /** The repo that it belongs to: a Repo or a uid */
      repo: Repo | pulumi.Input<string>;
    };

/** getTag with inputs that may not be known yet. */
export const getTagOutput = (args: GetTagOutputArgs): pulumi.Output<TagMessage> =>
  getOutput(resources.tag, getTag, args, "repo");

export type ListTagsArgs = ListArgs<ListTagsRequest>;

/**
 * Tags that the caller may read. Three kinds are left out unless they are asked for: `includeReferrers` (`sha256-*`),
 * `includeDates` (`*-20yymmdd`), `includeEpochs` (`*-r[0-9]+`).
 */
export const listTags = (args: ListTagsArgs = {}) => listRecords<TagMessage>(resources.tag, args);
