// The gate of an apply with the tokens that it uses, at a real server with a real exchange.
import { expect, test } from "vitest";
import { readCopy } from "../../access/copy/copy.ts";
import { sendWrites, startTokenedGate } from "../../cli/apply/gates.ts";
import { clientWith } from "../../client/client.ts";
import { readConfig } from "../../client/credentials.ts";
import { redactor } from "../../client/errors.ts";
import { systemTransport } from "../../client/transport.ts";
import { IAM, serve } from "../harness/api-server.ts";

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
  try {
    await sendWrites(gate, { services: [api.baseUrl] }, writes, new AbortController().signal);
    expect(gate.report()).toEqual({ applied: 2, refused: [], missing: [], unknown: [] });
    const { groups } = await api.ok("GET", `${IAM}/groups`, { query: { name: "founded" } });
    expect(gate.tokens()).toEqual([{ capabilities: ["groups.create"], scopes: [groups[0].uid] }]);
  } finally {
    await gate.close();
  }
});
