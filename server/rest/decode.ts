// REST to the pipeline and back: path, query and body to one request message (google.api.http, docs/contract.md#paths), the
// response or the error to JSON.
import { z } from "zod";
import {
  type ApiError,
  apiError,
  codes,
  domainOf,
  type FieldViolation,
  fieldNamed,
  isExchange,
  type Json,
  type Message,
  type Operation,
  operations,
  type Status,
  scalarInfo,
  statusFromError,
  unwrap,
} from "../../schema/index.ts";
import { decodeRequest } from "../decode.ts";
import type { Call, Decoded } from "../pipeline.ts";
import { once } from "../port/once.ts";
import { jsonFromBody } from "./body.ts";
import { isJson, UnsupportedMediaType } from "./content-type.ts";
import { MAY_BE_EMPTY, type Parameter, parametersFromBody } from "./exchange-parameters.ts";
import { parametersFrom } from "./parameters.ts";
import type { Match } from "./route.ts";

export interface RestRequest {
  authorization: readonly string[];
  contentType: string | undefined;
  /** behind the question mark, as it came */
  query: string;
  /** reads the body to its end */
  readBody: () => Promise<Buffer>;
  /** address that the request came from */
  peer: string;
  /** top-level fields of the body, for the log */
  onFields: (names: readonly string[]) => void;
  /** fields of a body that do not exist are refused */
  strictBodies: boolean;
  onFault: Call["onFault"];
}

type RouteMatch = Extract<Match, { kind: "route" }>;

/** Path, query and body to a call. Its `decode` throws the transport errors (docs/contract.md#d31). */
export const callFromRest = (match: RouteMatch, request: RestRequest): Call => {
  const { authorization, peer, onFields, onFault, readBody } = request;
  const receive = once(readBody);
  const decode = async (): Promise<Decoded> => {
    const { bodyFields, ...decoded } = decodeRest(match, request, await receive());
    if (bodyFields) onFields(bodyFields);
    return decoded;
  };
  return {
    operation: match.route.operation as Call["operation"],
    wire: "rest",
    receive,
    decode,
    authorization,
    peer,
    onFault,
  };
};

const decodeRest = (match: RouteMatch, { contentType, query, strictBodies }: RestRequest, bytes: Buffer) => {
  const row: Operation = operations[match.route.operation as Call["operation"]];
  const violations: FieldViolation[] = [];
  const body = row.body ? parseBody(contentType, bytes, violations) : undefined;
  const json: Json = row.body === "*" ? { ...(body as Json) } : {};
  const strict = isExchange(row);
  const isList = (key: string) => isListAt(fieldAt(row.request, [key]));
  const ofBody = { method: row.method, contentType, body: bytes };
  const inBody = strict ? parametersFromBody(ofBody, isList, violations) : [];
  if (row.body !== "*")
    parametersInto(json, row.request, [...parametersFrom(query, violations), ...inBody], violations, strict);
  if (row.body && row.body !== "*") json[row.body] = body;
  for (const [field, value] of Object.entries(match.path)) setPath(json, field.split("."), value);
  const decoded = decodeRequest(row, json, body, strictBodies);
  return { ...decoded, violations: [...violations, ...decoded.violations] };
};

const parseBody = (contentType: string | undefined, body: Buffer, violations: FieldViolation[]): Json => {
  if (contentType !== undefined && !isJson(contentType))
    throw new UnsupportedMediaType(contentType, "application/json");
  return jsonFromBody(body, violations);
};

const UNKNOWN_MAX = 10;

const isListAt = (found: Field | undefined): boolean =>
  found !== undefined && unwrap(found.schema) instanceof z.ZodArray;

// Parameters in both spellings, `uidp.descendants_of` too; a field that is no list may stand once, whichever way it is
// spelled, and in the query or in the body. Unknown keys are ignored, but not `strict`ly: in an exchange, a limit that is
// misspelt or left empty and then dropped would give more than was asked for.
const parametersInto = (
  json: Json,
  schema: Message,
  parameters: readonly Parameter[],
  violations: FieldViolation[],
  strict: boolean,
): void => {
  const byField = new Map<string, { found: Field; values: unknown[] }>();
  const unknown = new Set<string>();
  for (const [key, value] of parameters) {
    const found = fieldAt(schema, key.split("."));
    if (!found) {
      if (unknown.size < UNKNOWN_MAX) unknown.add(key);
      continue;
    }
    const field = found.path.join(".");
    if (!byField.has(field)) byField.set(field, { found, values: [] });
    byField.get(field)?.values.push(typeof value === "string" ? scalarFromText(found.schema, value) : value);
  }
  if (strict)
    for (const key of unknown)
      violations.push({ field: key.slice(0, 100), description: "is not a field of the request" });
  for (const [field, { found, values }] of byField) {
    const list = isListAt(found);
    if (!list && values.length > 1) violations.push({ field, description: "must be given once" });
    else if (strict && !list && values[0] === "" && !MAY_BE_EMPTY.includes(field))
      violations.push({ field, description: "must not be empty; leave it out" });
    setPath(json, found.path, list ? values : values[0]);
  }
};

interface Field {
  path: string[];
  schema: z.ZodType;
}

const fieldAt = (schema: Message, [head, ...rest]: string[]): Field | undefined => {
  const found = fieldNamed(schema, head as string);
  if (!found) return undefined;
  const { name, schema: field, message } = found;
  if (rest.length === 0) return message ? undefined : { path: [name], schema: field };
  const below = message && fieldAt(message, rest);
  return below && { path: [name, ...below.path], schema: below.schema };
};

// Text that is not of the field's type is left as it is: the decoder refuses it with its path.
const scalarFromText = (schema: z.ZodType, text: string): unknown => {
  const whole = unwrap(schema);
  const inner = whole instanceof z.ZodArray ? unwrap(whole.element as z.ZodType) : whole;
  if (inner instanceof z.ZodBoolean && (text === "true" || text === "false")) return text === "true";
  if (inner instanceof z.ZodEnum && /^\d+$/.test(text)) return Number(text);
  if (scalarInfo(inner)?.scalar === "int32" && text === "") return 0;
  return text;
};

const setPath = (json: Json, [head, ...rest]: string[], value: unknown): void => {
  const key = head as string;
  if (rest.length === 0) {
    json[key] = value;
    return;
  }
  const inner = { ...((json[key] as Json | undefined) ?? {}) };
  setPath(inner, rest, value);
  json[key] = inner;
};

export interface RestError {
  http: number;
  headers: Record<string, string>;
  status: Status;
}

/** An error of the pipeline to its HTTP answer. */
export const restError = (error: ApiError, service: string, http: number = codes[error.code].http): RestError => ({
  http,
  headers: {
    ...(error.code === "UNAUTHENTICATED" && { "www-authenticate": "Bearer" }),
    ...retryAfter(error),
  },
  status: statusFromError(error, domainOf(service)),
});

const retryAfter = (error: ApiError): Record<string, string> => {
  const delay = error.detail("RetryInfo")?.retryDelay;
  return delay ? { "retry-after": String(Math.ceil(Number.parseFloat(delay))) } : {};
};

/** The error of a request that reached no method (docs/contract.md#d31). */
export const unroutedError = (match: Exclude<Match, { kind: "route" }>, method: string, path: string): RestError => {
  switch (match.kind) {
    case "path":
      return restError(apiError("NOT_FOUND", `there is no ${path.slice(0, 200)}`), "iam");
    case "unserved":
      return restError(apiError("UNIMPLEMENTED", `${match.route.name} is not served here`), match.route.service);
    case "method": {
      const text = `${method} is not a method of this path; it takes ${match.allow.join(", ")}`;
      const error = restError(apiError("UNIMPLEMENTED", text), match.service, 405);
      return { ...error, headers: { ...error.headers, allow: match.allow.join(", ") } };
    }
  }
};
