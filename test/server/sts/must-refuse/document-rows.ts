// Rows 3, 11, 12, 14, 15 and 18: attacks by the documents of an issuer that an identity trusts. The server must never be sent
// to the host `other`.
import { gzipSync } from "node:zlib";
import { DISCOVERY, type Issuer, RSA, rsa } from "../../../harness/sts.ts";
import { WEAK_KEYS } from "../weak-key.ts";

type Change = (issuer: Issuer, other: Issuer) => void;

/** Refused while they are fetched, with the reason in the log. */
export const DOCUMENT_ROWS: [row: number, what: string, detail: string, change: Change][] = [
  [
    11,
    "a discovery document of another spelling",
    "the discovery document names another issuer",
    (issuer) => issuer.describe({ issuer: `${issuer.url}/`, jwks_uri: `${issuer.url}/jwks` }),
  ],
  [
    12,
    "a discovery document of another issuer",
    "the discovery document names another issuer",
    (issuer, other) => issuer.describe({ issuer: other.url, jwks_uri: `${issuer.url}/jwks` }),
  ],
  [12, "a discovery document of none", "the discovery document names another issuer", (issuer) => issuer.describe({})],
  [
    12,
    "a discovery document without keys",
    "the discovery document has no jwks_uri",
    (issuer) => issuer.describe({ issuer: issuer.url }),
  ],
  [
    12,
    "keys over http",
    "not https",
    (issuer) => issuer.describe({ issuer: issuer.url, jwks_uri: "http://keys.example/jwks" }),
  ],
  [
    12,
    "keys at a private address",
    "not a public address",
    (issuer) => issuer.describe({ issuer: issuer.url, jwks_uri: "https://169.254.169.254/jwks" }),
  ],
  [
    12,
    "keys of a user",
    "a URL with a user",
    (issuer) => issuer.describe({ issuer: issuer.url, jwks_uri: "https://user:password@keys.example/jwks" }),
  ],
  [12, "keys at no URL", "not a URL", (issuer) => issuer.describe({ issuer: issuer.url, jwks_uri: "/jwks" })],
  [
    12,
    "keys in a file",
    "not https",
    (issuer) => issuer.describe({ issuer: issuer.url, jwks_uri: "file:///etc/passwd" }),
  ],
  [
    14,
    "a redirect of the discovery document",
    "answered 302",
    (issuer, other) => {
      issuer.handlers[DISCOVERY] = (_, response) =>
        void response.writeHead(302, { location: `${other.url}${DISCOVERY}` }).end();
    },
  ],
  [
    14,
    "a redirect of the keys",
    "answered 307",
    (issuer, other) => {
      issuer.handlers["/jwks"] = (_, response) => void response.writeHead(307, { location: `${other.url}/jwks` }).end();
    },
  ],
  [
    15,
    "a huge document",
    "longer than 100 KiB",
    (issuer) => issuer.describe({ issuer: issuer.url, x: "x".repeat(102_400) }),
  ],
  [
    15,
    "a document without an end",
    "longer than 100 KiB",
    (issuer) => {
      issuer.handlers[DISCOVERY] = (_, response) => {
        const more = () => {
          while (response.write("x".repeat(1024)));
        };
        response.on("drain", more);
        more();
      };
    },
  ],
  [
    15,
    "a compressed document",
    "a compressed answer",
    (issuer) => {
      issuer.handlers[DISCOVERY] = (_, response) =>
        void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("x".repeat(10_000_000)));
    },
  ],
  [
    15,
    "a head of more than 16 KiB",
    "Headers Overflow Error",
    (issuer) => {
      issuer.handlers[DISCOVERY] = (_, response) => {
        for (let i = 0; i < 5; i += 1) response.setHeader(`x-${i}`, "x".repeat(8000));
        response.end("{}");
      };
    },
  ],
  [
    15,
    "a part of a document",
    "answered 206",
    (issuer) => {
      issuer.handlers[DISCOVERY] = (_, response) => void response.writeHead(206).end("{}");
    },
  ],
  [
    15,
    "less than it promised",
    "other side closed",
    (issuer) => {
      issuer.handlers[DISCOVERY] = ({ socket }) => void socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}");
    },
  ],
  [15, "too many keys", "more than 100 keys", (issuer) => issuer.publish(new Array(101).fill(RSA.jwk))],
  [
    18,
    "a member twice",
    "a JSON object has the same name twice",
    (issuer) => {
      issuer.handlers["/jwks"] = (_, response) => void response.end('{"keys":[],"keys":[]}');
    },
  ],
  [
    18,
    "no set of keys",
    'not an object with a list of "keys"',
    (issuer) => {
      issuer.handlers["/jwks"] = (_, response) => void response.end("[]");
    },
  ],
  [
    18,
    "a page",
    "not JSON",
    (issuer) => {
      issuer.handlers["/jwks"] = (_, response) => void response.end("<html>");
    },
  ],
];

/** Fetched, and no key for a token that is signed with RSA. */
type KeyRow = [row: number, what: string, change: Change];
export const KEY_ROWS: KeyRow[] = [
  [3, "a key of another alg", (issuer) => issuer.publish([{ ...RSA.jwk, alg: "PS256" }])],
  [3, "a key of a symmetric alg", (issuer) => issuer.publish([{ ...RSA.jwk, alg: "HS256" }])],
  [3, "a key for encryption", (issuer) => issuer.publish([{ ...RSA.jwk, use: "enc" }])],
  [3, "a key that may only sign", (issuer) => issuer.publish([{ ...RSA.jwk, key_ops: ["sign"] }])],
  [18, "a kid twice", (issuer) => issuer.publish([RSA.jwk, { ...rsa("other").jwk, kid: RSA.kid }])],
  [18, "a key of 1024 bits", (issuer) => issuer.publish([{ ...rsa("short", 1024).jwk, kid: RSA.kid }])],
  ...WEAK_KEYS.map(
    ([what, jwk]): KeyRow => [18, `a key of ${what}`, (issuer) => issuer.publish([{ ...jwk, kid: RSA.kid }])],
  ),
  [18, "a private key", (issuer) => issuer.publish([{ ...RSA.privateKey.export({ format: "jwk" }), kid: RSA.kid }])],
  [
    18,
    "a point off its curve",
    (issuer) => issuer.publish([{ kty: "EC", crv: "P-256", x: "AA", y: "AA", kid: RSA.kid }]),
  ],
  [17, "a key that it has removed", (issuer) => issuer.publish([])],
];
