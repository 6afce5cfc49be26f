// The facts that a write under a seal rests on. Each is read once, and none is taken for another one.
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
