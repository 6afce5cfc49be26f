// A walk of more than 300 rows while others write (docs/internals/faults.md#f19): no row twice, and none missing that exists from
// the first page to the last, in every order. Seeded: the same writes each time. And lists of a caller that is bound in
// many groups beside each other, such as a team's robot: SQLite accepts 1,000 conditions in one expression.
import { expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { IAM, REGISTRY, serve, shuffledIds } from "../../harness/api-server.ts";
import { createRecord, listAll } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { createRandom, type Random } from "../../support/random.ts";

const NAMES = Array.from({ length: 12 }, (_, i) => `n${i}`);
const ROWS = 320;

const groups = Array.from({ length: ROWS }, (_, i) => ({ name: `${NAMES[i % NAMES.length]} ${i}` }));
const seed = parseSeed(JSON.stringify({ organization: { name: "acme" }, groups }), "seed.json");

const CHILDREN = () => ({ "uidp.childrenOf": api.organization });
const page = (query: Body): Promise<Body> => api.ok("GET", `${IAM}/groups`, { query: { ...CHILDREN(), ...query } });
const insert = async (from: Random) => {
  api.clock.advance(from.below(2));
  return (await createRecord(api, "groups", api.organization, { name: from.pick(NAMES) })).uid as string;
};
const remove = (uid: string) => api.ok("DELETE", `${IAM}/groups/${uid}`);

const all = async (): Promise<string[]> =>
  (await listAll(api, `${IAM}/groups`, { query: { ...CHILDREN(), page_size: 200 } })).map(({ uid }) => uid);

const ORDERS = ["uid", "name", "create_time", "update_time"].flatMap((field) => [`${field} asc`, `${field} desc`]);

const api = await serve({ seed, ids: shuffledIds(7) });

test.each(ORDERS.flatMap((order, i) => [7, 50].map((size) => [order, size, 100 * i + size] as const)))(
  "a walk with inserts and deletes between its pages by %s, %i a page, loses nothing and repeats nothing",
  async (orderBy, size, seedOfWrites) => {
    const writes = createRandom(seedOfWrites);
    const before = await all();
    expect(before.length).toBeGreaterThan(300);
    const gone = new Set<string>();
    const seen: string[] = [];
    let token: string | undefined;
    do {
      const { groups, nextPageToken } = await page({ order_by: orderBy, page_size: size, page_token: token });
      seen.push(...groups.map(({ uid }: Body) => uid));
      token = nextPageToken;
      // One insert and one delete at random places, and now and then exactly the row of the cursor.
      await insert(writes);
      const last = seen.at(-1) as string;
      const victim = writes.below(3) === 0 ? last : writes.pick(before);
      if (!gone.has(victim)) {
        gone.add(victim);
        await remove(victim);
      }
    } while (token);

    expect(new Set(seen).size).toBe(seen.length);
    const throughout = before.filter((uid) => !gone.has(uid));
    const missed = throughout.filter((uid) => !seen.includes(uid));
    expect(missed).toEqual([]);
  },
);

const GROUPS = Array.from({ length: 1_100 }, (_, i) => `g${i}`);
// The caller is not bound in every eleventh.
const OWN = GROUPS.filter((_, i) => i % 11 > 0);

const lines = (names: string[], line: (name: string) => string) => names.map((name) => `  - ${line(name)}`).join("\n");
const manyGroups = parseSeed(
  `
organization: { name: acme }
groups:
${lines(GROUPS, (name) => `{ name: ${name} }`)}
  - { name: below, parent: g1 }
  - { name: hidden, parent: g0 }
identities:
  - { name: robot, claimMatch: { issuer: "https://issuer.example", subject: s } }
roles:
  - { name: reader, capabilities: [groups.list, repo.list, roles.list] }
bindings:
${lines(OWN, (name) => `{ identity: robot, role: reader, group: ${name} }`)}
repos:
${lines([...GROUPS, "g1/below"], (path) => `{ name: ${path.split("/").at(-1)}, group: ${path} }`)}
`,
  "seed.yaml",
);
const many = await serve({ seed: manyGroups, ids: shuffledIds(7) });
const { identities } = await many.ok("GET", `${IAM}/identities`, { query: { name: "robot" } });
const { uid } = identities[0];
const claimMatch = { issuer: many.issuer, subject: "robot" };
await many.ok("PATCH", `${IAM}/identities/${uid}`, { body: { claimMatch } });
const token: string = await many.token(uid, { subject: "robot" });

const walk = async (path: string, query: Body): Promise<string[]> =>
  (await listAll(many, path, { token, query: { page_size: 200, ...query } })).map(({ name }) => name);
const READABLE = [...OWN, "below"].toSorted();

test.each([
  ["the groups themselves and those below", `${IAM}/groups`],
  ["the records in them and below", `${REGISTRY}/repos`],
])("a caller who is bound in a thousand groups lists %s, in every order", async (_, path) => {
  for (const order_by of ["uid", "create_time"]) expect((await walk(path, { order_by })).toSorted()).toEqual(READABLE);
  expect(await walk(path, { order_by: "name desc" })).toEqual(READABLE.toReversed());
});

test("a caller who is bound in a thousand groups lists the matches of a filter, and the built-in roles", async () => {
  expect(await walk(`${IAM}/groups`, { name: "g0" })).toEqual([]);
  expect(await walk(`${IAM}/groups`, { name: "g1" })).toEqual(["g1"]);
  expect(await walk(`${IAM}/roles`, { name: "viewer" })).toEqual(["viewer"]);
});
