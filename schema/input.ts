// The input rules of a resource: its fields without the output-only ones, and its oneofs. Reports all violations at once, in
// the API's words. The server refuses requests with them; the provider shows them in the preview.
import { z } from "zod";
import type { FieldViolation } from "./error.ts";
import { asMessage, fieldInfo, fieldsOf, isZero, type Message, messageInfo, unwrap } from "./field.ts";
import { isObject, type Json } from "./json.ts";
import { nearest } from "./nearest.ts";
import { getOrInsert, once } from "./once.ts";

/** Names of the fields that a caller may set. */
export const inputFields = once((schema: Message): readonly string[] =>
  fieldsOf(schema).flatMap(({ name, info }) => (info.behavior === "OUTPUT_ONLY" ? [] : [name])),
);

/** Names of the required fields that are texts, without those that only a create reads. */
export const requiredTexts = once((schema: Message): readonly string[] =>
  fieldsOf(schema).flatMap(({ name, schema: field, info: { behavior, inputOnly, answeredAs } }) => {
    const isText = unwrap(field) instanceof z.ZodString;
    return behavior === "REQUIRED" && isText && (!inputOnly || answeredAs !== undefined) ? [name] : [];
  }),
);

/** The oneofs of a message: name to members. */
export const oneofsOf = (schema: Message): Map<string, string[]> => {
  const oneofs = new Map<string, string[]>();
  for (const { name, info } of fieldsOf(schema))
    if (info.oneof) getOrInsert(oneofs, info.oneof, (): string[] => []).push(name);
  return oneofs;
};

const inputOf = once((schema: Message): z.ZodType => {
  const shape = Object.fromEntries(
    inputFields(schema).map((name) => [name, inputField(schema.shape[name] as z.ZodType)]),
  );
  return z.object(shape, otherThan(`must be an object: { ${Object.keys(shape).join(", ")} }`));
});

/** The error of a value of another type. A missing value has the error of a required field instead. */
const otherThan = (text: string) => ({
  error: ({ input }: { input?: unknown }) => (input === undefined ? undefined : text),
});

// A nested message has input rules of its own, also inside a list or a map.
const inputField = (field: z.ZodType): z.ZodType => {
  const inner = unwrap(field);
  const message = asMessage(elementOf(inner));
  if (!message) return field;
  const inputType = inputOf(message);
  const input =
    inner instanceof z.ZodArray
      ? z.array(inputType, otherThan("must be a list"))
      : inner instanceof z.ZodRecord
        ? z.record(inner.keyType as z.ZodString, inputType)
        : inputType;
  return field instanceof z.ZodOptional ? input.optional() : input;
};

/** The type of the elements of a list or a map; any other type unchanged. */
const elementOf = (inner: z.ZodType) =>
  inner instanceof z.ZodArray
    ? (inner.element as z.ZodType)
    : inner instanceof z.ZodRecord
      ? (inner.valueType as z.ZodType)
      : inner;

/** The text of an error. The text of a pattern would not explain that YAML read a number where a string is needed. */
const issueText = (issue: z.core.$ZodIssue, value: unknown): string => {
  const { code } = issue;
  const isText = code === "invalid_type" && issue.expected === "string";
  if (isText && ["number", "boolean"].includes(typeof value))
    return `must be a string; got a ${typeof value}, so put it in quotes`;
  // The error of a map's key is an issue inside the issue.
  return (code === "invalid_key" && issue.issues[0]?.message) || issue.message;
};

/**
 * The value as its author meant it: a misspelled name counts as the nearest absent field. The misspelling is reported by its own name, so
 * the field does not count as missing, too. `known`: the correct names.
 */
export const asMeant = (schema: Message, value: Json, known: readonly string[] = inputFields(schema)): Json => {
  const oneofs = oneofsOf(schema);
  const absent = inputFields(schema).filter((field) => {
    const { oneof = "" } = fieldInfo(schema.shape[field] as z.ZodType);
    return (oneofs.get(oneof) ?? [field]).every((member) => value[member] === undefined);
  });
  const entries = Object.entries(value).map(([name, held]) => {
    const field = known.includes(name) ? name : (nearest(name, absent) ?? name);
    const type = schema.shape[field];
    const message = type && asMessage(type);
    return [field, message && isObject(held) ? asMeant(message, held) : held];
  });
  return Object.fromEntries(entries);
};

/**
 * All violations of `value` as input of a message: first of its fields, then of its oneofs, then of the rules between its
 * fields. `isUnknown` marks values that a preview does not know yet: they and everything below them are skipped.
 */
export const inputViolations = (
  schema: Message,
  value: Json,
  isUnknown: (value: unknown) => boolean = () => false,
): FieldViolation[] => {
  const { error } = inputOf(schema).safeParse(value, {
    error: (issue) => (issue.code === "invalid_type" && issue.input === undefined ? "is required" : undefined),
  });
  // A rule of a whole list or map cannot judge one with an unknown value.
  const isOpen = ({ code, path }: z.core.$ZodIssue) => {
    const held = at(value, path);
    return isUnknown(held) || (code === "custom" && Object.values(Object(held)).some(isUnknown));
  };
  const issues = (error?.issues ?? [])
    .filter((issue) => !isOpen(issue))
    .map((issue) => ({ field: pathText(issue.path), description: issueText(issue, at(value, issue.path)) }));
  const rules = messageInfo(schema)?.rules?.(value, isUnknown) ?? [];
  return [...issues, ...oneofViolations(schema, value, "", isUnknown), ...rules];
};

// The value at a path, or the first unknown on the way to it.
const at = (value: unknown, path: readonly PropertyKey[]) =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? (inner as Json)[key as string] : inner),
    value,
  );

/** `["requests", 0, "roleUid"]` to `requests[0].roleUid`. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : text ? `${text}.${String(key)}` : String(key)),
    "",
  );

const oneofViolations = (
  schema: Message,
  value: Json,
  path: string,
  isUnknown: (value: unknown) => boolean,
): FieldViolation[] => {
  const { oneofs, required, children } = oneofTable(schema);
  if (typeof value !== "object" || value === null || isUnknown(value)) return [];
  const field = (name: string) => (path ? `${path}.${name}` : name);
  const violations = oneofs.flatMap(([oneof, members]): FieldViolation[] => {
    const set = members.filter((name) => !isZero(schema.shape[name] as z.ZodType, value[name]));
    if (set.length > 1)
      return [{ field: field(set[1] as string), description: `only one of ${set.join(", ")} may be set` }];
    if (set.length === 0 && required.includes(oneof))
      return [{ field: field(members[0] as string), description: `one of ${members.join(", ")} must be set` }];
    return [];
  });
  const below = children.flatMap(({ name, inner, message }) => {
    const held = value[name];
    if (typeof held !== "object" || held === null || isUnknown(held)) return [];
    const items: [string, unknown][] =
      inner === message
        ? [["", held]]
        : Object.entries(held).map(([key, item]) => [inner instanceof z.ZodArray ? `[${key}]` : `.${key}`, item]);
    return items.flatMap(([key, item]) => oneofViolations(message, item as Json, field(name) + key, isUnknown));
  });
  return [...violations, ...below];
};

interface OneofTable {
  oneofs: [name: string, members: string[]][];
  required: readonly string[];
  /** the fields that contain oneofs at any depth */
  children: { name: string; inner: z.ZodType; message: Message }[];
}

const oneofTable = once((schema: Message): OneofTable => {
  const children = fieldsOf(schema).flatMap(({ name, schema: child }) => {
    const inner = unwrap(child);
    const message = asMessage(elementOf(inner));
    if (!message) return [];
    const { oneofs, children } = oneofTable(message);
    return oneofs.length + children.length > 0 ? [{ name, inner, message }] : [];
  });
  return { oneofs: [...oneofsOf(schema)], required: messageInfo(schema)?.requiredOneofs ?? [], children };
});
