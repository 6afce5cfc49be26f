// The claims of a token, as it shows them. Nothing has verified them.
import { decodeJwt } from "jose/jwt/decode";
import { type Json, printable } from "../schema/index.ts";
import { isAudience } from "./addresses.ts";

/** Empty for a token that is not a JWT. */
export const claimsOf = (token: string): Record<string, unknown> => {
  try {
    return decodeJwt(token);
  } catch {
    // an opaque token
    return {};
  }
};

/** Whether a claim in seconds, such as `exp`, is in the past. */
export const isPast = (time: unknown, nowMs: number): boolean => typeof time === "number" && time * 1000 <= nowMs;

/** Why the API refuses a token, as far as the token itself shows; undefined if it does not. */
export const refusalReason = (claims: Json, baseUrl: string, nowMs: number): string | undefined => {
  if (isPast(claims.exp, nowMs)) return "it has expired";
  const audiences = [claims.aud].flat().filter((one) => typeof one === "string");
  if (audiences.length === 0 || isAudience(claims, [baseUrl])) return undefined;
  return `its audience is ${printable(audiences.join(", ")).slice(0, MAX_LENGTH)}, and the address of the API is ${baseUrl}`;
};

// Of a text in an error. The token may be from anywhere.
const MAX_LENGTH = 200;
