// `irm serve` with a certificate: both wires over TLS, and the errors for unusable files.
import { writeFileSync } from "node:fs";
import { credentials } from "@grpc/grpc-js";
import { afterAll, describe, expect, test } from "vitest";
import { CERTIFICATE, CERTIFICATE_KEY, OTHER_KEY } from "../support/certificate.ts";
import { runCommand, startCommand, temporaryFolder } from "../support/command.ts";
import { createGrpcClient } from "../support/grpc.ts";

const folder = temporaryFolder();
const [cert, key, other] = ["cert.pem", "key.pem", "other.pem"].map(folder.path) as [string, string, string];
writeFileSync(cert, CERTIFICATE);
writeFileSync(key, CERTIFICATE_KEY);
writeFileSync(other, OTHER_KEY);
afterAll(() => folder.remove());

test("serves both wires at https addresses, and prints the owner's token", async () => {
  const server = startCommand("serve", "--dev", "--json", "--tls-cert", cert, "--tls-key", key);
  const { baseUrl, issuer, token } = JSON.parse(await server.firstLine);
  expect([baseUrl, issuer].every((url) => url.startsWith("https://127.0.0.1:"))).toBe(true);
  const grpc = createGrpcClient(baseUrl, credentials.createSsl(Buffer.from(CERTIFICATE)));
  expect(await grpc.call("ListGroups", {}, { token })).toMatchObject({ code: 0, json: { groups: [{ name: "dev" }] } });
  grpc.close();
  server.process.kill("SIGTERM");
  expect((await server.finished).code).toBe(0);
});

describe("exits with one sentence", () => {
  test.each([
    ["and 1 when a file is missing", ["--tls-cert", `${cert}.no`, "--tls-key", key], 1, "cannot read the certificate"],
    [
      "and 1 when the key belongs to another certificate",
      ["--tls-cert", cert, "--tls-key", other],
      1,
      "does not belong to the certificate in",
    ],
  ])("%s", async (_, flags, code, text) => {
    const finished = await runCommand("serve", ...flags);
    expect(finished).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(text) });
    expect(finished.stderr).toMatch(/^irm serve: [^\n]+\n$/);
  });

  test.each([[["--tls-cert", cert]], [["--tls-key", key]]])("and 2, with %j alone", async (flags) => {
    const { code, stderr } = await runCommand("serve", ...flags);
    expect(code).toBe(2);
    expect(stderr).toBe(
      "irm serve: --tls-cert and --tls-key belong together: give both or neither\nRun `npx pulumi-irm serve --help`.\n",
    );
  });
});
