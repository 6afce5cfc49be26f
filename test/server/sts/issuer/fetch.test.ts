// Documents of other hosts, against an issuer on loopback: rows 11 to 15 of docs/internals/faults.md#tokens-that-must-be-refused.
import { createServer } from "node:https";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { MockAgent } from "undici";
import { expect, it } from "vitest";
import { createDocuments } from "../../../../server/sts/issuer/cache.ts";
import { createFetchDocument, type FetchDocument } from "../../../../server/sts/issuer/fetch.ts";
import { atEnd } from "../../../harness/api-server.ts";
import {
  claimsFrom,
  createCache,
  createService,
  DENIED,
  DISCOVERY,
  identity,
  kids,
  named,
  RSA,
  refused,
  SUBJECT,
  serveIssuer,
  sign,
  UID,
} from "../../../harness/sts.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../../../support/certificate.ts";
import { listen } from "../../../support/listen.ts";

it("an issuer's documents may belong to an issuer with a final slash or a path", async () => {
  const issuer = await serveIssuer();
  for (const path of ["/", "/tenant", "/tenant/"]) {
    const at = `${issuer.url}${path}`;
    issuer.handlers[`${path.replace(/\/$/, "")}${DISCOVERY}`] = (_, response) =>
      void response.end(JSON.stringify({ issuer: at, jwks_uri: `${issuer.url}/jwks` }));
    expect(await createCache().documents.keysOf(at, named("rsa-1"))).toHaveLength(1);
  }
});

const ACCOUNTS = "https://accounts.example";
/** A public issuer whose keys are there. */
const accountsWith = (jwks_uri: string): MockAgent => {
  const dispatcher = new MockAgent();
  dispatcher.disableNetConnect();
  dispatcher.get(ACCOUNTS).intercept({ path: DISCOVERY }).reply(200, { issuer: ACCOUNTS, jwks_uri });
  return dispatcher;
};

it("an issuer's documents may have their keys on another public host", async () => {
  const dispatcher = accountsWith("https://keys.example/v3");
  dispatcher
    .get("https://keys.example")
    .intercept({ path: "/v3" })
    .reply(200, { keys: [RSA.jwk] });
  const { documents } = createCache({ dispatcher, dev: false });
  expect(await documents.keysOf(ACCOUNTS, named("rsa-1"))).toHaveLength(1);
});

const TIMEOUT = refused("The operation was aborted due to timeout");

it("row 15: an issuer's documents are given up when they are slow", async () => {
  const issuer = await serveIssuer();
  issuer.handlers[DISCOVERY] = (_, response) => void response.writeHead(200).write("{");
  const { documents } = createCache({ timeoutMs: 50 });
  await expect(documents.keysOf(issuer.url, named("rsa-1"))).rejects.toMatchObject(TIMEOUT);
});

it("row 15: the time limit for both documents together includes the time that a name server is silent", async () => {
  const asked: string[] = [];
  const resolve = (host: string) => {
    asked.push(host);
    return new Promise<never>(() => undefined);
  };
  const { documents } = createCache({ resolve, timeoutMs: 50 });
  await expect(documents.keysOf("https://issuer.example", named("rsa-1"))).rejects.toMatchObject(TIMEOUT);
  expect(asked).toEqual(["issuer.example"]);
});

it("row 15: the time limit for both documents together does not restart for the keys", async () => {
  const issuer = await serveIssuer();
  const signals = new Set<AbortSignal>();
  const fetched = createFetchDocument({});
  const fetchDocument: FetchDocument = (url, signal) => {
    signals.add(signal);
    return fetched(url, signal);
  };
  const documents = createDocuments({ clock: () => 0, dev: true, fetchDocument });
  expect(await kids(documents, issuer, "rsa-1")).toEqual(["rsa-1"]);
  expect(issuer.paths).toHaveLength(2);
  expect(signals.size).toBe(1);
});

it("row 13: an issuer in our own network is resolved for each connection, which uses the checked address", async () => {
  const issuer = await serveIssuer();
  const asked: string[] = [];
  const resolve = async (host: string) => {
    asked.push(host);
    return [{ address: "127.0.0.1", family: 4 }];
  };
  const url = `http://localhost:${issuer.port}`;
  issuer.describe({ issuer: url, jwks_uri: `${url}/jwks` });
  expect(await createCache({ resolve }).documents.keysOf(url, named("rsa-1"))).toHaveLength(1);
  expect(asked).toEqual(["localhost", "localhost"]);
  expect(issuer.connections()).toBe(2);
});

it("row 13: an issuer on loopback gets no connection without dev", async () => {
  const issuer = await serveIssuer();
  const { sts, events } = createService([identity({ claimMatch: { issuer: issuer.url, subject: SUBJECT } })], {
    dev: false,
  });
  await expect(sts.exchange({ identity: UID }, await sign(claimsFrom(issuer.url)))).rejects.toMatchObject(DENIED);
  expect(events).toMatchObject([{ reason: "document", detail: "a URL on loopback" }]);
  expect(issuer.connections()).toBe(0);
});

it("row 13: an issuer in our own network cannot hold the keys of a public issuer, not even with dev", async () => {
  const issuer = await serveIssuer();
  const dispatcher = accountsWith(`${issuer.url}/jwks`);
  dispatcher.enableNetConnect();
  const { documents } = createCache({ dispatcher });
  await expect(documents.keysOf(ACCOUNTS, named("rsa-1"))).rejects.toMatchObject(refused("a URL on loopback"));
  expect(issuer.connections()).toBe(0);
});

const serveOverHttps = async () => {
  const paths: string[] = [];
  const server = createServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, ({ url = "" }, response) => {
    paths.push(url);
    response.end(JSON.stringify(url === DISCOVERY ? { issuer, jwks_uri: `${issuer}/jwks` } : { keys: [RSA.jwk] }));
  });
  const issuer = `https://localhost:${await listen(server)}`;
  atEnd(() => server.close());
  return { issuer, paths };
};

it("an issuer with an untrusted certificate is refused", async () => {
  const { issuer, paths } = await serveOverHttps();
  await expect(createCache().documents.keysOf(issuer, named("rsa-1"))).rejects.toMatchObject(
    refused(expect.stringMatching(/^self-signed certificate/)),
  );
  expect(paths).toEqual([]);
});

it("an issuer over https with a trusted certificate is accepted", async () => {
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, CERTIFICATE]);
  const { issuer, paths } = await serveOverHttps();
  expect(await createCache().documents.keysOf(issuer, named("rsa-1"))).toHaveLength(1);
  expect(paths).toEqual([DISCOVERY, "/jwks"]);
  setDefaultCACertificates(before);
});
