// A server on a file, closed and opened again: records, signing keys and page tokens persist.

import { describe, expect, test } from "vitest";
import { createServer } from "../../../server/index.ts";
import { IAM, serve, type TestServer } from "../../harness/api-server.ts";
import { manualClock } from "../../harness/clock.ts";
import { createRecord } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectUnauthenticated } from "../../support/refusal.ts";
import { testFolder } from "../../support/test-folder.ts";

const folder = testFolder();

// Ids of a second start must not be those of the first: random ones, as in life. Keys are the store's own.
const start = (file: string, port = 0, clock = manualClock()): Promise<TestServer> =>
  serve({ store: folder.path(file), port, clock, ids: undefined, keys: undefined });
const portOf = ({ baseUrl }: TestServer) => Number(new URL(baseUrl).port);

describe("a server that is opened again on its file", async () => {
  const read = async (server: TestServer): Promise<Record<string, Body>> => {
    const lists: Record<string, Body> = {};
    for (const kind of ["groups", "identities", "roles", "roleBindings"])
      lists[kind] = await server.ok("GET", `${IAM}/${kind}`, { query: { page_size: 200 }, token });
    return lists;
  };

  const first = await start("again.db");
  const { organization } = first;
  const make = async (kind: string, body: Body): Promise<string> =>
    (await first.ok("POST", `${IAM}/${kind}/${organization}`, { body })).uid;
  const claimMatch = { issuer: "https://issuer.example", subjectPattern: "s.*", claims: { ref: "main" } };
  const identity = await make("identities", { name: "i", description: "d", claimMatch });
  const role = await make("roles", { name: "r", capabilities: ["CAP_IAM_GROUPS_LIST"] });
  await make("roleBindings", { identityUid: identity, roleUid: role });
  for (let i = 0; i < 5; i += 1) await make("groups", { name: `g${i}` });
  const token: string = first.owner.token;
  const before: Record<string, Body> = await read(first);
  const pageToken: string = (await first.ok("GET", `${IAM}/groups`, { query: { page_size: 2, order_by: "name" } }))
    .nextPageToken;
  const uids: Record<string, string> = { organization, identity: first.identity };
  const port = portOf(first);
  await first.close();
  const api = await start("again.db", port);

  test("has every record unchanged, the built-in ones too, and accepts earlier tokens, of the API and of a list", async () => {
    expect(await read(api)).toEqual(before);
    expect((await api.call("GET", `${IAM}/groups`, { token })).status).toBe(200);
    const query = { page_size: 2, order_by: "name", page_token: pageToken };
    const { groups } = await api.ok("GET", `${IAM}/groups`, { query });
    expect(groups.map(({ name }: Body) => name)).toEqual(["g1", "g2"]);
  });

  test("has the same development organization and owner, and creates no second one", async () => {
    expect({ organization: api.organization, identity: api.identity }).toEqual(uids);
    expect((await api.ok("GET", `${IAM}/groups`, { query: { "uidp.inRoot": true } })).totalCount).toBe("1");
  });
});

test("on another port the same identities trust the development issuer", async () => {
  const first = await start("moved.db");
  const { uid } = await first.actor("ci", { role: "viewer" });
  const foreign = { name: "foreign", claimMatch: { issuer: "https://issuer.example", subject: "s" } };
  const { uid: other } = await createRecord(first, "identities", first.organization, foreign);
  const old = first.owner.token;
  const port = portOf(first);
  // The old port is taken, so that the second start gets another.
  await first.close();
  const holder = await createServer({ port });
  const second = await start("moved.db");
  expect(portOf(second)).not.toBe(port);
  expect((await second.ok("GET", `${IAM}/identities/${uid}`)).claimMatch).toEqual({
    issuer: second.issuer,
    subject: "ci",
  });
  expect(await second.token(uid, { subject: "ci" })).toMatch(/^ey/);
  expect((await second.ok("GET", `${IAM}/identities/${other}`)).claimMatch).toEqual(foreign.claimMatch);
  // Its address is its name as an issuer: tokens of the old name are another's.
  expectUnauthenticated(await second.call("GET", `${IAM}/groups`, { token: old }));
  await holder.close();
});
