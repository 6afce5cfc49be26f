// Tag: a name in a repo that points to an image. There is no update: creating one that exists moves it.
import { z } from "zod";
import { bool, message, optional, output, plain, required, string, timestamp } from "../field.ts";
import { Empty, listRequest, listResponse } from "../list.ts";
import { type Operations, rows } from "../operation.ts";
import { createRequest, getRequest } from "../request.ts";
import { resource } from "../resource.ts";
import { bundle, tagName } from "../text.ts";
import { uidp } from "../uidp.ts";

const DIGEST_TEXT = 'digest must match "^sha256:[0-9a-f]{64}$"';

export const Tag = message("registry.Tag", {
  /** uid of its repo, then a segment of its own */
  uid: output(1, uidp),
  /** unique in its repo: a create of another name makes another tag */
  name: required(2, tagName, { createOnly: true }),
  /** of the manifest */
  digest: required(3, z.string({ error: DIGEST_TEXT }).regex(/^sha256:[0-9a-f]{64}$/, DIGEST_TEXT)),
  updateTime: output(4, timestamp),
  deprecated: optional(5, bool),
  bundles: optional(6, z.array(bundle, { error: "must be a list of strings" }), { list: "set" }),
});
export type Tag = z.infer<typeof Tag>;

/** Tags that a list leaves out by default, by the field that includes them. */
export const HIDDEN_TAGS = {
  includeReferrers: /^sha256-/,
  includeDates: /-20\d{6}$/,
  includeEpochs: /-r\d+$/,
} as const;

const tagOperations = rows("registry.TagsService", "/registry/{version}", {
  GetTag: {
    http: "GET /tags/{uid=**}",
    request: getRequest("registry.GetTagRequest"),
    response: Tag,
    capabilities: ["tag.list"],
    scope: "uid",
  },
  ListTags: {
    http: "GET /tags",
    request: listRequest(
      "registry.ListTagsRequest",
      {
        /** the whole name */
        name: plain(2, string),
        /** tags that were updated after this time */
        updatedSince: plain(3, timestamp),
        /** `sha256-*` */
        includeReferrers: plain(4, bool),
        /** `*-20yymmdd` */
        includeDates: plain(5, bool),
        /** `*-r[0-9]+` */
        includeEpochs: plain(6, bool),
        /** digest of the manifest */
        digest: plain(7, string),
      },
      10,
    ),
    response: listResponse("registry.ListTagsResponse", "tags", Tag),
    capabilities: ["tag.list"],
  },
  // An upsert by name (docs/contract.md#d19).
  CreateTag: {
    http: "POST /tags/{parent=**}",
    body: "tag",
    request: createRequest("registry.CreateTagRequest", "tag", Tag),
    response: Tag,
    capabilities: ["tag.create"],
    scope: "parent",
  },
  DeleteTag: {
    http: "DELETE /tags/{uid=**}",
    request: getRequest("registry.DeleteTagRequest"),
    response: Empty,
    capabilities: ["tag.delete"],
    scope: "uid",
  },
}) satisfies Operations;

export const tag = resource("Tag", tagOperations, {
  schema: Tag,
  parent: "Repo",
  unique: ["name"],
  upsert: true,
  always: Object.fromEntries(Object.keys(HIDDEN_TAGS).map((field) => [field, true])),
});
