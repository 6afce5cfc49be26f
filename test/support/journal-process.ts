// `node journal-process.ts FILE TRACE NAME COUNT ENGINE` begins and ends COUNT creates in the journal only, for the operation of
// the ENGINE, and writes into TRACE when it is inside of one.
import { appendFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { systemClock } from "../../client/retry.ts";
import type { Entry } from "../../provider/log/entry.ts";
import { joinOperation } from "../../provider/log/operation.ts";
import { createJournal } from "../../provider/run/journal.ts";

const [file, trace, name, count, engine] = process.argv.slice(2) as [string, string, string, string, string];
const journal = createJournal({
  pathOf: () => file,
  clock: systemClock,
  timeoutMs: 60_000,
  log: () => undefined,
  operation: joinOperation({ address: engine }),
});
for (let i = 0; i < Number(count); i += 1) {
  const key = `organization/project/stack/Group::${name}${i}`;
  const entries = await journal.begin([{ key, kind: "group", parent: "", inputs: "hash", given: [] }], async () => 0);
  const [entry] = entries as [Entry];
  appendFileSync(trace, `enter ${name}\n`);
  await setTimeout(1);
  await journal.recordSuccess([{ entry, uid: `${name}${i}`.padEnd(40, "0") }], 0);
  appendFileSync(trace, `leave ${name}\n`);
  await journal.end([entry]);
}
