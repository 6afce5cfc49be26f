// Generated from schema/ by `npm run generate`; not to be edited.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../../schema/index.ts";
import type { ListTagsRequest, Tag as TagMessage } from "../../../schema/public.ts";
import { type GetByUidArgs, type Inputs, type ListArgs, get, getOutput, listRecords } from "../get.ts";
import { IrmResource } from "../resource.ts";
import type { Repo } from "./repo.ts";

/**
 * What a Tag takes.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `tag.create`, and with NOT_FOUND a parent, or another record that is referred
 * to, which does not exist.
 *
 * @example
 * ```ts
 * new Tag("server-stable", {
 *   parent: server,
 *   name: "stable",
 *   digest: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
 * });
 * ```
 */
export interface TagArgs {
  /** The repo that the tag belongs to: a Repo or a uid; a change creates a new tag before the old one is deleted */
  parent: Repo | pulumi.Input<string>;
  /** At most 128 characters; unique in its repo; a change creates a new tag before the old one is deleted */
  name: pulumi.Input<string>;
  /** Digest of the manifest: `sha256:` and 64 hexadecimal digits; a change moves the tag */
  digest: pulumi.Input<string>;
  /** Marks the tag as deprecated; default: false */
  deprecated?: pulumi.Input<boolean>;
  /** Bundles that the image belongs to, such as `base`; order and duplicates do not matter; default: empty */
  bundles?: pulumi.Input<pulumi.Input<string>[]>;
  /** Accepted as on every resource; a tag may always be replaced; default: false */
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
}

/**
 * Tag: a name in a repo that points to an image.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `tag.create`, and with NOT_FOUND a parent, or another record that is referred
 * to, which does not exist.
 *
 * @example
 * ```ts
 * new Tag("server-stable", {
 *   parent: server,
 *   name: "stable",
 *   digest: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
 * });
 * ```
 */
export class Tag extends IrmResource {
  /** uid of the repo that the tag belongs to */
  declare readonly parent: pulumi.Output<string>;
  /** At most 128 characters; unique in its repo */
  declare readonly name: pulumi.Output<string>;
  /** Digest of the manifest: `sha256:` and 64 hexadecimal digits */
  declare readonly digest: pulumi.Output<string>;
  /** When the tag was created, or last moved: RFC 3339, UTC */
  declare readonly updateTime: pulumi.Output<string>;
  /** Marks the tag as deprecated; default: false */
  declare readonly deprecated: pulumi.Output<boolean | undefined>;
  /** Bundles that the image belongs to, such as `base`; order and duplicates do not matter */
  declare readonly bundles: pulumi.Output<string[] | undefined>;

  /** `name` is its logical name, unique among the resources of its type in the stack. */
  constructor(name: string, args: TagArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("tag", name, args, opts);
  }

  /**
   * The tag with this uid, as it is: read in each run, and never changed or deleted by this stack. NOT_FOUND is an
   * error.
   */
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

/** The same with inputs that may not be known yet. */
export type GetTagOutputArgs =
  | Inputs<GetByUidArgs>
  | {
      /** The whole name */
      name: pulumi.Input<string>;
      /** The repo that it belongs to: a Repo or a uid */
      repo: Repo | pulumi.Input<string>;
    };

/**
 * The tag with this uid, or of this name in `repo`.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `tag.list`.
 *
 * @example
 * ```ts
 * const found = await getTag({ name: "acme", repo: nginx.uid });
 * ```
 */
export const getTag = (args: GetTagArgs): Promise<TagMessage> =>
  get<TagMessage>(resources.tag, args);

/**
 * getTag with inputs that may not be known yet. In a preview that does not know them, its value is not known.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `tag.list`.
 *
 * @example
 * ```ts
 * const found = getTagOutput({ name: "acme", repo: nginx.uid });
 * ```
 */
export const getTagOutput = (args: GetTagOutputArgs): pulumi.Output<TagMessage> =>
  getOutput<TagMessage>(resources.tag, args);

/** Filters of listTags, ANDed, its order and its page size; default: every record that the caller may read. */
export type ListTagsArgs = ListArgs<ListTagsRequest>;

/**
 * Tags that the caller may read. Three kinds are left out unless they are asked for: `includeReferrers`
 * (`sha256-*`), `includeDates` (`*-20yymmdd`), `includeEpochs` (`*-r[0-9]+`).
 *
 * All pages, read while the program iterates. Errors: PERMISSION_DENIED without `tag.list`; INVALID_ARGUMENT for a
 * filter that is none.
 *
 * @example
 * ```ts
 * for await (const tag of listTags({ uidp: { descendantsOf: organization } })) console.log(tag.uid);
 * ```
 */
export const listTags = (args: ListTagsArgs = {}): AsyncGenerator<TagMessage, void, undefined> =>
  listRecords<TagMessage>(resources.tag, args);
