// The page at `/`, as text; test/interop/home-page.test.ts opens it in a browser.
import { describe, expect, test } from "vitest";
import { createServer, type RunningServer } from "../../../server/index.ts";
import { homeDocument } from "../../../server/pages/home-document.ts";
import { atEnd, openHttp, sharedKeys } from "../../harness/api-server.ts";
import { manualClock } from "../../harness/clock.ts";

const start = async (options: Parameters<typeof createServer>[0]): Promise<RunningServer> => {
  const server = await createServer({ clock: manualClock(), keys: sharedKeys(), ...options });
  atEnd(server.close);
  return server;
};

const get = async (url: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(url, { headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

const tokenIn = (html: string): string | undefined => /data-token="([^"]+)"/.exec(html)?.[1];

describe("with --dev", async () => {
  const server = await start({ dev: true });

  test("shows the addresses, the organization and its owner", async () => {
    const { status, headers, text } = await get(`${server.baseUrl}/`);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(text).toContain(`<dt>API</dt><dd><code>${server.baseUrl}</code></dd>`);
    expect(text).toContain(`<dt>gRPC</dt><dd><code>${new URL(server.baseUrl).host}</code></dd>`);
    expect(text).toContain(`${server.authUrl}/sts/exchange`);
    expect(text).toContain(`<dt>Organization</dt><dd><code>${server.organization}</code></dd>`);
    expect(text).toContain(`<dt>Owner</dt><dd><code>${server.identity}</code></dd>`);
  });

  test("has a token of the owner that the API accepts", async () => {
    const token = tokenIn((await get(`${server.baseUrl}/`)).text);
    const { status } = await get(`${server.baseUrl}/iam/v2beta1/groups/${server.organization}`, {
      authorization: `Bearer ${token}`,
    });
    expect(status).toBe(200);
  });

  test("loads nothing from another host, and forbids it", async () => {
    const { headers, text } = await get(`${server.baseUrl}/`);
    const loaded = [...text.matchAll(/(?:src|rel="(?:stylesheet|icon)" href)="([^"]+)"/g)].map(([, url]) => url);
    expect(loaded).toEqual([
      "data:,",
      "/assets/swagger-ui.css",
      "/assets/home.css",
      "/assets/swagger-ui.js",
      "/assets/home.js",
    ]);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  });

  test.each([
    ["/assets/swagger-ui.css", "text/css; charset=utf-8"],
    ["/assets/home.css", "text/css; charset=utf-8"],
    ["/assets/swagger-ui.js", "text/javascript; charset=utf-8"],
    ["/assets/home.js", "text/javascript; charset=utf-8"],
  ])("serves %s as %s", async (path, type) => {
    const { status, headers, text } = await get(`${server.baseUrl}${path}`);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe(type);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(text.length).toBeGreaterThan(500);
  });

  test("shows neither token nor organization to a browser that names another host, as after DNS rebinding", async () => {
    const client = openHttp(server.baseUrl);
    const { status, text } = await client.send({ method: "GET", target: "/", headers: { host: "evil.example" } });
    expect(status).toBe(200);
    expect(tokenIn(text)).toBeUndefined();
    expect(text).not.toContain(server.organization as string);
  });

  test("answers HEAD without a body, and no methods except GET and HEAD", async () => {
    const head = await fetch(`${server.baseUrl}/`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect((await fetch(`${server.baseUrl}/`, { method: "POST" })).status).toBe(404);
  });

  test("has no token once its owner is deleted", async () => {
    const own = await start({ dev: true });
    const token = tokenIn((await get(`${own.baseUrl}/`)).text);
    const url = `${own.baseUrl}/iam/v2beta1/identities/${own.identity}`;
    expect((await fetch(url, { method: "DELETE", headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    const { status, text } = await get(`${own.baseUrl}/`);
    expect([status, tokenIn(text)]).toEqual([200, undefined]);
  });
});

test("shows neither token nor organization without --dev", async () => {
  const { baseUrl } = await start({});
  const { status, text } = await get(`${baseUrl}/`);
  expect(status).toBe(200);
  expect(text).toContain(`<dt>API</dt><dd><code>${baseUrl}</code></dd>`);
  expect(tokenIn(text)).toBeUndefined();
  expect(text).not.toContain("<dt>Organization</dt>");
});

test("escapes the values that it shows", () => {
  const html = homeDocument({
    baseUrl: "http://127.0.0.1:1",
    authUrl: `http://127.0.0.1:1/"><script>`,
    organization: "<b>&'",
  });
  expect(html).not.toContain('"><script>');
  expect(html).toContain("&lt;b&gt;&amp;&#39;");
});
