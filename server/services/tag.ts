// Tags: names in a repo. Creating one that exists moves it (docs/internals/contract.md#d19). Lists omit three kinds unless the
// request includes them (docs/internals/contract.md#tags).
import { alreadyExists, HIDDEN_TAGS, type Tag } from "../../schema/index.ts";
import { type Condition, equals } from "../store/list.ts";
import type { ServiceMethods } from "./context.ts";
import { existing, recordsOf, uidIn } from "./record.ts";

const records = recordsOf("tag");

export const tagService = {
  GetTag: records.get,

  ListTags: records.list(({ name, digest, updatedSince, includeReferrers, includeDates, includeEpochs }) => [
    ...equals({ name, digest }),
    ...(updatedSince ? [{ sql: "update_time > ?", values: [Date.parse(updatedSince)] }] : []),
    ...without("referrer", includeReferrers),
    ...without("dated", includeDates),
    ...without("epoch", includeEpochs),
  ]),

  CreateTag: ({ parent, tag }, context) => {
    const input = records.input(context, tag);
    existing(context, "repo", parent);
    const named = context.store.statement("SELECT uid FROM tags WHERE parent = ? AND name = ?");
    const present = named.get(parent, input.name)?.uid as string | undefined;
    if (present && context.original)
      throw alreadyExists("Tag", present, `the repo ${parent} has a tag ${input.name} already`);
    return present
      ? records.update(context, present, input, columnsOf(input))
      : records.insert(context, uidIn(context, parent), input, columnsOf(input));
  },

  DeleteTag: records.delete,
} satisfies ServiceMethods;

const columnsOf = ({ name }: Tag) => {
  const kindOf = (pattern: RegExp) => Number(pattern.test(name));
  return {
    referrer: kindOf(HIDDEN_TAGS.includeReferrers),
    dated: kindOf(HIDDEN_TAGS.includeDates),
    epoch: kindOf(HIDDEN_TAGS.includeEpochs),
  };
};

const without = (column: string, include: boolean | undefined): Condition[] =>
  include ? [] : [{ sql: `${column} = 0`, values: [] }];
