import { readFileSync } from "node:fs";
import { createServer, parseSeed } from "pulumi-irm/server";
import { afterAll, afterEach, expect, test } from "vitest";
import { whoMayPush } from "./who-may-push.js";

// Start and seed the server, once for this file.
const seed = parseSeed(readFileSync(new URL("../seed.yaml", import.meta.url), "utf8"), "seed.yaml");
const server = await createServer({ dev: true, seed, faults: {} });
const api = { baseUrl: server.baseUrl, token: await server.token() };

afterEach(async () => {
  server.faults.clear();
  await server.reset();
});
afterAll(() => server.close());

test("names the identities with a role that pushes", async () => {
  expect(await whoMayPush(api, "nginx")).toEqual(["owner", "release"]);
});

test("does not name an identity that was deleted", async () => {
  const headers = { authorization: `Bearer ${api.token}` };
  const identities = `${api.baseUrl}/iam/v2beta1/identities`;
  const response = await fetch(`${identities}?name=release`, { headers });
  const found = (await response.json()) as { identities: { uid: string }[] };
  await fetch(`${identities}/${found.identities[0]?.uid}`, { method: "DELETE", headers });
  expect(await whoMayPush(api, "nginx")).toEqual(["owner"]);
});

test("repeats a read that is refused, and one whose connection breaks", async () => {
  const steps = [{ status: 503, retryAfter: 0 }, { reset: true } as const];
  server.faults.set({ rules: [{ operation: "ListRoleBindings", steps }] });
  expect(await whoMayPush(api, "nginx")).toEqual(["owner", "release"]);
  const attempts = server.faults.attempts().filter(({ operation }) => operation === "ListRoleBindings");
  expect(attempts.map(({ carriedOut }) => carriedOut)).toEqual([false, false, true]);
});

test("gives up after three attempts", async () => {
  const steps = [{ status: 503, retryAfter: 0 }];
  server.faults.set({ rules: [{ operation: "ListRoles", repeat: true, steps }] });
  await expect(whoMayPush(api, "nginx")).rejects.toThrow("GET /iam/v2beta1/roles?: 503");
  expect(server.faults.attempts()).toHaveLength(4); // one list of repos, three of roles
});
