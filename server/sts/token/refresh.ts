// The text of a refresh token: base64 (RFC 4648 section 4) of JSON with `exp`, since the vendor's clients read when it expires.
// The server compares a hash of the whole text, and reads only the family that it claims.

import { createHash, randomBytes } from "node:crypto";
import { isObject } from "../../../schema/index.ts";
import { ownValue, parseStrictJson } from "./compact.ts";
import { refusal } from "./refusal.ts";

const MAX_CHARACTERS = 4096;
const FAMILY_ID = /^([\w-]{22})\.[\w-]{43}$/;

/** The claims of a token about its family. */
interface TokenFamily {
  /** uid */
  identity: string;
  expireTimeMs: number;
  grant: { audience: readonly string[] };
}

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** 128 random bits that the tokens of one exchange share. */
export const newFamilyId = (): string => randomBytes(16).toString("base64url");

/** A token with 256 random bits. */
export const writeRefreshToken = (issuer: string, familyId: string, family: TokenFamily, nowMs: number): string => {
  const { audience } = family.grant;
  const json = {
    iss: issuer,
    sub: family.identity,
    aud: audience.length === 1 ? audience[0] : audience,
    iat: Math.floor(nowMs / 1000),
    exp: Math.floor(family.expireTimeMs / 1000),
    jti: `${familyId}.${randomBytes(32).toString("base64url")}`,
  };
  return Buffer.from(JSON.stringify(json)).toString("base64");
};

/** The family that a text claims. Refuses a text that is not a refresh token. */
export const familyIdOf = (text: string): string => {
  const tokenId = text.length <= MAX_CHARACTERS ? tokenIdOf(text) : undefined;
  const [, familyId] = FAMILY_ID.exec(typeof tokenId === "string" ? tokenId : "") ?? [];
  if (familyId === undefined) throw refusal("token_shape", "not a refresh token");
  return familyId;
};

const tokenIdOf = (text: string): unknown => {
  try {
    const json = parseStrictJson(Buffer.from(text, "base64"));
    return isObject(json) ? ownValue(json, "jti") : undefined;
  } catch {
    // Not JSON, so not ours.
    return undefined;
  }
};
