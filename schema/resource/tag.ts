// Tag: a name in a repo that points to an image. No method updates it: creating an existing tag moves it.
import { z } from "zod";
import { bool, message, optional, output, plain, required, string, timestamp } from "../field.ts";
import { rows, standardMethods } from "../operation.ts";
import { resource } from "../resource.ts";
import { bundle, matching, tagName } from "../text.ts";
import { uidp } from "../uidp.ts";

const DIGEST_TEXT = 'digest must match "^sha256:[0-9a-f]{64}$"';

export const Tag = message("registry.Tag", {
  uid: output(1, uidp, "uid of its repo, then a segment of its own"),
  name: required(2, tagName, "At most 128 characters; unique in its repo", {
    argumentText:
      "At most 128 characters; unique in its repo; a change creates a new tag before the old one is deleted",
    createOnly: true,
  }),
  digest: required(
    3,
    matching(/^sha256:[0-9a-f]{64}$/, DIGEST_TEXT),
    "Digest of the manifest: `sha256:` and 64 hexadecimal digits",
    { argumentText: "Digest of the manifest: `sha256:` and 64 hexadecimal digits; a change moves the tag" },
  ),
  updateTime: output(4, timestamp, "When the tag was created, or last moved: RFC 3339, UTC"),
  deprecated: optional(5, bool, "Marks the tag as deprecated; default: false"),
  bundles: optional(
    6,
    z.array(bundle, { error: "must be a list of strings" }),
    "Bundles that the image belongs to, such as `base`; order and duplicates do not matter",
    { list: "set" },
  ),
});
export type Tag = z.infer<typeof Tag>;

/** Tags that a list leaves out by default, by the field that includes them. */
export const HIDDEN_TAGS = {
  includeReferrers: /^sha256-/,
  includeDates: /-20\d{6}$/,
  includeEpochs: /-r\d+$/,
} as const;

const standard = standardMethods(Tag, "tag", "tags");
const tagOperations = rows("registry.TagsService", "/registry/{version}", {
  GetTag: standard.get("tag.list"),
  ListTags: standard.list(
    "tag.list",
    {
      name: plain(2, string, "The whole name"),
      updatedSince: plain(3, timestamp, "Tags that were updated after this time"),
      includeReferrers: plain(4, bool, "Includes `sha256-*`"),
      includeDates: plain(5, bool, "Includes `*-20yymmdd`"),
      includeEpochs: plain(6, bool, "Includes `*-r[0-9]+`"),
      digest: plain(7, string, "Digest of the manifest"),
    },
    10,
  ),
  // An upsert by name (docs/internals/contract.md#d19).
  CreateTag: standard.create("tag.create"),
  DeleteTag: standard.delete("tag.delete"),
});

export const tag = resource("Tag", tagOperations, {
  texts: {
    about: "a name in a repo that points to an image.",
    parent: {
      argument:
        "The repo that the tag belongs to: a Repo or a uid; a change creates a new tag before the old one is deleted",
      output: "uid of the repo that the tag belongs to",
    },
    allowReplace: "Accepted as on every resource; a tag may always be replaced; default: false",
    lookUp: { by: "uid or name", text: "The tag with this uid, or of this name in `repo`." },
    list: "Tags that the caller may read. Three kinds are left out unless they are asked for: `includeReferrers` (`sha256-*`), `includeDates` (`*-20yymmdd`), `includeEpochs` (`*-r[0-9]+`).",
  },
  schema: Tag,
  parent: "Repo",
  unique: ["name"],
  givesNoAccess: true,
  upsert: true,
  always: Object.fromEntries(Object.keys(HIDDEN_TAGS).map((field) => [field, true])),
});
