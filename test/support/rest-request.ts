// A request message as REST has it, by the rules of google.api.http, with the field names in either spelling.
import { z } from "zod";
import { asMessage, type Json, type Message, type Operation, toSnake, unwrap } from "../../schema/index.ts";
import type { Body } from "./http.ts";

export const SPELLINGS = { lowerCamel: (name: string) => name, snake_case: toSnake } as const;
export type Spelling = keyof typeof SPELLINGS;

export interface RestRequest {
  method: string;
  path: string;
  query: Body;
  body?: Body;
}

export const restRequest = (row: Operation, version: string, request: Json, spelling: Spelling): RestRequest => {
  const spell = SPELLINGS[spelling];
  const rest = structuredClone(request) as Body;
  const path = row.path.replace(/\{([^}=]+)(=\*\*)?\}/g, (_, field: string) => {
    if (field === "version") return version;
    const names = field.split(".");
    const last = names.pop() as string;
    const holder = names.reduce((message, name) => message[name], rest);
    const value = holder[last] as string;
    delete holder[last];
    return value ?? "";
  });
  const { method } = row;
  if (row.body === "*") return { method, path, query: {}, body: respell(row.request, rest, spell) };
  const { [row.body ?? ""]: body, ...query } = rest;
  const schema = row.body && asMessage(row.request.shape[row.body] as z.ZodType);
  return {
    method,
    path,
    query: flat(row.request, query, spell),
    ...(schema && { body: respell(schema, (body as Json) ?? {}, spell) }),
  };
};

// Keys of messages all the way down; keys of maps are values.
const respell = (schema: Message, json: Json, spell: (name: string) => string): Body =>
  Object.fromEntries(
    Object.entries(json).map(([name, value]) => [spell(name), within(schema.shape[name] as z.ZodType, value, spell)]),
  );

const within = (schema: z.ZodType, value: unknown, spell: (name: string) => string): unknown => {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value))
    return value.map((item) => within(inner.element as z.ZodType, item, spell));
  if (inner instanceof z.ZodRecord)
    return Object.fromEntries(
      Object.entries(value as Json).map(([key, item]) => [key, within(inner.valueType as z.ZodType, item, spell)]),
    );
  const message = asMessage(inner);
  return message ? respell(message, value as Json, spell) : value;
};

const flat = (schema: Message, json: Json, spell: (name: string) => string): Body =>
  Object.fromEntries(
    Object.entries(json).flatMap(([name, value]) => {
      const message = asMessage(schema.shape[name] as z.ZodType);
      if (!message) return [[spell(name), value]];
      return Object.entries(value as Json).map(([below, own]) => [`${spell(name)}.${spell(below)}`, own]);
    }),
  );
