// The body of a request while it arrives: bounded in size, and read to its end so that the client can read the answer.
import type { IncomingMessage } from "node:http";
import { type FieldViolation, isObject, type Json } from "../../schema/index.ts";
import { duplicateNames, hasDuplicateName } from "../base/duplicate-name.ts";
import { BODY_MAX, createByteBuffer } from "../connection/bounds.ts";
import { bodyTooLarge, ClientGone } from "./refused.ts";

// Beyond this the server stops reading a body that it discards.
const DISCARD_MAX = 64 * BODY_MAX;

/** `keep` returns false once the bytes are no longer wanted. Listens: iterating costs five times as much for each chunk. */
export const readBody = (request: IncomingMessage, max: number, keep: (bytes: number) => boolean): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const body = createByteBuffer();
    let size = 0;
    const end = () => (size > max ? reject(bodyTooLarge(max)) : resolve(body.take()));
    // A request that has arrived also closes.
    const abort = (cause?: unknown) => request.readableEnded || reject(new ClientGone(cause));
    request
      .on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size <= max && keep(chunk.length)) body.add(chunk);
        else body.take();
        if (size > DISCARD_MAX) {
          end();
          request.destroy();
        }
      })
      .once("end", end)
      .once("error", abort)
      .once("close", abort);
    if (request.destroyed) abort();
  });

/** Reads and discards the rest of a request that was answered without its body. */
export const discardBody = (request: IncomingMessage): void => {
  let size = 0;
  request
    .on("error", () => {})
    .on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > DISCARD_MAX) request.destroy();
    });
};

// The body of a request: its content type (RFC 9110 section 8.3), and a JSON object in UTF-8 in which each name appears
// once.

/** `application/json` of `application/json; charset=utf-8` */
export const mediaType = (contentType: string | undefined): string | undefined =>
  contentType?.split(";")[0]?.trim().toLowerCase();

export const isJson = (type: string | undefined): boolean =>
  type === "application/json" || (type?.endsWith("+json") ?? false);

// Beyond this, a repeated name is refused without its path: the search for it costs more than the parse.
const SEARCHED_MAX = 64 * 1024;
const SHOWN_MAX = 200;

/** Any other body is a violation and not an error, so that a caller without a token gets the error of the token first. */
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
