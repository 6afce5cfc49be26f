// Of any organization, a copy has every list as it is, field by field; so has its file, a copy of the copy, and its database.
import { afterAll, expect, test } from "vitest";
import { copyText } from "../../access/copy/text.ts";
import { parseSeed } from "../../server/index.ts";
import { shuffledIds, startServer } from "../harness/api-server.ts";
import { copyOfServer, listEverything, startCopy, withoutKeys } from "../harness/copy.ts";
import { createRandomOrganization } from "../harness/random-organization.ts";
import { temporaryFolder } from "../support/command.ts";
import { createRandom } from "../support/random.ts";

const folder = temporaryFolder();
afterAll(folder.remove);

const ORGANIZATIONS = 8;

test.each(Array.from({ length: ORGANIZATIONS }, (_, i) => i + 1))("organization %i", async (seed) => {
  const original = await startServer({ ids: shuffledIds(seed) });
  await createRandomOrganization(original, createRandom(seed));
  const expected = withoutKeys(await listEverything(original));
  const copy = await copyOfServer(original);
  expect(copy.copy).toMatchObject({ notVisible: [], leftOut: [] });
  const store = folder.path(`${seed}.db`);
  const first = await startCopy(copy, { store });
  expect(await listEverything(first)).toEqual(expected);

  const second = await copyOfServer(first);
  expect({ records: second.records, named: second.named }).toEqual({ records: copy.records, named: copy.named });
  await first.close();
  const again = await startServer({ store });
  expect(await listEverything(again)).toEqual(expected);
  await again.close();

  const read = await startCopy(parseSeed(copyText(second), "copy.yaml"));
  expect(await listEverything(read)).toEqual(expected);
  await read.close();
  await original.close();
});
