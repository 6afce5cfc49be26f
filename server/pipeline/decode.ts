// The step that both wires share: from the JSON of a request message to the pipeline's input, with its malformed values.
import {
  asMessage,
  type FieldViolation,
  fieldsOf,
  impliedMask,
  isZero,
  type Json,
  type Message,
  mapMessages,
  messageFromJson,
  type Operation,
} from "../../schema/index.ts";
import type { Decoded } from "./pipeline.ts";

// More paths than any message has fields.
const MASK_PATHS_MAX = 1000;

/** `body`: the part of the request that an HTTP body holds (google.api.http). `bodyFields`: its fields, for the log. */
export const decodeRequest = (
  row: Operation,
  json: Json,
  body: Json | undefined,
  strict: boolean,
): Decoded & { bodyFields?: readonly string[] } => {
  const { value, violations } = messageFromJson(row.request, json, "", strict);
  const request = withoutZeros(row.request, value);
  const field = row.body ? row.request.shape[row.body] : undefined;
  const resource = field && asMessage(field);
  // Without a mask, the keys of the body are the mask (docs/contract.md#updates).
  if (resource && "updateMask" in row.request.shape && !request.updateMask)
    request.updateMask = impliedMask(resource, body).join(",");
  if (
    typeof request.updateMask === "string" &&
    request.updateMask.split(",", MASK_PATHS_MAX + 1).length > MASK_PATHS_MAX
  )
    violations.push({ field: "updateMask", description: `must have at most ${MASK_PATHS_MAX} paths` });
  return {
    request,
    violations: violations.map((violation) => relative(violation, row.body)),
    ...(body && { bodyFields: spellings(resource ?? row.request, body) }),
  };
};

// In proto3 a zero is an absent field, except in a oneof and where a field has presence. So JSON that writes out a zero means
// the same as a binary message, which cannot.
const withoutZeros = (schema: Message, value: Json): Json => {
  const kept: Json = {};
  for (const { name, schema: field, info } of fieldsOf(schema)) {
    const member = value[name];
    if (member !== undefined && (info.oneof !== undefined || info.presence || !isZero(field, member)))
      kept[name] = mapMessages(field, member, withoutZeros);
  }
  return kept;
};

/** Violations name fields of the resource, whatever wraps it on a wire (docs/contract.md#d29). */
export const relative = ({ field, description }: FieldViolation, body: string | undefined): FieldViolation =>
  body && field.startsWith(`${body}.`) ? { field: field.slice(body.length + 1), description } : { field, description };

// The fields that the body names, as it spells them. A body may have any number of unknown ones.
const spellings = (schema: Message, body: Json): string[] =>
  fieldsOf(schema).flatMap(({ spellings }) => spellings.filter((spelling) => Object.hasOwn(body, spelling)));
