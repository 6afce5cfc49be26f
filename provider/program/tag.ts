// Tag: a name in a repo that points to an image.
import type * as pulumi from "@pulumi/pulumi";
import { Tag as TagSchema } from "../../schema/index.ts";
import type { AdoptArgs } from "./adoption.ts";
import { outputNames, referenceUid } from "./reference.ts";
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
    const inputs = { ...args, parent: referenceUid(args.parent, "Repo", "parent") };
    super("tag", "Tag", name, inputs, outputNames(TagSchema), opts);
  }

  /** The tag with this uid, as it is: read in each run, and never changed or deleted by this stack */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): Tag {
    return new Tag(name, {} as TagArgs, { ...opts, id: uid });
  }
}
