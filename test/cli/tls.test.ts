// `irm serve` with a certificate: both wires over TLS, and the errors for unusable files.
import { credentials } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { CERTIFICATE, CERTIFICATE_KEY, OTHER_KEY } from "../support/certificate.ts";
import { runCommand, startCommand } from "../support/command.ts";
import { createGrpcClient } from "../support/grpc.ts";
import { failure } from "../support/irm.ts";
import { testFolder } from "../support/test-folder.ts";

const folder = testFolder();
const cert = folder.write("cert.pem", CERTIFICATE);
const key = folder.write("key.pem", CERTIFICATE_KEY);
const other = folder.write("other.pem", OTHER_KEY);

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

test.each([
  ["a file is missing", ["--tls-cert", `${cert}.no`, "--tls-key", key], "cannot read the certificate"],
  [
    "the key belongs to another certificate",
    ["--tls-cert", cert, "--tls-key", other],
    "does not belong to the certificate in",
  ],
])("exits with 1 and one sentence when %s", async (_, flags, text) => {
  const finished = await runCommand("serve", ...flags);
  expect(finished).toEqual(failure(1, text));
  expect(finished.stderr).toMatch(/^irm serve: [^\n]+\n$/);
});
