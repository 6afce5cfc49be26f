// The claims of a token, as it shows them. Nothing has verified them.
import { decodeJwt } from "jose/jwt/decode";

/** Empty for a token that is not a JWT. */
export const claimsOf = (token: string): Record<string, unknown> => {
  try {
    return decodeJwt(token);
  } catch {
    // an opaque token
    return {};
  }
};
