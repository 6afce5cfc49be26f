// The standard methods (AIP-131 to AIP-135) on one record, as JSON. Every failure names the operation and the record once.
import type { Json, OperationName, RequestOf } from "../schema/index.ts";
import type { CallOptions, Client } from "./client.ts";
import { apiErrorOf, hasCode, RecordError } from "./errors.ts";

type Method<Verb extends string> = Extract<OperationName, `${Verb}${string}`>;

export interface RecordOperations {
  get: Method<"Get">;
  create: Method<"Create">;
  /** absent where records do not change */
  update?: Method<"Update">;
  delete: Method<"Delete">;
}

/** Properties of a kind that the standard methods need. */
interface RecordKind {
  /** its word in messages: `role binding` */
  word: string;
  /** field of the requests that holds the record */
  field: string;
  operations: RecordOperations;
  /** field of the API → argument of a program, where the names differ */
  arguments?: Readonly<Record<string, string>>;
}

type Caller = Pick<Client, "call">;

/** The record that an error names, in addition to the operation. */
interface Subject {
  uid?: string;
  name?: unknown;
  /** group of a new record; "": at the root */
  parent?: string;
}

export const getRecord = (
  { call }: Caller,
  kind: Pick<RecordKind, "word"> & { operations: Pick<RecordOperations, "get"> },
  uid: string,
  options?: CallOptions,
): Promise<Json> => withSubject(kind, kind.operations.get, { uid }, call(kind.operations.get, { uid }, options));

export const createRecord = ({ call }: Caller, kind: RecordKind, parent: string, record: Json): Promise<Json> => {
  const { create } = kind.operations;
  // The field's name is data, which the schema checks.
  const request = { parent, [kind.field]: record } as RequestOf<Method<"Create">>;
  return withSubject(kind, create, { name: record.name, parent }, call(create, request));
};

/** Sends a PATCH of the fields that `paths` names; `record` holds at least these. */
export const updateRecord = (
  { call }: Caller,
  kind: RecordKind,
  uid: string,
  record: Json,
  paths: readonly string[],
  name?: unknown,
): Promise<Json> => {
  const { update } = kind.operations;
  if (update === undefined) throw new TypeError(`no method updates a ${kind.word}`);
  const request = { [kind.field]: { ...record, uid }, updateMask: paths.join(",") } as RequestOf<Method<"Update">>;
  return withSubject(kind, update, { uid, name }, call(update, request));
};

export const deleteRecord = async (
  { call }: Caller,
  kind: Pick<RecordKind, "word"> & { operations: Pick<RecordOperations, "delete"> },
  uid: string,
  name?: unknown,
): Promise<void> => {
  const operation = kind.operations.delete;
  await withSubject(kind, operation, { uid, name }, call(operation, { uid }));
};

const withSubject = (
  kind: Pick<RecordKind, "word" | "arguments">,
  operation: OperationName,
  subject: Subject,
  answer: Promise<Json>,
) =>
  answer.catch((error: unknown) => {
    const cause = apiErrorOf(error);
    throw cause ? new RecordError(subjectText(kind, operation, subject), cause, { names: kind.arguments }) : error;
  });

/** `in 7209…/a033…`, or `at the root` for the parent "". */
export const placeText = (parent: string): string => (parent === "" ? "at the root" : `in ${parent}`);

/** `UpdateGroup group 7209…/a033… "team"` */
export const subjectText = (
  { word }: Pick<RecordKind, "word">,
  operation: OperationName,
  { uid, name, parent }: Subject,
): string => {
  const where = parent === undefined ? "" : placeText(parent);
  const title = name === undefined ? "" : `"${name}"`;
  return [operation, word, uid, title, where].filter(Boolean).join(" ");
};

const ABSENT = "0".repeat(16);

/**
 * Whether lists show the caller the records of a kind in a group. A list never denies: without the right it has fewer rows
 * (docs/contract.md#authorization). So this requests a record that does not exist: the answer is 403 without the right, and 404 with it
 * (docs/contract.md#d5).
 */
export const isListable = async (
  { call }: Caller,
  { operations }: { operations: Pick<RecordOperations, "get"> },
  group: string,
): Promise<boolean> => {
  try {
    await call(operations.get, { uid: `${group}/${ABSENT}` });
    return true;
  } catch (error) {
    if (hasCode(error, "NOT_FOUND")) return true;
    if (hasCode(error, "PERMISSION_DENIED") || hasCode(error, "UNIMPLEMENTED")) return false;
    throw error;
  }
};
