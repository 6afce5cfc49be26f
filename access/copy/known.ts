// The fields of a record that may stand in a copy: those that this version knows, since an unknown one may hold a secret, and no secret.
import { z } from "zod";
import { asMessage, fieldInfo, isObject, type Json, type Message, unwrap } from "../../schema/index.ts";

/** `onUnknown` gets the name of each field that is left out, after those of the fields that it is in: `claimMatch.actor` */
export const knownFields = (schema: Message, record: Json, onUnknown: (path: string) => void, path = ""): Json => {
  const known: Json = {};
  for (const [name, value] of Object.entries(record)) {
    const field = Object.hasOwn(schema.shape, name) ? (schema.shape[name] as z.ZodType) : undefined;
    if (field === undefined) onUnknown(path + name);
    else if (!fieldInfo(field).secret && value !== undefined)
      known[name] = knownValue(field, value, onUnknown, `${path}${name}.`);
  }
  return known;
};

const knownValue = (type: z.ZodType, value: unknown, onUnknown: (path: string) => void, path: string): unknown => {
  const message = asMessage(type);
  if (message && isObject(value)) return knownFields(message, value, onUnknown, path);
  const inner = unwrap(type);
  if (inner instanceof z.ZodArray && Array.isArray(value))
    return value.map((item) => knownValue(inner.element as z.ZodType, item, onUnknown, path));
  if (inner instanceof z.ZodRecord && isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        knownValue(inner.valueType as z.ZodType, item, onUnknown, path),
      ]),
    );
  return value;
};
