// Pages for a developer: a browser on this machine does not reach them for another site, neither by a name of that site that
// resolves to loopback (DNS rebinding) nor from a page of another origin. A server without their option does not have them.
import { beforeEach, describe, expect, test } from "vitest";
import { openHttp, serve } from "../../harness/api-server.ts";
import { expectRefusal } from "../../support/refusal.ts";

const api = await serve({ faults: {} });
const plain = await serve({ dev: false });
const SCRIPT = { rules: [{ operation: "ListRoles" as const, steps: [{ status: 503 }] }] };
beforeEach(() => api.faults.set(SCRIPT));

const PAGES: [method: string, path: string, subject: string, body?: string][] = [
  ["POST", "/dev-issuer/token", "the development issuer is", '{"subject":"owner"}'],
  ["POST", "/dev/reset", "the reset is"],
  ["GET", "/faults", "the scripted failures are"],
  ["PUT", "/faults", "the scripted failures are", "{}"],
  ["POST", "/faults/release", "the scripted failures are"],
];

describe.each(PAGES)("%s %s", (method, path, subject, body) => {
  const send = (headers: Record<string, string>, target = path, url = api.baseUrl) =>
    openHttp(url).send({
      method,
      target,
      headers: { "content-type": "application/json", ...headers },
      ...(body && { body }),
    });
  const expectRefused = async (answer: ReturnType<typeof send>, text: string) => {
    expectRefusal(await answer, "PERMISSION_DENIED", `${subject} ${text}`);
    expect(Object.keys((await answer).headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect((await api.call("GET", "/faults")).json.faults).toEqual(SCRIPT);
  };

  test.each(["127.0.0.1", "localhost:8080", "LOCALHOST", "[::1]:1", "127.1.2.3"])("is reached at %s", async (host) => {
    expect((await send({ host })).status).toBe(200);
  });

  test.each([
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "localhost@evil.example",
    "localhost/",
    "evil.example#localhost",
  ])("is not reached at «%s»", (host) => expectRefused(send({ host }), "reached by a name of loopback only"));

  test("is not reached by a target with another host than the header", () =>
    expectRefused(send({ host: "localhost" }, `http://evil.example${path}`), "reached by a name of loopback only"));

  test.each(["https://evil.example", "null", "http://127.0.0.1:1"])("is not for pages of %s", (origin) =>
    expectRefused(send({ origin }), "not for pages of another origin"),
  );

  test("is for pages of the server itself", async () => {
    expect((await send({ origin: api.baseUrl })).status).toBe(200);
  });

  test("does not exist without its option", async () => {
    expectRefusal(await send({}, path, plain.baseUrl), "NOT_FOUND", `there is no ${path}`);
  });
});

test("a server without them has no documents of the development issuer, and no functions for the others", async () => {
  for (const name of ["openid-configuration", "jwks.json"])
    expect((await plain.call("GET", `/dev-issuer/.well-known/${name}`)).status).toBe(404);
  expect(plain.faults).toBeUndefined();
  expect(plain).not.toHaveProperty("reset");
});
