// Rows 3, 11, 12, 14, 15 and 18: attacks by the documents of an issuer that an identity trusts. The server must never be sent
// to the host `other`.
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { DISCOVERY, type Issuer, RSA, rsa } from "../../../harness/sts.ts";
import type { Body } from "../../../support/http.ts";

type Change = (issuer: Issuer, other: Issuer) => void;

const keysAt =
  (jwks_uri?: string): Change =>
  (issuer) =>
    issuer.describe({ issuer: issuer.url, jwks_uri });
const answering =
  (path: string, answer: (response: ServerResponse, other: Issuer) => unknown): Change =>
  (issuer, other) => {
    issuer.handlers[path] = (_, response) => void answer(response, other);
  };
const redirecting = (path: string, status: number) =>
  answering(path, (response, other) => response.writeHead(status, { location: `${other.url}${path}` }).end());
const named =
  (nameOf: (issuer: Issuer, other: Issuer) => string): Change =>
  (issuer, other) =>
    issuer.describe({ issuer: nameOf(issuer, other), jwks_uri: `${issuer.url}/jwks` });
const HUGE = "x".repeat(102_400);
const keysIn = (text: string) => answering("/jwks", (response) => response.end(text));

const endless = (response: ServerResponse) => {
  const more = () => {
    while (response.write("x".repeat(1024)));
  };
  response.on("drain", more);
  more();
};

const compressed = (response: ServerResponse) =>
  response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("x".repeat(10_000_000)));

const overflowing = (response: ServerResponse) => {
  for (let i = 0; i < 5; i += 1) response.setHeader(`x-${i}`, "x".repeat(8000));
  response.end("{}");
};

const CUT = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}";
const ANOTHER = "the discovery document names another issuer";

/** Refused while they are fetched, with the reason in the log. */
export const DOCUMENT_ROWS: [row: number, what: string, detail: string, change: Change][] = [
  [11, "a discovery document of another spelling", ANOTHER, named(({ url }) => `${url}/`)],
  [12, "a discovery document of another issuer", ANOTHER, named((_, other) => other.url)],
  [12, "a discovery document of none", ANOTHER, (issuer) => issuer.describe({})],
  [12, "a discovery document without keys", "the discovery document has no jwks_uri", keysAt()],
  [12, "keys over http", "not https", keysAt("http://keys.example/jwks")],
  [14, "a redirect of the discovery document", "answered 302", redirecting(DISCOVERY, 302)],
  [14, "a redirect of the keys", "answered 307", redirecting("/jwks", 307)],
  [15, "a huge document", "longer than 100 KiB", (issuer) => issuer.describe({ issuer: issuer.url, x: HUGE })],
  [15, "a document without an end", "longer than 100 KiB", answering(DISCOVERY, endless)],
  [15, "a compressed document", "a compressed answer", answering(DISCOVERY, compressed)],
  [15, "a head of more than 16 KiB", "Headers Overflow Error", answering(DISCOVERY, overflowing)],
  [15, "a part of a document", "answered 206", answering(DISCOVERY, (response) => response.writeHead(206).end("{}"))],
  [15, "less than it promised", "other side closed", answering(DISCOVERY, ({ socket }) => socket?.end(CUT))],
  [15, "too many keys", "more than 100 keys", (issuer) => issuer.publish(new Array(101).fill(RSA.jwk))],
  [18, "a member twice", "a JSON object has the same name twice", keysIn('{"keys":[],"keys":[]}')],
  [18, "no set of keys", 'not an object with a list of "keys"', keysIn("[]")],
  [18, "a page", "not JSON", keysIn("<html>")],
];

const publishing =
  (...keys: Body[]): Change =>
  (issuer) =>
    issuer.publish(keys);

/** Fetched, and no key for a token that is signed with RSA. */
export const KEY_ROWS: [row: number, what: string, change: Change][] = [
  [3, "a key of another alg", publishing({ ...RSA.jwk, alg: "PS256" })],
  [18, "a kid twice", publishing(RSA.jwk, { ...rsa("other").jwk, kid: RSA.kid })],
  [17, "a key that it has removed", publishing()],
];
