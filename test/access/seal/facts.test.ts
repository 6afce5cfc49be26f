// The facts that a write under a seal rests on. Each is read once for some seconds, and none is taken for another one.
import { afterAll, expect, test } from "vitest";
import { factsWith, UnreadableFact } from "../../../access/seal/facts.ts";
import { startServer } from "../../harness/api-server.ts";
import { clientOf } from "../client.ts";

const api = await startServer();
afterAll(() => api.close());

test("the role bindings of a group are read although it was asked before whether they can be listed", async () => {
  const facts = factsWith(clientOf(api));
  await facts.requireListable("roleBinding", api.organization);
  expect(await facts.bindingsAt(api.organization)).toHaveLength(1);
});

test("a group whose role bindings the caller cannot list is found although they were read before", async () => {
  const { token } = await api.actor("stranger", {});
  const facts = factsWith(clientOf(api, token));
  expect(await facts.bindingsAt(api.organization)).toEqual([]);
  await expect(facts.requireListable("roleBinding", api.organization)).rejects.toThrow(UnreadableFact);
});

test("a role is read once for the writes of ten seconds, and again after them", async () => {
  const client = clientOf(api);
  const facts = factsWith(client);
  const { uid } = await api.ok("POST", `/iam/v2beta1/roles/${api.organization}`, {
    body: { name: "reader", capabilities: ["CAP_REPO_LIST"] },
  });
  const capabilities = async () => (await facts.record("role", uid)).roles.get(uid)?.capabilities;
  expect(await capabilities()).toEqual(["repo.list"]);
  const wider = ["CAP_REPO_LIST", "CAP_REPO_CREATE"];
  await api.ok("PATCH", `/iam/v2beta1/roles/${uid}?updateMask=capabilities`, { body: { capabilities: wider } });
  await client.clock.sleep(9_999);
  expect(await capabilities()).toEqual(["repo.list"]);
  await client.clock.sleep(1);
  expect(await capabilities()).toEqual(["repo.create", "repo.list"]);
});
