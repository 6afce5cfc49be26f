// Documents of other hosts: rows 11 to 18 of the must-refuse list (faults, section 2.1), against an issuer on loopback.
import { gzipSync } from "node:zlib";
import { MockAgent } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import { createCache, DISCOVERY, issuers, kids, named, refused } from "./documents-fixture.ts";
import {
  claimsFrom,
  createService,
  DENIED,
  type Issuer,
  identity,
  RSA,
  SUBJECT,
  sign,
  startIssuer,
  UID,
} from "./fixture.ts";

const { start, stop } = issuers();
afterEach(stop);

describe("an issuer's documents", () => {
  it("are fetched once and kept", async () => {
    const issuer = await start();
    const { documents } = createCache();
    expect(await kids(documents, issuer, "rsa-1")).toEqual(["rsa-1"]);
    expect(await kids(documents, issuer, "rsa-1")).toEqual(["rsa-1"]);
    expect(issuer.paths).toEqual([DISCOVERY, "/jwks"]);
  });

  it("may be those of an issuer with a slash behind, or with a path", async () => {
    const issuer = await start();
    for (const path of ["/", "/tenant", "/tenant/"]) {
      const at = `${issuer.url}${path}`;
      issuer.handlers[`${path.replace(/\/$/, "")}${DISCOVERY}`] = (_, response) =>
        void response.end(JSON.stringify({ issuer: at, jwks_uri: `${issuer.url}/jwks` }));
      expect(await createCache().documents.keysOf(at, named("rsa-1"))).toHaveLength(1);
    }
  });

  it("may have their keys on another public host", async () => {
    const dispatcher = new MockAgent();
    dispatcher.disableNetConnect();
    dispatcher
      .get("https://accounts.example")
      .intercept({ path: DISCOVERY })
      .reply(200, { issuer: "https://accounts.example", jwks_uri: "https://keys.example/v3" });
    dispatcher
      .get("https://keys.example")
      .intercept({ path: "/v3" })
      .reply(200, { keys: [RSA.jwk] });
    const { documents } = createCache({ dispatcher, dev: false });
    expect(await documents.keysOf("https://accounts.example", named("rsa-1"))).toHaveLength(1);
  });

  type Change = (issuer: Issuer, other: Issuer) => void;
  it.each<[number, string, string, Change]>([
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
    [
      12,
      "a discovery document of none",
      "the discovery document names another issuer",
      (issuer) => issuer.describe({}),
    ],
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
        issuer.handlers["/jwks"] = (_, response) =>
          void response.writeHead(307, { location: `${other.url}/jwks` }).end();
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
  ])("row %i: are refused with %s", async (_row, _what, message, change) => {
    const [issuer, other] = [await start(), await start()];
    change(issuer, other);
    await expect(createCache().documents.keysOf(issuer.url, named("rsa-1"))).rejects.toMatchObject(refused(message));
    expect(other.connections()).toBe(0);
  });

  it("row 15: are given up when they are slow", async () => {
    const issuer = await start();
    issuer.handlers[DISCOVERY] = (_, response) => void response.writeHead(200).write("{");
    const { documents } = createCache({ timeoutMs: 50 });
    await expect(documents.keysOf(issuer.url, named("rsa-1"))).rejects.toMatchObject(
      refused("The operation was aborted due to timeout"),
    );
  });
});

describe("row 13: an issuer in our own network", () => {
  it.each([
    ["127.0.0.1", true],
    ["127.0.0.1", false],
    ["::1", true],
  ])("that resolves to %s is not connected to (dev: %s)", async (address, dev) => {
    const issuer = await start();
    const resolve = async () => [{ address, family: address.includes(":") ? 6 : 4 }];
    const { documents } = createCache({ resolve, dev });
    const url = `https://issuer.example:${issuer.port}`;
    await expect(documents.keysOf(url, named("rsa-1"))).rejects.toMatchObject(
      refused("the host resolves to an address that is not public"),
    );
    expect(issuer.connections()).toBe(0);
  });

  it("is resolved for each connection, and the address that was checked is the one connected to", async () => {
    const issuer = await start();
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

  it("on loopback is not connected to without dev", async () => {
    const issuer = await start();
    const { sts, events } = createService([identity({ claimMatch: { issuer: issuer.url, subject: SUBJECT } })], {
      dev: false,
    });
    await expect(sts.exchange({ identity: UID }, await sign(claimsFrom(issuer.url)))).rejects.toMatchObject(DENIED);
    expect(events).toMatchObject([{ reason: "document", detail: "a URL on loopback" }]);
    expect(issuer.connections()).toBe(0);
  });

  it("is not reached by the keys of a public issuer, not even with dev", async () => {
    const issuer = await start();
    const dispatcher = new MockAgent();
    dispatcher.enableNetConnect();
    dispatcher
      .get("https://accounts.example")
      .intercept({ path: DISCOVERY })
      .reply(200, { issuer: "https://accounts.example", jwks_uri: `${issuer.url}/jwks` });
    const { documents } = createCache({ dispatcher });
    await expect(documents.keysOf("https://accounts.example", named("rsa-1"))).rejects.toMatchObject(
      refused("a URL on loopback"),
    );
    expect(issuer.connections()).toBe(0);
  });
});

it("an issuer that cannot be reached is denied like everything else, and the log says why", async () => {
  const issuer = await startIssuer();
  await issuer.close();
  const { sts, events } = createService([identity({ claimMatch: { issuer: issuer.url, subject: SUBJECT } })]);
  await expect(sts.exchange({ identity: UID }, await sign(claimsFrom(issuer.url)))).rejects.toMatchObject(DENIED);
  expect(events).toMatchObject([{ reason: "document", detail: `connect ECONNREFUSED 127.0.0.1:${issuer.port}` }]);
});
