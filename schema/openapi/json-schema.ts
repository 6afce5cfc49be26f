// A zod message as a schema of OpenAPI 3.0: its JSON (docs/contract.md#json), and the rules that JSON Schema can express.
import { z } from "zod";
import { asMessage, enumInfo, fieldInfo, fieldText, type Message, messageInfo, scalarInfo, unwrap } from "../field.ts";

export type JsonSchema = { readonly [key: string]: unknown };

/** Where the document describes messages and enums. */
export type Reference = (schema: z.ZodType) => JsonSchema;

/** The fields of a message, without those held elsewhere. */
export const objectSchema = (
  schema: Message,
  reference: Reference,
  { without = [], isPartial = false }: { without?: readonly string[]; isPartial?: boolean } = {},
): JsonSchema => {
  const fields = Object.entries(schema.shape).filter(([name]) => !without.includes(name));
  const properties = Object.fromEntries(fields.map(([name, field]) => [name, fieldSchema(field, reference)]));
  const required = fields.flatMap(([name, field]) => (isRequired(field) && !fieldInfo(field).inputOnly ? [name] : []));
  const description = messageInfo(schema)?.text;
  return {
    type: "object",
    ...(description !== undefined && { description }),
    properties,
    ...(required.length > 0 && !isPartial && { required }),
  };
};

const isRequired = (field: z.ZodType) => fieldInfo(field).behavior === "REQUIRED";

/** Fields that a create requires and no response returns. */
export const requiredOfInput = (schema: Message): string[] =>
  Object.entries(schema.shape).flatMap(([name, field]) =>
    isRequired(field) && fieldInfo(field).inputOnly ? [name] : [],
  );

export const fieldSchema = (field: z.ZodType, reference: Reference): JsonSchema => {
  const { behavior, inputOnly } = fieldInfo(field);
  const description = fieldText(field);
  const about = {
    ...(description !== undefined && { description }),
    ...(behavior === "OUTPUT_ONLY" && { readOnly: true }),
    ...(inputOnly && { writeOnly: true }),
  };
  const valueForm = valueSchema(field, reference);
  // Readers ignore everything beside a $ref.
  return "$ref" in valueForm && Object.keys(about).length > 0
    ? { allOf: [valueForm], ...about }
    : { ...valueForm, ...about };
};

/** The schema of a value, without the description of its field. */
export const valueSchema = (schema: z.ZodType, reference: Reference): JsonSchema => {
  const inner = unwrap(schema);
  if (asMessage(inner) || enumInfo(inner)) return reference(inner);
  if (inner instanceof z.ZodArray)
    return { type: "array", items: valueSchema(inner.element as z.ZodType, reference), ...rulesOf(inner) };
  if (inner instanceof z.ZodRecord)
    return { type: "object", additionalProperties: valueSchema(inner.valueType as z.ZodType, reference) };
  switch (scalarInfo(inner)?.scalar) {
    case "int32":
      return { type: "integer", format: "int32" };
    case "int64":
      return { type: "string", format: "int64", ...rulesOf(inner) };
    case "timestamp":
      return { type: "string", format: "date-time" };
    case "bytes":
      return { type: "string", format: "byte" };
  }
  return inner instanceof z.ZodBoolean ? { type: "boolean" } : { type: "string", ...rulesOf(inner) };
};

export const enumSchema = (schema: z.ZodType): JsonSchema => {
  const names = Object.keys(enumInfo(schema)?.numbers ?? {});
  return { type: "string", enum: names, default: names[0] };
};

const RULES = ["pattern", "minLength", "maxLength", "minItems", "maxItems", "example"];

// The rules of zod that JSON Schema can express. Rules that are functions exist on the server only.
const rulesOf = (schema: z.ZodType): JsonSchema => {
  const rules = z.toJSONSchema(schema, { target: "openapi-3.0", unrepresentable: "any", io: "input" });
  return Object.fromEntries(Object.entries(rules).filter(([key]) => RULES.includes(key)));
};
