// Whom a change of built-in roles reaches, against the server's own authorization; `npm run soak` takes longer.
import { afterAll, expect, test } from "vitest";
import { readLive } from "../../../access/graph/live.ts";
import { bundlesIn, roleChanges } from "../../../access/roles/change.ts";
import { BUILT_IN_ROLE_CAPABILITIES, OWNER_CAPABILITIES, type RoleBundles } from "../../../schema/index.ts";
import { ensureRoles } from "../../../server/seed/roles.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { createStore } from "../../../server/store/store.ts";
import { IAM, startServer } from "../../harness/api-server.ts";
import { createUid } from "../../harness/records.ts";
import { authorizationOf, expectedRows } from "../../soak/access/authorization.ts";
import { access } from "../../soak/access.ts";
import { createRandom } from "../../support/random.ts";
import { clientOf } from "../client.ts";

const store = createStore(openDatabase(":memory:"));
const api = await startServer({ store });
const { organization } = api;
const platform = await createUid(api, "groups", organization, { name: "platform" });
const registry = await createUid(api, "groups", platform, { name: "registry" });
const auditor = await api.actor("auditor", { role: "owner" });
const reader = await api.actor("reader", { role: "viewer", at: registry });
const editor = await api.actor("editor", { role: "editor", at: platform, in: platform });
for (const [identity, role, group] of [
  [reader.uid, "registry.push", platform],
  [editor.uid, "viewer", registry],
  [editor.uid, "registry.push", registry],
] as const)
  await api.ok("POST", `${IAM}/roleBindings/${group}`, {
    body: { identityUid: identity, roleUid: await api.role(role) },
  });
afterAll(() => api.close());

test("40 seeded changes reach exactly those whom the server then allows more, or less", async () => {
  const random = createRandom(36);
  const groups = [organization, platform, registry];
  const identities = [api.identity, auditor.uid, reader.uid, editor.uid];
  const view = {
    store,
    identities: () => identities,
    uids: (table: string) => (table === "groups" ? groups : []),
  } as Parameters<typeof authorizationOf>[0];
  const allowed = () => {
    const now = authorizationOf(view);
    // Asked at once: the store changes.
    for (const one of identities) for (const group of groups) now.decisions(one, group);
    return now;
  };
  const client = clientOf(api, auditor.token);
  let bundles: RoleBundles = BUILT_IN_ROLE_CAPABILITIES;
  let rows = 0;
  for (let step = 0; step < 40; step += 1) {
    const before = allowed();
    const was = bundles;
    for (const name of ["viewer", "editor", "registry.push", "owner"].slice(random.below(4))) {
      const held = new Set(bundles[name]);
      // The auditor reads by what ends with list.
      for (const one of random.shuffle(OWNER_CAPABILITIES).slice(0, random.below(6)))
        if (!held.has(one)) held.add(one);
        else if (!one.endsWith(".list")) held.delete(one);
      bundles = { ...bundles, [name]: [...held].sort() };
    }
    ensureRoles(store, bundles, 0);
    const live = await readLive(client);
    const changes = roleChanges(api.baseUrl, live, { service: api.baseUrl, date: "2026-11-28", roles: was }, 0);
    // Two roles may give one row; the server's rows name the first.
    const found = changes.flatMap(({ reaches }) =>
      reaches.flatMap(({ identity, group, gains, losses }) => [
        ...gains.map((one) => `${identity} + ${group} ${one}`),
        ...losses.map((one) => `${identity} - ${group} ${one}`),
      ]),
    );
    const expected = expectedRows(before, allowed()).map((row) => row.replace(/ by .*$/, ""));
    expect({ step, rows: [...new Set(found)].sort() }).toEqual({ step, rows: expected.sort() });
    expect(bundlesIn(live.graph)).toEqual(bundles);
    rows += expected.length;
  }
  expect(rows).toBeGreaterThan(150);
});

test("20 random organizations and changes are seen as the server decides, identity by group by capability", async () => {
  const { figures, failures } = await access({ seed: 1, rounds: 20 });
  expect(failures).toEqual([]);
  expect(figures["decisions of the server compared"]).toBeGreaterThan(100_000);
  expect(figures["rows of gains and losses"]).toBeGreaterThan(300);
});
