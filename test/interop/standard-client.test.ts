// The server with independent clients, grpcurl (Go) and curl: in the clear and with TLS, on one port. The contract
// tests have grpc-js on the generated .proto files.
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { capture } from "../../scripts/base/child.mjs";
import { ensureGrpcurl } from "../../scripts/setup/grpcurl.mjs";
import { createServer, type RunningServer } from "../../server/index.ts";
import { sharedKeys } from "../harness/api-server.ts";
import { manualClock, START_MS } from "../harness/clock.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../support/certificate.ts";
import { temporaryFolder } from "../support/command.ts";
import type { Body } from "../support/http.ts";
import { badRequest, NO_NAME, statusBody } from "../support/refusal.ts";

const grpcurl = await ensureGrpcurl();
const curlVersion = await capture("curl", ["--version"], {}).catch(() => ({ output: "" }));
const curlLacks = !curlVersion.output.startsWith("curl")
  ? "there is no `curl` on the PATH"
  : /^Features:.*\bHTTP2\b/m.test(curlVersion.output)
    ? undefined
    : "this curl has no HTTP/2";

const folder = temporaryFolder();
const authority = folder.path("authority.pem");
writeFileSync(authority, CERTIFICATE);
afterAll(folder.remove);

const PLATFORM = "chainguard.platform";
const GROUPS = `${PLATFORM}.iam.v2beta1.GroupsService`;
const REFUSED = statusBody("INVALID_ARGUMENT", `name: ${NO_NAME}`, { details: [badRequest({ name: NO_NAME })] });

describe.each([
  ["in the clear", undefined],
  ["with TLS", { cert: CERTIFICATE, key: CERTIFICATE_KEY }],
])("%s", (_, tls) => {
  let server: RunningServer;
  let host: string;
  let workload: string;
  beforeAll(async () => {
    const keys = sharedKeys();
    server = await createServer({ dev: true, clock: manualClock(), keys, ...(tls && { tls }) });
    host = new URL(server.baseUrl).host;
    const iat = Math.floor(START_MS / 1000);
    const claims = { iss: server.issuer, sub: "owner", aud: server.authUrl, iat, exp: iat + 60 };
    workload = await keys.devSigner.sign(claims);
  });
  afterAll(() => server.close());

  describe.skipIf(grpcurl.reason)(grpcurl.reason ? `grpcurl (skipped: ${grpcurl.reason})` : "grpcurl", () => {
    const run = async (...args: string[]) => {
      const security = tls ? ["-cacert", authority] : ["-plaintext"];
      const { code, output } = await capture(grpcurl.command as string, [...security, "-format-error", ...args], {});
      return { code, output };
    };
    const ok = async (...args: string[]): Promise<Body> => {
      const { code, output } = await run(...args);
      expect(code, output).toBe(0);
      return JSON.parse(output);
    };
    const authorized = async (): Promise<string[]> => {
      const request = JSON.stringify({ aud: [server.baseUrl], identity: server.identity });
      const bearer = ["-H", `authorization: Bearer ${workload}`];
      const { token } = await ok(...bearer, "-d", request, host, `${PLATFORM}.oidc.SecurityTokenService/Exchange`);
      return ["-H", `authorization: Bearer ${token}`];
    };

    test("lists the services by reflection", async () => {
      const { code, output } = await run(host, "list");
      expect(code, output).toBe(0);
      expect(output.trim().split("\n")).toEqual(
        expect.arrayContaining([GROUPS, `${PLATFORM}.iam.v2.GroupsService`, "grpc.health.v1.Health"]),
      );
    });

    test("describes a method and a message, with their options", async () => {
      const method = await run(host, "describe", `${GROUPS}.CreateGroup`);
      expect(method.output).toContain('post: "/iam/v2beta1/groups/{parent=**}"');
      const message = await run(host, "describe", `${PLATFORM}.iam.v2beta1.Group`);
      expect(message.output).toContain("map<string, int32> resource_limits = 4 [(.google.api.field_behavior)");
    });

    test("exchanges a token, creates and reads a group, and gets an error in full", async () => {
      const bearer = await authorized();
      const request = (name: string) => JSON.stringify({ parent: server.organization, group: { name } });
      const made = await ok(...bearer, "-d", request("grpcurl"), host, `${GROUPS}/CreateGroup`);
      expect(made).toMatchObject({ name: "grpcurl" });
      expect(await ok(...bearer, "-d", JSON.stringify({ uid: made.uid }), host, `${GROUPS}/GetGroup`)).toEqual(made);
      const refused = await run(...bearer, "-d", request("BAD"), host, `${GROUPS}/CreateGroup`);
      // grpcurl ends with 64 and the code of the call.
      expect(refused.code).toBe(64 + 3);
      expect(JSON.parse(refused.output)).toEqual(REFUSED);
    });
  });

  describe.skipIf(curlLacks)(curlLacks ? `curl (skipped: ${curlLacks})` : "curl", () => {
    const run = async (version: string, ...args: string[]) => {
      const trust = tls ? ["--cacert", authority] : [];
      const report = ["--silent", "--show-error", "--write-out", "\n%{http_version} %{http_code}"];
      const { output } = await capture("curl", [version, ...trust, ...report, ...args], {});
      const [body = "", spoken = ""] = output.split(/\n(?=[^\n]*$)/);
      return { body, spoken };
    };

    test.each([
      ["--http1.1", "1.1"],
      // A client of REST that offers both gets HTTP/1.1; in the clear there is nothing to offer.
      ["--http2-prior-knowledge", tls ? "1.1" : "2"],
    ])("exchanges a token, creates a group, and gets an error in full: %s", async (version, spoken) => {
      const query = new URLSearchParams({ aud: server.baseUrl, identity: String(server.identity) });
      const exchange = `${server.authUrl}/sts/exchange?${query}`;
      const exchanged = await run(version, "--header", `authorization: Bearer ${workload}`, exchange);
      expect(exchanged.spoken, exchanged.body).toBe(`${spoken} 200`);
      const create = (name: string) => {
        const headers = [`authorization: Bearer ${JSON.parse(exchanged.body).token}`, "content-type: application/json"];
        const sent = [...headers.flatMap((own) => ["--header", own]), "--data", JSON.stringify({ name })];
        return run(version, ...sent, `${server.baseUrl}/iam/v2beta1/groups/${server.organization}`);
      };
      const made = await create("curl");
      expect(made.spoken, made.body).toBe(`${spoken} 200`);
      expect(JSON.parse(made.body)).toMatchObject({ name: "curl" });
      const refused = await create("BAD");
      expect({ ...refused, body: JSON.parse(refused.body) }).toEqual({ spoken: `${spoken} 400`, body: REFUSED });
    });

    test("reads the document of the REST interface", async () => {
      const { body, spoken } = await run("--http1.1", `${server.baseUrl}/openapi.json`);
      expect(spoken).toBe("1.1 200");
      expect(JSON.parse(body)).toMatchObject({ openapi: "3.0.3" });
    });
  });
});
