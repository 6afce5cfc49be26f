// Tag: a name in a repo that points to an image. There is no update: creating a tag that exists moves it, so a create first
// checks that there is none.
import { resources } from "../../schema/index.ts";
import type { Kind } from "./kind.ts";

export const tag: Kind = {
  ...resources.tag,
  filters: ({ name }) => ({ name }),
  unique: ["name"],
  upsert: true,
};
