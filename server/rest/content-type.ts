// What a request says its body is (RFC 9110 section 8.3).
import { TransportError } from "../port/transport-error.ts";

const mediaType = (contentType: string | undefined): string | undefined =>
  contentType?.split(";")[0]?.trim().toLowerCase();

export const isJson = (contentType: string | undefined): boolean => {
  const type = mediaType(contentType);
  return type === "application/json" || (type?.endsWith("+json") ?? false);
};

export const isForm = (contentType: string | undefined): boolean =>
  mediaType(contentType) === "application/x-www-form-urlencoded";

/** 415: with 404, 405 and 413 the only error whose HTTP status is not that of its code (docs/contract.md#d31). */
export class UnsupportedMediaType extends TransportError {
  override readonly name = "UnsupportedMediaType";
  constructor(contentType: string | undefined, expected: string) {
    const type = mediaType(contentType);
    super(`the content type must be ${expected}, ${type ? `not ${type.slice(0, 100)}` : "and there is none"}`);
  }
}
