// Tokens for the services of a program: which one a command sends, an address that is none, and those that the gate of an apply exchanges.
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { readCopy } from "../../access/copy/copy.ts";
import { sendWrites, startTokenedGate } from "../../cli/apply/gates.ts";
import { clientsOf, servicesFrom } from "../../cli/services.ts";
import { clientWith } from "../../client/client.ts";
import { readConfig } from "../../client/credentials.ts";
import { redactor } from "../../client/errors.ts";
import { systemTransport } from "../../client/transport.ts";
import { IAM, serve } from "../harness/api-server.ts";
import { failure, runIrm } from "../support/irm.ts";

const [HERE, THERE] = ["https://here.example.com", "https://there.example.com"];

afterEach(() => vi.unstubAllEnvs());

test("--service names a token, whatever the job lists", async () => {
  const empty = { IRM_AUTH_URL: "", IRM_IDENTITY_TOKEN: "", IRM_ALLOW_TOKEN_SOURCES: "" };
  for (const [name, value] of Object.entries({ ...empty, IRM_BASE_URL: HERE, IRM_TOKEN: "secret", OTHER: "other" }))
    vi.stubEnv(name, value);
  const clients = clientsOf(servicesFrom([`${THERE}=OTHER`]), {
    baseUrl: HERE,
    authUrl: HERE,
    requestTimeoutMs: 1_000,
  });
  expect([...clients.keys()]).toEqual([HERE, THERE]);
  expect(await clients.get(THERE)?.caller()).toMatchObject({ source: `OTHER (--service ${THERE})` });
});

test("drift with a wrong address ends before it runs the engine", async () => {
  vi.stubEnv("IRM_BASE_URL", "ftp://irm.example.com");
  const finished = await runIrm("drift");
  expect(finished).toEqual(failure(1, "environment IRM_BASE_URL: must be an https URL"));
  expect(finished.stderr).toContain("irm drift: ");
});

const api = await serve();

test("what is in a new organization is written with a token for that organization", async () => {
  const env = {
    ...{ IRM_BASE_URL: api.baseUrl, IRM_AUTH_URL: api.authUrl, IRM_IDENTITY: api.identity },
    IRM_IDENTITY_TOKEN: await api.identityToken("owner"),
  };
  const config = readConfig(undefined, env);
  const client = clientWith({ config, env, clock: api.clock, redactor: redactor(), transport: systemTransport() });
  const services = new Map([[api.baseUrl, { client, copy: await readCopy(client, api.baseUrl) }]]);
  const writes = [
    { n: 1, method: "CreateGroup", fields: { name: "founded" } },
    { n: 2, method: "CreateGroup", parent: { $uid: 1 }, fields: { name: "inside" } },
  ];
  const gate = await startTokenedGate(services, writes, api.identity);
  onTestFinished(() => gate.close());
  await sendWrites(gate, { services: [api.baseUrl] }, writes, new AbortController().signal);
  expect(gate.report()).toEqual({ applied: 2, refused: [], missing: [], unknown: [] });
  const { groups } = await api.ok("GET", `${IAM}/groups`, { query: { name: "founded" } });
  expect(gate.tokens()).toEqual([{ capabilities: ["groups.create"], scopes: [groups[0].uid] }]);
});
