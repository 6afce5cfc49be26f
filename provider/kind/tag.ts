// Tag: a name in a repo that points to an image. There is no update: creating one that exists moves it, so a create looks first
// whether there is one.
import { HIDDEN_TAGS, Tag } from "../../schema/index.ts";
import type { Kind } from "./kind.ts";

/** Of a list of tags: it leaves out three kinds unless they are asked for. */
export const ALL_TAGS = Object.fromEntries(Object.keys(HIDDEN_TAGS).map((field) => [field, true]));

export const tag: Kind = {
  type: "Tag",
  word: "tag",
  schema: Tag,
  field: "tag",
  operations: { get: "GetTag", create: "CreateTag", delete: "DeleteTag" },
  list: { operation: "ListTags", plural: "tags", always: ALL_TAGS, filters: ({ name }) => ({ name }) },
  parentType: "Repo",
  unique: ["name"],
  upsert: true,
};
