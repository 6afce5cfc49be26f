// Page tokens (AIP-158; api.md section 8): a keyset cursor, signed, with a checksum of the request and the time of issue.
// Malformed, foreign or of another query: INVALID_ARGUMENT. Older than three days: the walk starts again (decision 6).
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { invalidArgument, PAGE_TOKEN_LIFE_MS } from "../../schema/index.ts";

export interface Cursor {
  /** sort key and uid of the last row of the page before */
  key: string | number;
  uid: string;
  /** count of all matches when the walk began */
  total: number;
}

export interface PageTokens {
  write(query: unknown, cursor: Cursor): string;
  /** undefined: begin at the first page */
  read(query: unknown, token: string | undefined): Cursor | undefined;
}

export const createPageTokens = (key: Buffer, clock: () => number): PageTokens => {
  const signed = (payload: string) => {
    const signature = createHmac("sha256", key).update(payload).digest("base64url");
    return `${Buffer.from(payload).toString("base64url")}.${signature}`;
  };
  const checksum = (query: unknown) =>
    createHash("sha256").update(JSON.stringify(query)).digest("base64url").slice(0, 16);

  return {
    write: (query, cursor) => signed(JSON.stringify([checksum(query), clock(), cursor.key, cursor.uid, cursor.total])),
    read: (query, token) => {
      if (!token) return undefined;
      const payload = Buffer.from(token.split(".", 1)[0] as string, "base64url").toString();
      // The whole text is compared: each token has one spelling.
      const expected = Buffer.from(signed(payload));
      const given = Buffer.from(token);
      if (given.length !== expected.length || !timingSafeEqual(given, expected))
        throw refuse("is not a page token of this service");
      const [sum, issued, key, uid, total] = JSON.parse(payload) as [string, number, string, string, number];
      if (sum !== checksum(query)) throw refuse("belongs to a list with another filter or order_by");
      return clock() - issued > PAGE_TOKEN_LIFE_MS ? undefined : { key, uid, total };
    },
  };
};

const refuse = (description: string) => invalidArgument([{ field: "pageToken", description }]);
