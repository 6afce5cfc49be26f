// Shared by the services of all resources: read or NOT_FOUND, check input, apply a mask, page a list.
import {
  apiError,
  applyMask,
  type FieldViolation,
  inputFields,
  inputViolations,
  invalidArgument,
  type Json,
  type Message,
  maskTouches,
  notFound,
  parseMask,
  type ResponseOf,
  requiredTexts,
  resources,
} from "../../schema/index.ts";
import { once } from "../base/once.ts";
import { scopesWith } from "../caller/caller.ts";
import {
  allRows,
  type Condition,
  equals,
  type ListInput,
  listRows,
  type Readable,
  type UidpFilterInput,
} from "../store/list.ts";
import { shapes } from "../store/shape.ts";
import type { Row, Shape, Store } from "../store/store.ts";
import type { ServiceContext } from "./context.ts";

/** The RFC 3339 spelling of a stored time, UTC with milliseconds (docs/internals/contract.md#json). */
export const timeText = (ms: number): string => new Date(ms).toISOString();

export const times = (row: Row): { createTime: string; updateTime: string } => ({
  createTime: timeText(row.createTime),
  updateTime: timeText(row.updateTime),
});

/** The fields of a stored record. The wire omits fields that its message does not declare. */
export const recordFrom = <T>(row: Row): T => ({ uid: row.uid, ...row.body, ...times(row) }) as T;

export type Kind = keyof typeof resources;
type RecordsByKind = { [K in Kind]: ResponseOf<(typeof resources)[K]["operations"]["get"]> };
// An interface, so that emitted declarations name the type instead of expanding it.
interface RecordByKind extends RecordsByKind {}

/** The record, or NOT_FOUND: the caller was authorized before (AIP-211, docs/internals/contract.md#d5). */
export const existing = (context: ServiceContext, kind: Kind, uid: string): Row => {
  const row = context.store.get(shapes[kind], uid);
  const { createdBy = Infinity } = context;
  if (!row || row.createTime > createdBy) throw notFound(resources[kind].type, uid);
  return row;
};

/**
 * All fields of a copied record but its uid and times. The rules for new records do not apply: its own service has accepted it, perhaps
 * by other rules. But its required texts must be present.
 */
const copiedInput = (schema: Message, { uid: _, createTime: _c, updateTime: _u, ...record }: Json): Json => {
  throwIfAny(
    requiredTexts(schema)
      .filter((field) => typeof record[field] !== "string")
      .map((field) => ({ field, description: "is required" })),
  );
  return record;
};

/**
 * A partial update (docs/internals/contract.md#d18): unknown paths are refused by name; fields outside the mask are neither applied nor
 * validated. `current` contains the present fields; `next` of the result contains those after the change.
 */
export const changeInput = (
  schema: Message,
  current: Json,
  change: Json,
  updateMask: string | undefined,
  rules: (next: Json) => readonly FieldViolation[] = () => [],
) => {
  const { paths, unknown } = parseMask(schema, updateMask ?? "");
  throwIfAny(unknown.map((path) => ({ field: "updateMask", description: `"${path}" is not a field of the resource` })));
  const next = applyMask(schema, current, change, paths);
  const all = (input: Json) => [...inputViolations(schema, input), ...rules(input)];
  const was = once(() => new Set(all(current).map(({ field }) => field)));
  // A change may break a field outside its mask: a oneof is reported at its first member, whichever was cleared.
  throwIfAny(all(next).filter(({ field }) => maskTouches(paths, field) || !was().has(field)));
  return { next, paths };
};

/** The records that a list of the method shows to its caller. */
const readableBy = (context: ServiceContext, shape: Shape): Readable => {
  const { caller, capabilities, createdBy, unlisted } = context;
  const hidden = unlisted?.get(shape);
  const only = [
    ...(createdBy === undefined ? [] : [{ sql: "create_time <= ?", values: [createdBy] }]),
    ...(hidden ? [{ sql: "uid NOT IN (SELECT value FROM json_each(?))", values: [JSON.stringify(hidden)] }] : []),
  ];
  return { scopes: scopesWith(caller, capabilities), only };
};

/** Every record that the caller may read and the filters select, without pages: for the lists of v1. */
export const listReadable = (
  context: ServiceContext,
  kind: Kind,
  filters: Parameters<typeof equals>[0],
  uidp: UidpFilterInput = {},
): Row[] => allRows(context.store, shapes[kind], uidp, equals(filters), readableBy(context, shapes[kind]));

type Columns = Parameters<Store["insert"]>[2];

/** The shared parts of the methods of a kind. `toMessage`: the API's message of a stored record; `toItem`: the same in a list. */
export const recordsOf = <K extends Kind, T = RecordByKind[K], P extends string = (typeof resources)[K]["plural"]>(
  kind: K,
  toMessage: (row: Row, store: Store) => T = recordFrom<T>,
  toItem = toMessage,
) => {
  const shape = shapes[kind];
  const { schema, plural } = resources[kind];
  const row = (context: ServiceContext, uid: string) => existing(context, kind, uid);
  const get = ({ uid }: { uid: string }, context: ServiceContext) => toMessage(row(context, uid), context.store);
  return {
    row,
    get,
    /** A page of the records that the caller may read. */
    list:
      <R extends ListInput>(filtersOf: (request: R) => readonly Condition[]) =>
      (request: R, context: ServiceContext) => {
        const { store, tokens } = context;
        const readable = readableBy(context, shape);
        const { rows, ...envelope } = listRows(store, tokens, shape, request, filtersOf(request), readable);
        const items = { [plural]: rows.map((one) => toItem(one, store)) };
        return { ...(items as Record<P, T[]>), ...envelope };
      },
    /**
     * The fields of a new record: a request's resource without the fields that only the server sets. Throws all violations at once, those
     * that `report` selects.
     */
    input: (
      { original }: ServiceContext,
      resource: Json,
      further: readonly FieldViolation[] = [],
      report = (all: FieldViolation[]) => all,
    ) => {
      if (original) return copiedInput(schema, original) as T;
      const fields = inputFields(schema);
      const input = Object.fromEntries(Object.entries(resource).filter(([name]) => fields.includes(name)));
      throwIfAny(report([...inputViolations(schema, input), ...further]));
      return input as T;
    },
    insert: (context: ServiceContext, uid: string, body: Json, columns?: Columns) => {
      context.store.insert(shape, { uid, ...newTimes(context), body }, columns);
      return get({ uid }, context);
    },
    change: (
      context: ServiceContext,
      change: Json & { uid: string },
      updateMask: string | undefined,
      rules?: (next: Json, row: Row) => readonly FieldViolation[],
    ) => {
      const found = row(context, change.uid);
      const { next, paths } = changeInput(schema, found.body, change, updateMask, (all) => rules?.(all, found) ?? []);
      return { row: found, next: next as T, paths };
    },
    update: (context: ServiceContext, uid: string, body: Json, columns?: Columns) => {
      context.store.update(shape, { uid, updateTime: context.now, body }, columns);
      return get({ uid }, context);
    },
    delete: ({ uid }: { uid: string }, context: ServiceContext) => {
      row(context, uid);
      context.store.remove(shape, uid);
      return {};
    },
    /** Idempotent: to delete a missing record succeeds (docs/internals/contract.md#d4). */
    deleteIfThere: ({ uid }: { uid: string }, context: ServiceContext) => {
      context.store.remove(shape, uid);
      return {};
    },
  };
};

/** uid of a new record. */
export const uidIn = ({ original, ids }: ServiceContext, parent: string): string =>
  original ? (original.uid as string) : `${parent}/${ids.segment()}`;

/** Times of a new record, in milliseconds. */
export const newTimes = ({ original, now }: ServiceContext): Pick<Row, "createTime" | "updateTime"> => {
  const { createTime, updateTime } = (original ?? {}) as { createTime?: string; updateTime?: string };
  // A tag has only the second one, a role binding only the first one.
  const time = (...texts: (string | undefined)[]) => Date.parse(texts.find(Boolean) ?? timeText(now));
  return { createTime: time(createTime, updateTime), updateTime: time(updateTime, createTime) };
};

/** Throws INVALID_ARGUMENT with all of them. */
export const throwIfAny = (violations: readonly FieldViolation[]): void => {
  if (violations.length > 0) throw invalidArgument([...violations]);
};

export const permissionDenied = (text: string) => apiError("PERMISSION_DENIED", text);
