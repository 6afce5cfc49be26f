// What both wires do alike: the JSON of a request message to what the pipeline takes, with the values in it that are
// malformed.
import { z } from "zod";
import {
  asMessage,
  type FieldViolation,
  fieldInfo,
  impliedMask,
  isZero,
  type Json,
  type Message,
  messageFromJson,
  type Operation,
  spellings,
  unwrap,
} from "../schema/index.ts";
import type { Decoded } from "./pipeline.ts";

/** `body` is the part of the request that an HTTP body holds (google.api.http), if any; `bodyFields` its fields, for the log. */
export const decodeRequest = (
  row: Operation,
  json: Json,
  body: Json | undefined,
): Decoded & { bodyFields?: readonly string[] } => {
  const { value, violations } = messageFromJson(row.request, json);
  const request = withoutZeros(row.request, value);
  const field = row.body ? row.request.shape[row.body] : undefined;
  const resource = field && asMessage(field);
  // Without a mask, what the body has is the mask (contract 1.9).
  if (resource && "updateMask" in row.request.shape && !request.updateMask)
    request.updateMask = impliedMask(resource, body).join(",");
  return {
    request,
    violations: violations.map((violation) => relative(violation, row.body)),
    ...(body && { bodyFields: Object.keys(body).filter((key) => isFieldOf(resource ?? row.request, key)) }),
  };
};

// To proto3 a zero is an absent field, but for members of a oneof and fields with presence: JSON that spells it out is told
// nothing else than a message that cannot.
const withoutZeros = (schema: Message, value: Json): Json => {
  const kept = Object.entries(value).filter(([name, own]) => {
    const field = schema.shape[name] as z.ZodType;
    const { oneof, presence } = fieldInfo(field);
    return own !== undefined && (oneof !== undefined || presence || !isZero(field, own));
  });
  return Object.fromEntries(kept.map(([name, own]) => [name, withoutInnerZeros(schema.shape[name] as z.ZodType, own)]));
};

const withoutInnerZeros = (schema: z.ZodType, value: unknown): unknown => {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray)
    return (value as unknown[]).map((item) => withoutInnerZeros(inner.element as z.ZodType, item));
  if (inner instanceof z.ZodRecord) {
    const entries = Object.entries(value as Json);
    return Object.fromEntries(
      entries.map(([key, item]) => [key, withoutInnerZeros(inner.valueType as z.ZodType, item)]),
    );
  }
  const message = asMessage(inner);
  return message && value !== undefined ? withoutZeros(message, value as Json) : value;
};

// Violations name fields of the resource, whatever wraps it on a wire (decision 29).
const relative = ({ field, description }: FieldViolation, body: string | undefined): FieldViolation =>
  body && field.startsWith(`${body}.`) ? { field: field.slice(body.length + 1), description } : { field, description };

const isFieldOf = (schema: Message, key: string): boolean =>
  Object.entries(schema.shape).some(([name, field]) => spellings(name, field).includes(key));
