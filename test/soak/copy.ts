// Copies of random organizations: every list of a copy, of its database, of its file and of a copy of it is as in the original.
import { rmSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { copyText } from "../../access/copy/copy.ts";
import { parseSeed } from "../../server/index.ts";
import { startServer, type TestServer } from "../harness/api-server.ts";
import { copyOfServer, listEverything, startCopy } from "../harness/copy.ts";
import { temporaryFolder } from "../support/command.ts";
import { createRandom } from "../support/random.ts";
import { type PartOptions, type PartResult, proveEach } from "./part.ts";
import { startGrown } from "./random-organization.ts";

/** `rounds`: organizations. */
export const copies = async (options: PartOptions): Promise<PartResult> => {
  const folder = temporaryFolder();
  const figures = { organizations: options.rounds, records: 0 };
  const failures = await proveEach(options, async (own, fail) => {
    const { original } = await startGrown(createRandom(own), own);
    const expected = await listEverything(original);
    figures.records += Object.values(expected).flat().length;
    const check = async (what: string, server: TestServer): Promise<void> => {
      const lists = await listEverything(server);
      for (const [plural, list] of Object.entries(expected))
        if (!isDeepStrictEqual(lists[plural], list))
          fail(`${plural} of ${what} differ: ${JSON.stringify([list, lists[plural]])}`);
    };

    const copy = await copyOfServer(original);
    await original.close();
    const { notVisible, leftOut } = copy.copy;
    if (notVisible.length + leftOut.length > 0) fail(`not copied: ${JSON.stringify(copy.copy)}`);
    const store = folder.path(`${own}.db`);
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
  });
  folder.remove();
  return { figures, failures };
};
