// Tags: names in a repo. Creating one that exists moves it (docs/contract.md#d19). Lists leave out three kinds unless the
// request includes them (docs/contract.md#tags).
import { alreadyExists, HIDDEN_TAGS, type Json, Tag } from "../../schema/index.ts";
import { type Condition, equals } from "../store/list.ts";
import { shapes } from "../store/shape.ts";
import type { Row, Store } from "../store/store.ts";
import type { ServiceMethods } from "./context.ts";
import { createInput, existing, newTimes, recordsOf, timeText, uidIn } from "./record.ts";

const tagFrom = (row: Row): Tag =>
  ({
    uid: row.uid,
    name: row.columns.name,
    digest: row.columns.digest,
    ...row.body,
    updateTime: timeText(row.updateTime),
  }) as Tag;

const records = recordsOf(shapes.tag, "Tag", "tags", tagFrom);

export const tagService = {
  GetTag: records.get,

  ListTags: (request, context) => {
    const filters = [
      ...equals({ name: request.name, digest: request.digest }),
      ...updatedAfter(request.updatedSince),
      ...without("referrer", request.includeReferrers),
      ...without("dated", request.includeDates),
      ...without("epoch", request.includeEpochs),
    ];
    return records.list(context, request, filters);
  },

  CreateTag: ({ parent, tag }, context) => {
    const input = createInput(context, Tag, tag);
    existing(context, shapes.repo, "Repo", parent);
    const present = tagUid(context.store, parent, input.name as string);
    if (present && context.original)
      throw alreadyExists("Tag", present, `the repo ${parent} has a tag ${input.name} already`);
    const uid = present ?? uidIn(context, parent);
    upsertTag(context.store, uid, input, newTimes(context));
    return records.get({ uid }, context);
  },

  DeleteTag: records.delete,
} satisfies ServiceMethods;

/** uid of the tag with this name in a repo. */
const tagUid = (store: Store, repo: string, name: string): string | undefined =>
  store.statement("SELECT uid FROM tags WHERE parent = ? AND name = ?").get(repo, name)?.uid as string | undefined;

const upsertTag = (store: Store, uid: string, { name, digest, ...body }: Json, when: Times): void => {
  const kindOf = (pattern: RegExp) => (pattern.test(name as string) ? 1 : 0);
  const columns = {
    name: name as string,
    digest: digest as string,
    referrer: kindOf(HIDDEN_TAGS.includeReferrers),
    dated: kindOf(HIDDEN_TAGS.includeDates),
    epoch: kindOf(HIDDEN_TAGS.includeEpochs),
  };
  if (store.get(shapes.tag, uid)) store.update(shapes.tag, { uid, updateTime: when.updateTime, columns, body });
  else store.insert(shapes.tag, { uid, ...when, columns, body });
};

type Times = Pick<Row, "createTime" | "updateTime">;

const without = (column: string, include: boolean | undefined): Condition[] =>
  include ? [] : [{ sql: `${column} = 0`, values: [] }];

const updatedAfter = (time: string | undefined): Condition[] =>
  time ? [{ sql: "update_time > ?", values: [Date.parse(time)] }] : [];
