// REST to the pipeline: path, query and body to one request message (google.api.http, docs/contract.md#paths).
import { type FieldViolation, isExchange, type Json, type Operation, operations } from "../../schema/index.ts";
import { decodeRequest } from "../pipeline/decode.ts";
import type { Call } from "../pipeline/pipeline.ts";
import { isJson, jsonFromBody, mediaType } from "./body.ts";
import { parametersFrom, parametersFromBody, setParameters, setPath } from "./parameters.ts";
import { unsupportedMediaType } from "./refused.ts";
import type { Match } from "./route.ts";

export interface RestMessage {
  contentType: string | undefined;
  /** after the question mark, as it came */
  query: string;
  body: Buffer;
}

/** Throws the transport errors (docs/contract.md#d31). */
export const decodeRest = (
  match: Extract<Match, { kind: "route" }>,
  { contentType, query, body: bytes }: RestMessage,
  strictBodies: boolean,
) => {
  const row: Operation = operations[match.route.operation as Call["operation"]];
  const violations: FieldViolation[] = [];
  const body = row.body ? parseBody(contentType, bytes, violations) : undefined;
  const json: Json = row.body === "*" ? { ...body } : {};
  const strict = isExchange(row);
  const inBody = strict
    ? parametersFromBody(row.request, { method: row.method, contentType, body: bytes }, violations)
    : [];
  if (row.body !== "*")
    setParameters(json, row.request, [...parametersFrom(query, violations), ...inBody], violations, strict);
  if (row.body && row.body !== "*") json[row.body] = body;
  for (const [field, value] of Object.entries(match.path)) setPath(json, field.split("."), value);
  const decoded = decodeRequest(row, json, body, strictBodies);
  return { ...decoded, violations: [...violations, ...decoded.violations] };
};

const parseBody = (contentType: string | undefined, body: Buffer, violations: FieldViolation[]): Json => {
  const type = mediaType(contentType);
  if (contentType !== undefined && !isJson(type)) throw unsupportedMediaType(type, "application/json");
  return jsonFromBody(body, violations);
};
