// The body of a request: its content type (RFC 9110 section 8.3), and a JSON object in UTF-8 in which each name appears
// once.
import { type FieldViolation, isObject, type Json } from "../../schema/index.ts";
import { duplicateNames, hasDuplicateName } from "../base/duplicate-name.ts";

/** `application/json` of `application/json; charset=utf-8` */
export const mediaType = (contentType: string | undefined): string | undefined =>
  contentType?.split(";")[0]?.trim().toLowerCase();

export const isJson = (type: string | undefined): boolean =>
  type === "application/json" || (type?.endsWith("+json") ?? false);

// Beyond this, a repeated name is refused without its path: the search for it costs more than the parse.
const SEARCHED_MAX = 64 * 1024;
const SHOWN_MAX = 200;

/** Any other body is a violation and not an error, so that a caller without a token hears of the token first. */
export const jsonFromBody = (body: Buffer, violations: FieldViolation[]): Json => {
  if (body.length === 0) return {};
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    const json: unknown = JSON.parse(text);
    if (hasDuplicateName(text, json)) violations.push(...duplicateViolations(text));
    if (isObject(json)) return json;
    violations.push({ field: "", description: "the body must be a JSON object" });
  } catch (error) {
    const reason = (error as Error).message.slice(0, SHOWN_MAX);
    violations.push({ field: "", description: `the body is not JSON in UTF-8: ${reason}` });
  }
  return {};
};

const duplicateViolations = (text: string): FieldViolation[] => {
  if (text.length > SEARCHED_MAX) return [{ field: "", description: "the body gives a field twice" }];
  return duplicateNames(text).map((path) => ({ field: path.slice(0, SHOWN_MAX), description: "must be given once" }));
};
