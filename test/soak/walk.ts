// Walks of a list while others write (docs/faults.md#f19): every row that was there from the first page to the last is seen,
// and none twice, whatever the size of a page and the order.

import { shuffledIds, startServer } from "../harness/api-server.ts";
import { manualClock } from "../harness/clock.ts";
import { createRandom, type Random } from "../support/random.ts";
import type { PartOptions, PartResult } from "./part.ts";

/** The last one is more than a page may have. */
const SIZES = [1, 7, 50, 200, 201];
const ORDERS = ["uid", "uid desc", "name", "name desc", "create_time", "update_time desc"];
// Many rows of one name and of one millisecond: where ties are, walks get lost.
const NAMES = Array.from({ length: 40 }, (_, i) => `name ${i}`);
// Rows that others take away in the course of a walk, and as many that they add.
const SHARE_CHANGED = 0.3;

const GROUPS = "/iam/v2beta1/groups";

/** `rounds`: the rows of the list. */
export const walk = async ({ seed, rounds: rows, log }: PartOptions): Promise<PartResult> => {
  const random = createRandom(seed);
  const clock = manualClock();
  const api = await startServer({ clock, ids: shuffledIds(seed) });
  const counts = { walks: 0, pages: 0, writes: 0 };
  const failures: string[] = [];
  const live = new Set<string>();

  const insert = async (): Promise<void> => {
    clock.advance(random.below(2));
    const body = { name: random.pick(NAMES) };
    const { uid } = await api.ok("POST", `${GROUPS}/${api.organization}`, { body });
    live.add(uid);
  };
  const remove = async (uid: string): Promise<void> => {
    await api.ok("DELETE", `${GROUPS}/${uid}`);
    live.delete(uid);
  };
  /** A token lasts an hour, and the clock moves with every row. */
  const login = async () => {
    api.owner.token = await api.token(api.owner.uid, { subject: "owner" });
  };

  const walkOnce = async (orderBy: string, size: number): Promise<string[]> => {
    await login();
    const before = [...live];
    const gone = new Set<string>();
    const seen: string[] = [];
    const pages = Math.ceil(rows / Math.min(size, 200));
    // So many between two pages that the walk as a whole has changed its share.
    const writes = (rows * SHARE_CHANGED) / pages;
    let due = 0;
    let token: string | undefined;
    do {
      const query = { "uidp.childrenOf": api.organization, order_by: orderBy, page_size: size, page_token: token };
      const { groups, nextPageToken } = await api.ok("GET", GROUPS, { query });
      seen.push(...groups.map(({ uid }: { uid: string }) => uid));
      token = nextPageToken;
      counts.pages += 1;
      for (due += writes; due >= 1; due -= 1) {
        const uid = victim(random, seen, before);
        if (gone.has(uid)) continue;
        gone.add(uid);
        await remove(uid);
        await insert();
        counts.writes += 2;
      }
    } while (token);
    counts.walks += 1;
    const missed = before.filter((uid) => !gone.has(uid) && !seen.includes(uid));
    const twice = seen.length - new Set(seen).size;
    return [
      ...(missed.length > 0 ? [`missed ${missed.length} rows that were there throughout`] : []),
      ...(twice > 0 ? [`showed ${twice} rows twice`] : []),
    ];
  };

  try {
    while (live.size < rows) await insert();
    for (const orderBy of ORDERS) {
      for (const size of SIZES) {
        const wrong = await walkOnce(orderBy, size);
        failures.push(...wrong.map((text) => `by ${orderBy}, ${size} a page: ${text}`));
      }
      log?.(`${orderBy}: ${counts.walks} walks, ${counts.pages} pages, ${failures.length} failures`);
    }
  } catch (error) {
    failures.push((error as Error).message);
  } finally {
    await api.close();
  }
  return {
    figures: {
      "rows of the list": rows,
      "walks (size of a page by order)": counts.walks,
      "pages of them": counts.pages,
      "rows added and taken away between pages": counts.writes,
    },
    failures,
  };
};

// Now and then the row of the cursor, which is easily lost.
const victim = (random: Random, seen: readonly string[], before: readonly string[]): string =>
  random.below(3) === 0 ? (seen.at(-1) as string) : random.pick(before);
