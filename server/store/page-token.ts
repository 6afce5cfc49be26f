// Page tokens (AIP-158): a keyset cursor, signed, with a checksum of the request, one of the caller, and the time of issue.
// Malformed, foreign, of another caller or of another query: INVALID_ARGUMENT. Older than three days: the list restarts
// (docs/contract.md#d6).
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { invalidArgument, PAGE_TOKEN_LIFE_MS } from "../../schema/index.ts";

export interface Cursor {
  /** sort key and uid of the last row of the page before */
  key: string | number;
  uid: string;
  /** count of all matches when the list began */
  total: number;
}

/** The page tokens of one caller. */
export interface PageTokens {
  write(query: unknown, cursor: Cursor): string;
  /** undefined: begin at the first page */
  read(query: unknown, token: string | undefined): Cursor | undefined;
}

/** An identity, and the limits of its API token: the count of a wider token is not for a narrower one. */
export interface PageTokenHolder {
  uid: string;
  capabilities?: ReadonlySet<string>;
  scopes?: readonly string[];
}

// In characters: longer than a token with the uid of the lowest record and the longest sort key.
const TOKEN_MAX = 8192;

type Payload = [query: string, holder: string, issuedMs: number, key: string | number, uid: string, total: number];

export const createPageTokens = (key: Uint8Array, clock: () => number) => {
  const sign = (payload: string) => {
    const signature = createHmac("sha256", key).update(payload).digest("base64url");
    return `${Buffer.from(payload).toString("base64url")}.${signature}`;
  };

  return (holder: PageTokenHolder): PageTokens => ({
    write: (query, cursor) => {
      const sums = [checksum(query), holderChecksum(holder)] as const;
      const payload: Payload = [...sums, clock(), cursor.key, cursor.uid, cursor.total];
      return sign(JSON.stringify(payload));
    },
    read: (query, token) => {
      if (!token) return undefined;
      if (token.length > TOKEN_MAX) throw refuse("is not a page token of this service");
      const payload = Buffer.from(token.split(".", 1)[0] as string, "base64url").toString();
      // Compares the whole text: each token has one spelling.
      const expected = Buffer.from(sign(payload));
      const given = Buffer.from(token);
      if (given.length !== expected.length || !timingSafeEqual(given, expected))
        throw refuse("is not a page token of this service");
      const [ofQuery, ofHolder, issuedMs, sortKey, uid, total] = JSON.parse(payload) as Payload;
      if (ofHolder !== holderChecksum(holder))
        throw refuse("belongs to another caller, or to an API token with other limits");
      if (ofQuery !== checksum(query)) throw refuse("belongs to a list with another filter or order_by");
      return clock() - issuedMs > PAGE_TOKEN_LIFE_MS ? undefined : { key: sortKey, uid, total };
    },
  });
};

const checksum = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 16);

const holderChecksum = ({ uid, capabilities, scopes }: PageTokenHolder): string =>
  checksum([uid, capabilities ? [...capabilities].toSorted() : null, scopes?.toSorted() ?? null]);

const refuse = (description: string) => invalidArgument([{ field: "pageToken", description }]);
