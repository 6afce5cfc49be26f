// What a request of the provider writes: the kind of record, the verb, and the record itself. Methods that a seal does not know are refused.
import { type Json, maskTouches, type OperationName, operations, resources } from "../../schema/index.ts";

export interface Write {
  /** as in the schema, such as roleBinding */
  kind: string;
  word: string;
  verb: "create" | "update" | "delete";
  /** of a create: uid of what holds the new record, or "" */
  parent: string;
  /** of an update or a delete */
  uid: string;
  /** fields of the API */
  record: Json;
  /** whether the request changes the field; a create sets all */
  touches(field: string): boolean;
}

const VERBS = ["create", "update", "delete"] as const;

const METHODS = new Map(
  Object.values(resources).flatMap(({ field, word, operations: own }) =>
    VERBS.flatMap((verb) => {
      const name = (own as Partial<Record<(typeof VERBS)[number], string>>)[verb];
      return name === undefined ? [] : [[name, { kind: field as string, word: word as string, verb }] as const];
    }),
  ),
);

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Undefined for a method that only reads. `unknown`: a seal cannot say what it does. */
export const writesOf = (operation: OperationName, request: Json): readonly Write[] | "unknown" | undefined => {
  if (operations[operation].method === "GET") return undefined;
  if (operation === "BatchCreateRoleBindings") return batchedIn(request);
  const method = METHODS.get(operation);
  if (!method) return "unknown";
  const { kind, verb } = method;
  const record = (verb === "delete" ? {} : (request[kind] ?? {})) as Json;
  return [
    {
      ...method,
      parent: text(request.parent),
      uid: verb === "update" ? text(record.uid) : text(request.uid),
      record,
      touches: verb === "update" ? touchesBy(request.updateMask) : () => true,
    },
  ];
};

const touchesBy = (mask: unknown): Write["touches"] => {
  const paths = text(mask).split(",").filter(Boolean);
  return (field) => paths.length === 0 || maskTouches(paths, field);
};

const batchedIn = ({ parent, requests, roleUid }: Json): Write[] =>
  (Array.isArray(requests) ? (requests as Json[]) : []).map((one) => {
    const record = (one.roleBinding ?? {}) as Json;
    return {
      ...{ kind: "roleBinding", word: resources.roleBinding.word, verb: "create" as const, uid: "" },
      parent: text(one.parent) || text(parent),
      record: { roleUid, ...record },
      touches: () => true,
    };
  });
