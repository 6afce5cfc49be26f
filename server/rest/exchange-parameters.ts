// The parameters of a token exchange. Its published binding has no body: they stand in the query or in a form. Clients post
// JSON all the same, and a body that is ignored is a limit that is dropped: it is read as if it were a form, or refused.
import type { FieldViolation, HttpMethod } from "../../schema/index.ts";
import { jsonFromBody } from "./body.ts";
import { isForm, isJson, UnsupportedMediaType } from "./content-type.ts";
import { parametersFrom } from "./parameters.ts";

/** A text from a query or a form; from JSON whatever stands there, item by item where it is a list. */
export type Parameter = readonly [key: string, value: unknown];

/** The fields of which the empty text has a published meaning: the service's own provider. */
export const MAY_BE_EMPTY: readonly string[] = ["identityProvider"];

interface ExchangeBody {
  method: HttpMethod;
  contentType: string | undefined;
  body: Buffer;
}

export const parametersFromBody = (
  { method, contentType, body }: ExchangeBody,
  isList: (key: string) => boolean,
  violations: FieldViolation[],
): Parameter[] => {
  if (method === "GET") {
    // RFC 9110, 9.3.1: it has no meaning. What it names could only be dropped.
    if (body.length > 0) violations.push({ field: "", description: "a GET has no body; use the query, or POST" });
    return [];
  }
  if (isForm(contentType)) return parametersFrom(body.toString("utf8"), violations);
  if (isJson(contentType)) return parametersFromJson(jsonFromBody(body, violations), isList);
  if (contentType === undefined && body.length === 0) return [];
  throw new UnsupportedMediaType(contentType, "application/json or application/x-www-form-urlencoded");
};

const parametersFromJson = (json: Record<string, unknown>, isList: (key: string) => boolean): Parameter[] =>
  Object.entries(json).flatMap(([key, value]): Parameter[] => {
    // As an absent one (proto3 JSON).
    if (value === null) return [];
    return Array.isArray(value) && isList(key) ? value.map((item): Parameter => [key, item]) : [[key, value]];
  });
