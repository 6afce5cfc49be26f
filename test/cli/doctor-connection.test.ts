// `irm doctor` on the way to the service: connection, certificate, proxy, clock.
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { doctor, failed, messageOf, startDoctor } from "../harness/doctor.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../support/certificate.ts";
import { runIrm } from "../support/irm.ts";

const { api, folder } = await startDoctor();

/** Runs with a server of another kind at the address. */
const withServer = async (server: Server, scheme: string, run: () => Promise<void>): Promise<void> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("IRM_BASE_URL", `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await run().finally(() => server.close());
};

const secure = () => createTlsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (_, response) => response.end("{}"));

describe("the way to the service", () => {
  beforeEach(() => void vi.stubEnv("IRM_TOKEN", api.owner.token));

  test("nothing listens there", async () => {
    vi.stubEnv("IRM_BASE_URL", "http://127.0.0.1:2");
    const found = await doctor();
    expect(failed(found)).toEqual(["connection"]);
    expect(messageOf(found, "connection")).toContain("ECONNREFUSED");
  });

  test("something else answers there", async () => {
    const page = createServer((_, response) => response.writeHead(200).end("<h1>Sign in to the network</h1>"));
    await withServer(page, "http", async () => {
      const found = await doctor();
      expect(failed(found)).toContain("connection");
      expect(messageOf(found, "connection")).toContain(
        "answers, but not as the API: the response (HTTP 200) is not JSON",
      );
    });
  });

  test("its certificate is not trusted", async () => {
    await withServer(secure(), "https", async () => {
      vi.stubEnv("NODE_EXTRA_CA_CERTS", folder.path("no.pem"));
      const found = await doctor();
      expect(failed(found)).toEqual(["tls", "tls-settings"]);
      expect(found.checks.find(({ id }) => id === "tls")?.fix).toContain("NODE_EXTRA_CA_CERTS");
    });
  });

  test("every certificate is taken", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    // Node warns of it on stderr, too.
    await withServer(secure(), "https", async () => {
      const { stdout } = await runIrm("doctor", "--format", "json");
      expect(failed(JSON.parse(stdout))).toContain("tls-settings");
    });
  });

  test("a proxy is on the way, whose password is not printed", async () => {
    vi.stubEnv("HTTP_PROXY", "http://user:hunter22@127.0.0.1:2");
    expect(messageOf(await doctor(), "proxy")).toMatch(/^HTTP_PROXY is not used: .* is this machine$/);
    vi.stubEnv("IRM_BASE_URL", "https://irm.example");
    const found = await doctor();
    expect(messageOf(found, "proxy")).toBe("http://[secret]@127.0.0.1:2 (HTTP_PROXY)");
    expect(failed(found)).toEqual(["connection"]);
    expect(found.text).not.toMatch(/user|hunter22/);
    vi.stubEnv("NO_PROXY", "example, other.test");
    expect(messageOf(await doctor(), "proxy")).toBe("HTTP_PROXY is not used: NO_PROXY lists irm.example");
    vi.stubEnv("HTTP_PROXY", "no proxy");
    expect(failed(await doctor())).toEqual(["proxy"]);
  });

  test("the clocks differ", async () => {
    const late = createServer((_, response) => {
      response.sendDate = false;
      const date = new Date(Date.now() - 10 * 60_000).toUTCString();
      response.writeHead(200, { "content-type": "application/json", date }).end('{"response":"pong"}');
    });
    await withServer(late, "http", async () => {
      expect(messageOf(await doctor(), "clock")).toMatch(/^this machine is 10 minutes ahead of the service$/);
    });
  });
});
