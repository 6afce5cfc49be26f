// Copies of random organizations: every list of a copy is as in the original, field by field, and so it is in its database, in its file and in
// a copy of the copy.
import { rmSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { copyText } from "../../access/copy/copy.ts";
import { parseSeed } from "../../server/index.ts";
import { shuffledIds, startServer, type TestServer } from "../harness/api-server.ts";
import { copyOfServer, listEverything, startCopy } from "../harness/copy.ts";
import { temporaryFolder } from "../support/command.ts";
import { createRandom } from "../support/random.ts";
import type { PartOptions, PartResult } from "./part.ts";
import { growOrganization } from "./random-organization.ts";

/** `rounds`: organizations. */
export const copies = async ({ seed, rounds, log }: PartOptions): Promise<PartResult> => {
  const folder = temporaryFolder();
  const failures: string[] = [];
  let records = 0;
  for (let round = 1; round <= rounds && failures.length === 0; round += 1) {
    const own = seed * 1_000_003 + round;
    const original = await startServer({ ids: shuffledIds(own) });
    const random = createRandom(own);
    const { organization, clock } = original;
    const others = random.below(2) === 0 ? [(await original.actor("seen")).uid] : [];
    const tick = () => clock.advance(random.below(1_000));
    await growOrganization(random, original, { organization, others, nowMs: clock.today(), tick });
    const expected = await listEverything(original);
    records += Object.values(expected).flat().length;
    const check = async (what: string, server: TestServer): Promise<void> => {
      const lists = await listEverything(server);
      for (const [plural, list] of Object.entries(expected))
        if (!isDeepStrictEqual(lists[plural], list))
          failures.push(`organization ${own}: ${plural} of ${what} differ: ${JSON.stringify([list, lists[plural]])}`);
    };

    const copy = await copyOfServer(original);
    await original.close();
    const { notVisible, leftOut } = copy.copy;
    if (notVisible.length + leftOut.length > 0)
      failures.push(`organization ${own}: not copied: ${JSON.stringify(copy.copy)}`);
    const store = folder.path(`${round}.db`);
    const first = await startCopy(copy, { store });
    await check("the copy", first);
    const second = await copyOfServer(first);
    await first.close();
    const again = await startServer({ store });
    await check("its database", again);
    await again.close();
    const read = await startCopy(parseSeed(copyText(second), "copy.yaml"));
    await check("the file of a copy of the copy", read);
    await read.close();
    rmSync(store);
    if (round % 100 === 0) log?.(`${round} organizations`);
  }
  folder.remove();
  return { figures: { organizations: rounds, records }, failures };
};
