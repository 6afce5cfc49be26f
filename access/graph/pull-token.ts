// Pull tokens (docs/contract.md#pull-tokens): the credentials of container and package clients. To the service, each is an identity with
// static keys. Whoever may create identities can give this form to an identity that holds more, so the form says who an identity is meant
// for, and only its capabilities say what it can do.
import { BUILT_IN_ROLE_CAPABILITIES, isObject, type Json } from "../../schema/index.ts";

const ISSUER = "https://pulltoken.issuer.chainguard.dev";
const SUBJECT = /^pull-token-./;

/** When the keys of a pull token end, RFC 3339; undefined for any other identity. */
export const pullTokenExpiry = (relationship: Json | null): string | undefined => {
  const { staticKeys: keys, ...others } = relationship ?? {};
  if (!isObject(keys) || Object.keys(others).length > 0) return undefined;
  const { issuer, subject, expirationTime } = keys;
  if (issuer !== ISSUER || typeof subject !== "string" || !SUBJECT.test(subject)) return undefined;
  return typeof expirationTime === "string" && Number.isFinite(Date.parse(expirationTime)) ? expirationTime : undefined;
};

const PULL_ROLE = /^(registry|apk|libraries\.[a-z]+)\.pull$/;

/** What these built-in roles grant, whatever the role of a token is called. */
const PULLS: ReadonlySet<string> = new Set(
  Object.entries(BUILT_IN_ROLE_CAPABILITIES).flatMap(([name, granted]) => (PULL_ROLE.test(name) ? granted : [])),
);

/** Friendly names. One that this version does not know is more than a pull. */
export const beyondPulls = (capabilities: Iterable<string>): string[] =>
  [...new Set(capabilities)].filter((one) => !PULLS.has(one)).sort();

/** Whether anybody has signed in with it: until then, `lastSeenTime` is the time of its creation. */
export const isUsed = (lastSeenTime: string, createTime: string): boolean =>
  Date.parse(lastSeenTime) > Date.parse(createTime);
