// A server on a file, closed and opened again: signing keys and page tokens persist; test/server/seed/seed.test.ts has the records.
import { expect, test } from "vitest";
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

test("opened again, a server accepts earlier tokens, of the API and of a list, and makes no second organization", async () => {
  const first = await start("again.db");
  const { organization, identity, owner } = first;
  for (let i = 0; i < 5; i += 1) await createRecord(first, "groups", organization, { name: `g${i}` });
  const query = { page_size: 2, order_by: "name", "uidp.childrenOf": organization };
  const { nextPageToken: page_token } = await first.ok("GET", `${IAM}/groups`, { query });
  await first.close();
  const second = await start("again.db", portOf(first));
  expect(second).toMatchObject({ organization, identity });
  const list = async (own: Body) => second.ok("GET", `${IAM}/groups`, { query: own, token: owner.token });
  expect((await list({ ...query, page_token })).groups).toMatchObject([{ name: "g2" }, { name: "g3" }]);
  expect((await list({ "uidp.inRoot": true })).totalCount).toBe("1");
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
