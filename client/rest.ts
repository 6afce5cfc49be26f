// REST by the table of operations (AIP-127). A row maps a request to a path, a query and a body. A response decodes strictly, or becomes
// the API's own error.
import {
  ApiError,
  answerFromJson,
  codeFromHttp,
  errorFromStatus,
  isUidp,
  type Json,
  type Operation,
  VERSION,
  valueAt,
} from "../schema/index.ts";
import { AttemptError } from "./retry.ts";
import type { HttpAnswer, HttpRequest } from "./transport.ts";

const VARIABLE = /\{([^}=]+)(?:=\*\*)?\}/g;

/** Method, address and body of a call. */
export const requestOf = (row: Operation, base: string, request: Json): Omit<HttpRequest, "token" | "timeoutMs"> => {
  const rest = structuredClone(request);
  const path = row.path.replace(VARIABLE, (_, name: string) => {
    if (name === "version") return VERSION;
    // Moves the variable out of the request.
    const names = name.split(".");
    const last = names.pop() as string;
    const owner = names.reduce((inner, one) => inner[one] as Json, rest);
    const value = owner[last] ?? "";
    delete owner[last];
    // A path takes only uids: "../x" must not select another method.
    if (value !== "" && !isUidp(value)) throw new TypeError(`${name} is not a uid`);
    return value;
  });
  const body = row.body === undefined ? undefined : row.body === "*" ? { ...rest } : rest[row.body];
  if (row.body === "*") for (const name of Object.keys(rest)) delete rest[name];
  else if (row.body !== undefined) delete rest[row.body];
  const query = new URLSearchParams(pairs(rest)).toString();
  return {
    method: row.method,
    // An empty parent would leave a slash at the end: a root record is created at the collection itself.
    url: new URL(`${base}${path.replace(/\/$/, "")}${query ? `?${query}` : ""}`),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
};

const pairs = (value: Json, prefix = "") =>
  Object.entries(value).flatMap(([name, member]): [string, string][] => {
    const key = prefix + name;
    if (member === undefined || member === null) return [];
    if (Array.isArray(member)) return member.map((item) => [key, String(item)]);
    return typeof member === "object" ? pairs(member as Json, `${key}.`) : [[key, String(member)]];
  });

/**
 * Decodes the body of a success, which must name the record that `request` names, if it is given. Throws an AttemptError for any other
 * response, with the API's error as its cause.
 */
export const readAnswer = (
  row: Operation,
  operation: string,
  { status, headers, body }: HttpAnswer,
  request: Json = {},
): Json => {
  const json = parse(body);
  if (status < 200 || status > 299) {
    const error = errorFromStatus(json, operation) ?? foreignError(status, headers, operation);
    throw new AttemptError({ status, sent: true, retryAfterMs: retryAfterMs(headers, error) }, error);
  }
  const unreadable = (reason: string) =>
    new AttemptError(
      { status, sent: true },
      new ApiError("UNKNOWN", `the response (HTTP ${status}) ${reason}`, { operation }),
    );
  // The response of a delete has an empty body (docs/internals/contract.md#d20).
  if (body === "" && Object.keys(row.response.shape).length === 0) return {};
  if (json === undefined) throw unreadable("is not JSON");
  const { value, violations } = answerFromJson(row.response, json);
  const [violation] = violations;
  if (violation) throw unreadable(`does not decode: ${violation.field} ${violation.description}`);
  if ("uid" in row.response.shape && !isUidp(value.uid)) throw unreadable("contains no uid");
  const [, variable] = /\{((?:\w+\.)?uid)=\*\*\}/.exec(row.path) ?? [];
  const asked = variable === undefined ? undefined : valueAt(request, variable);
  if (asked !== undefined && value.uid !== undefined && value.uid !== asked)
    throw unreadable(`is of another record, ${isUidp(value.uid) ? value.uid : "without a uid"}`);
  return value;
};

/** Returns undefined for text that is not JSON. An error of JSON.parse would quote the text, which may be a token. */
export const parse = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

// A proxy's page: its text is not quoted, because it may echo our headers.
const foreignError = (status: number, headers: HttpAnswer["headers"], operation: string) => {
  const redirect = status >= 300 && status < 400;
  const type = headers["content-type"] ?? "no content type";
  const text = redirect ? "a redirect, which is not followed" : `a body that is not an API error (${type})`;
  // Only the API can say that a record does not exist.
  const code = codeFromHttp(status);
  return new ApiError(code === "NOT_FOUND" ? "UNKNOWN" : code, `HTTP ${status} with ${text}`, { operation });
};

/** Delay from Retry-After (RFC 9110 section 10.2.3: seconds, or a date by the server's clock) or RetryInfo (AIP-193). */
const retryAfterMs = (headers: HttpAnswer["headers"], error: ApiError): number | undefined => {
  const after = [headers["retry-after"]].flat()[0];
  if (after !== undefined && /^\d+$/.test(after)) return Number(after) * 1000;
  const wait = Date.parse(after ?? "") - Date.parse([headers.date].flat()[0] ?? "");
  if (Number.isFinite(wait)) return Math.max(0, wait);
  const delay = error.detail("RetryInfo")?.retryDelay;
  const seconds = typeof delay === "string" ? Number(/^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1]) : Number.NaN;
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
};
