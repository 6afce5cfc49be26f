// The fields of a message by every spelling of their names. Computed once per message, because a request may have a million names.
import type { z } from "zod";
import { asMessage, type FieldInfo, fieldInfo, type Message, toSnake } from "./field.ts";
import { once } from "./once.ts";

export interface Field {
  name: string;
  schema: z.ZodType;
  info: FieldInfo;
  /** the JSON spellings; the first one is written */
  spellings: readonly string[];
  /** the message that the field holds, if any */
  message: Message | undefined;
}

const tableOf = once((schema: Message) => {
  const fields = Object.entries(schema.shape).map(([name, field]): Field => {
    const info = fieldInfo(field);
    const names = new Set([name, toSnake(name), ...(info.alias ? [info.alias] : [])]);
    return { name, schema: field, info, spellings: [...names], message: asMessage(field) };
  });
  const named = fields.flatMap((field) => field.spellings.map((spelling) => [spelling, field] as const));
  // If two fields share a spelling, the first in the message wins.
  return { fields, bySpelling: new Map(named.toReversed()) };
});

export const fieldsOf = (schema: Message): readonly Field[] => tableOf(schema).fields;

/** The field with this name, in any of its spellings. */
export const fieldByName = (schema: Message, spelling: string): Field | undefined =>
  tableOf(schema).bySpelling.get(spelling);
