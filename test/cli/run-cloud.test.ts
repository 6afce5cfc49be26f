// The backend of a run whose stack is on Pulumi Cloud: what it passes on, what it keeps, and what it refuses.
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { cloudOf, startCloudBackend } from "../../cli/run/cloud.ts";
import { EngineError } from "../../pulumi/command.ts";
import { startCloud } from "../harness/cloud.ts";
import { testFolder } from "../support/test-folder.ts";

const folder = testFolder();
const cloud = await startCloud({ pulumiConfig: {} });
const { PULUMI_BACKEND_URL: url, PULUMI_ACCESS_TOKEN: token } = cloud.env;
for (const name of ["acme/team/dev", "acme/other/dev"])
  cloud.stacks.set(name, { version: 3, deployment: { secrets_providers: { type: "service", state: { url } } } });
const backend = await startCloudBackend({ url, token }, "acme/team/dev");
afterAll(() => {
  backend.close();
  cloud.close();
});

/** As it is written: `fetch` would resolve `..`. */
const send = async (method: string, path: string, { token = backend.env.PULUMI_ACCESS_TOKEN, body = "" } = {}) => {
  const { hostname, port } = new URL(backend.env.PULUMI_BACKEND_URL as string);
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; body: string }>();
  const sent = request({ hostname, port, method, path, headers: { authorization: `token ${token}` } }, (response) => {
    text(response).then((own) => resolve({ status: response.statusCode, body: own }), reject);
  });
  sent.on("error", reject).end(body);
  return promise;
};

const STACK = "/api/stacks/acme/team/dev";

test("reads go on with the caller's token, and a state says where its secrets are decrypted", async () => {
  cloud.takeRequests();
  for (const path of [`${STACK}/export`, "/api/stacks/acme/other/dev/export"]) {
    const { status, body } = await send("GET", path);
    expect([status, JSON.parse(body).deployment.secrets_providers.state.url]).toEqual([
      200,
      backend.env.PULUMI_BACKEND_URL,
    ]);
  }
  const encrypted = await send("POST", `${STACK}/encrypt`, { body: JSON.stringify({ plaintext: "aGlkZGVu" }) });
  const decrypted = await send("POST", `${STACK}/decrypt`, { body: encrypted.body });
  expect(JSON.parse(encrypted.body).ciphertext).not.toBe("aGlkZGVu");
  expect(decrypted.status).toBe(200);
  expect(cloud.takeRequests()).toHaveLength(4);
});

test("the state of an update stays here", async () => {
  cloud.takeRequests();
  const { updateID } = JSON.parse((await send("POST", `${STACK}/update`)).body);
  expect(JSON.parse((await send("POST", `${STACK}/update/${updateID}`)).body)).toEqual({
    version: 1,
    token: backend.env.PULUMI_ACCESS_TOKEN,
  });
  const body = JSON.stringify({ version: 3, deployment: { resources: [] } });
  expect((await send("PATCH", `${STACK}/update/${updateID}/checkpoint`, { body })).status).toBe(200);
  expect((await send("GET", `${STACK}/export`)).body).toBe(body);
  for (const path of ["events/batch", "complete", "renew_lease"])
    expect((await send("POST", `${STACK}/update/${updateID}/${path}`)).status).toBe(200);
  expect(cloud.takeRequests()).toEqual([]);
});

test.each([
  ["DELETE", STACK, "it would delete the stack"],
  ["POST", `${STACK}/import`, "it would write a state"],
  ["POST", "/api/stacks/acme/other/dev/update", "it is another stack"],
  ["GET", "/api/stacks/acme/../../orgs/acme", "it is another path in the end"],
  ["GET", "/api/stacks/acme/%2e%2e/dev", "so is this one"],
  ["GET", "/api/orgs/acme/members", "no run needs it"],
  ["POST", "/api/esc/environments/acme/shared", "it would create an environment"],
])("%s %s is refused: %s", async (method, path) => {
  cloud.takeRequests();
  const { status, body } = await send(method, path);
  expect([status, body]).toEqual([403, expect.stringContaining(`does not send ${method} ${path} to the backend`)]);
  expect(cloud.takeRequests()).toEqual([]);
});

test("another token than the run's is refused", async () => {
  for (const token of ["", cloud.env.PULUMI_ACCESS_TOKEN, "x".repeat(64)])
    expect((await send("GET", "/api/user", { token })).status).toBe(401);
});

test("the address and the token are those of the engine: from the environment, or the last login", () => {
  const home = folder.path("home");
  const url = "https://cloud.example";
  const accounts = { [url]: { accessToken: "of-the-login" } };
  folder.write("home/credentials.json", JSON.stringify({ current: url, accounts }));
  const at = folder.path("");
  expect(cloudOf({ PULUMI_HOME: home }, at)).toEqual({ url, token: "of-the-login" });
  expect(cloudOf({ PULUMI_HOME: home, PULUMI_ACCESS_TOKEN: "given" }, at)).toEqual({ url, token: "given" });
  for (const backend of ["file:///state", "s3://states", "gs://states", "azblob://states"])
    expect(cloudOf({ PULUMI_HOME: home, PULUMI_BACKEND_URL: backend }, at)).toBeUndefined();
  const other = { PULUMI_HOME: home, PULUMI_BACKEND_URL: "https://other.example/" };
  expect(() => cloudOf(other, at)).toThrow(
    new EngineError("there is no token for https://other.example: run pulumi login, or set PULUMI_ACCESS_TOKEN"),
  );
});
