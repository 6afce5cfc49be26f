// The parameters of a request: in its query, and for a token exchange also in its body.
import { z } from "zod";
import {
  type FieldViolation,
  fieldByName,
  isExchange,
  type Json,
  type Message,
  type Operation,
  operations,
  scalarInfo,
  unwrap,
} from "../../schema/index.ts";
import { type Call, decodeRequest } from "../pipeline/pipeline.ts";
import { isJson, jsonFromBody, mediaType } from "./arrival.ts";
import { unsupportedMediaType } from "./refused.ts";
import type { Match } from "./route.ts";

/** A text from a query or a form; from JSON any value, item by item if it is a list. */
type Parameter = readonly [key: string, value: unknown];

const PARAMETERS_MAX = 1000;

/** Parses a query or a form. Too many parameters are a violation, and none of them is read. */
export const parametersFrom = (text: string, violations: FieldViolation[]): [key: string, value: string][] => {
  const count = text.split("&").length;
  if (count <= PARAMETERS_MAX) return [...new URLSearchParams(text)];
  violations.push({ field: "", description: `must have at most ${PARAMETERS_MAX} parameters; got ${count}` });
  return [];
};

/**
 * The published exchange has no body: its parameters are in the query or in a form. Clients nevertheless post JSON. To
 * ignore a body would drop a limit, so JSON is read like a form, and any other body is refused.
 */
const parametersFromBody = (
  { method, request: schema }: Operation,
  { contentType, body }: RestMessage,
  violations: FieldViolation[],
): Parameter[] => {
  if (method === "GET") {
    // It has no meaning (RFC 9110 section 9.3.1), so its limits could only be dropped.
    if (body.length > 0) violations.push({ field: "", description: "a GET has no body; use the query, or POST" });
    return [];
  }
  const type = mediaType(contentType);
  if (type === "application/x-www-form-urlencoded") return parametersFrom(body.toString("utf8"), violations);
  if (isJson(type))
    return Object.entries(jsonFromBody(body, violations)).flatMap(([key, value]): Parameter[] => {
      // null means absent (proto3 JSON).
      if (value === null) return [];
      return Array.isArray(value) && fieldAt(schema, [key])?.isList
        ? value.map((item): Parameter => [key, item])
        : [[key, value]];
    });
  if (contentType === undefined && body.length === 0) return [];
  throw unsupportedMediaType(type, "application/json or application/x-www-form-urlencoded");
};

const UNKNOWN_MAX = 10;

/** Parameters whose empty text has a published meaning: the service's own provider. */
const MAY_BE_EMPTY: readonly string[] = ["identityProvider"];

/**
 * Sets parameters, in either spelling, including `uidp.descendants_of`. A field that is not a list may appear once, in any
 * spelling, in query or body. Unknown keys are ignored, except when `strict`: to drop a limit of an exchange would grant
 * more than asked.
 */
const setParameters = (
  json: Json,
  schema: Message,
  parameters: readonly Parameter[],
  violations: FieldViolation[],
  strict: boolean,
) => {
  const unknown = new Set<string>();
  const known = parameters.flatMap(([key, value]) => {
    const field = fieldAt(schema, key.split("."));
    if (field) return [{ field, value: typeof value === "string" ? scalarFromText(field, value) : value }];
    unknown.add(key);
    return [];
  });
  if (strict)
    for (const key of [...unknown].slice(0, UNKNOWN_MAX))
      violations.push({ field: key.slice(0, 100), description: "is not a field of the request" });
  for (const [name, given] of Map.groupBy(known, ({ field }) => field.path.join("."))) {
    const [{ field, value }, ...more] = given as [(typeof given)[0], ...typeof given];
    if (!field.isList && more.length > 0) violations.push({ field: name, description: "must be given once" });
    else if (strict && !field.isList && value === "" && !MAY_BE_EMPTY.includes(name))
      violations.push({ field: name, description: "must not be empty; leave it out" });
    setPath(json, field.path, field.isList ? given.map((one) => one.value) : value);
  }
};

interface Field {
  path: string[];
  /** of the value, or of each item of the list */
  schema: z.ZodType;
  isList: boolean;
}

const fieldAt = (schema: Message, [head = "", ...rest]: string[]): Field | undefined => {
  const found = fieldByName(schema, head);
  if (!found) return undefined;
  const { name, schema: field, message } = found;
  if (rest.length > 0) {
    const below = message && fieldAt(message, rest);
    return below && { ...below, path: [name, ...below.path] };
  }
  if (message) return undefined;
  const whole = unwrap(field);
  const isList = whole instanceof z.ZodArray;
  return { path: [name], schema: isList ? unwrap(whole.element as z.ZodType) : whole, isList };
};

// Text that does not fit the field's type is kept: the decoder refuses it with its path.
const scalarFromText = ({ schema }: Field, text: string): unknown => {
  if (schema instanceof z.ZodBoolean && (text === "true" || text === "false")) return text === "true";
  if (schema instanceof z.ZodEnum && /^\d+$/.test(text)) return Number(text);
  if (scalarInfo(schema)?.scalar === "int32" && text === "") return 0;
  return text;
};

const setPath = (json: Json, [key = "", ...rest]: string[], value: unknown): Json => {
  json[key] = rest.length === 0 ? value : setPath({ ...(json[key] as Json | undefined) }, rest, value);
  return json;
};

// REST to the pipeline: path, query and body to one request message (google.api.http, docs/internals/contract.md#paths).

interface RestMessage {
  contentType: string | undefined;
  /** after the question mark, as it came */
  query: string;
  body: Buffer;
}

/** Throws the transport errors (docs/internals/contract.md#d31). */
export const decodeRest = (match: Extract<Match, { kind: "route" }>, message: RestMessage, strictBodies: boolean) => {
  const row: Operation = operations[match.route.operation as Call["operation"]];
  const violations: FieldViolation[] = [];
  const body = row.body ? parseBody(message, violations) : undefined;
  const json: Json = row.body === "*" ? { ...body } : {};
  const strict = isExchange(row);
  const inBody = strict ? parametersFromBody(row, message, violations) : [];
  if (row.body !== "*")
    setParameters(json, row.request, [...parametersFrom(message.query, violations), ...inBody], violations, strict);
  if (row.body && row.body !== "*") json[row.body] = body;
  for (const [field, value] of Object.entries(match.path)) setPath(json, field.split("."), value);
  const decoded = decodeRequest(row, json, body, strictBodies);
  return { ...decoded, violations: [...violations, ...decoded.violations] };
};

const parseBody = ({ contentType, body }: RestMessage, violations: FieldViolation[]) => {
  const type = mediaType(contentType);
  if (contentType !== undefined && !isJson(type)) throw unsupportedMediaType(type, "application/json");
  return jsonFromBody(body, violations);
};
