// The list conventions (docs/internals/contract.md#lists, AIP-158, AIP-132): the hierarchy filter, the paging fields, the envelope.
import type { z } from "zod";
import { bool, int32, int64, type MessageInfo, message, plain, type Shape, string, strings } from "./field.ts";

export const PAGE_SIZE_DEFAULT = 50;
export const PAGE_SIZE_MAX = 200;
export const PAGE_TOKEN_LIFE_MS = 3 * 24 * 60 * 60 * 1000;

/** Hierarchy filter (docs/internals/contract.md#uids); several members are ANDed (docs/internals/contract.md#d16). */
export const UidpFilter = message("common.UIDPFilter", {
  ancestorsOf: plain(1, string, "Groups from `X` up to its root"),
  descendantsOf: plain(2, string, "Everything below `X`, exclusive of `X`"),
  childrenOf: plain(3, string, "Exactly one level below `X`"),
  inRoot: plain(4, bool, "Root-level records only"),
  ids: plain(5, strings, "These records only"),
});
export type UidpFilter = z.infer<typeof UidpFilter>;

/** Fields of a list request: `uidp`, the filters of the kind, then four paging fields from number `paging` on. */
export const listRequest = <S extends Shape>(
  name: string,
  filters: S,
  paging: number,
  skip = paging + 3,
  info: Omit<MessageInfo, "message"> = {},
) =>
  message(
    name,
    {
      uidp: plain(1, UidpFilter, "Where the records are"),
      ...filters,
      pageSize: plain(paging, int32, "Results per page: 0 or absent 50, at most 200"),
      pageToken: plain(paging + 1, string, "`nextPageToken` of the page before"),
      orderBy: plain(paging + 2, string, "One field, optionally `asc` or `desc`"),
      skip: plain(skip, int32, "Results to skip, counted from the cursor"),
    },
    info,
  );

/** The envelope: the page, the cursor, the count of all matches as a decimal string. */
export const listResponse = <P extends string, T extends z.ZodType>(name: string, plural: P, item: T) =>
  message(name, {
    ...({ [plural]: plain(1, itemList(item), "The records of the page", { always: true }) } as {
      [K in P]: z.ZodOptional<z.ZodArray<T>>;
    }),
    nextPageToken: plain(2, string, "Cursor of the next page; empty on the last"),
    totalCount: plain(3, int64, "Number of all records that match, as of the first page", {
      always: true,
      presence: true,
    }),
    skipped: plain(4, int32, "Number of records that `skip` left out", { always: true }),
  });

const itemList = <T extends z.ZodType>(item: T) => (item as z.ZodType).array() as unknown as z.ZodArray<T>;

/** `google.protobuf.Empty`: the response of a delete, an empty body over REST (docs/internals/contract.md#d20). */
export const Empty = message("google.protobuf.Empty", {});
