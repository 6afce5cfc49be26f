// A walk of more than 300 rows while others write (docs/faults.md#f19): no row twice, and none missing that exists from the first
// page to the last, in every order. Seeded: the same writes each time.
import { expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { IAM, serve, shuffledIds } from "../../harness/api-server.ts";
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
