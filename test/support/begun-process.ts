// `node begun-process.ts FILE ADDRESS PID KEY` prints a line when its create is in the journal FILE, and stays.
import { createInterface } from "node:readline";
import { systemClock } from "../../client/retry.ts";
import { joinOperation } from "../../provider/log/operation.ts";
import { createJournal } from "../../provider/run/journal.ts";

const [file, address, pid, key] = process.argv.slice(2) as [string, string, string, string];
const operation = joinOperation({ address, pid: Number(pid) });
const log = (text: string) => void console.error(text);
const journal = createJournal({ pathOf: () => file, clock: systemClock, timeoutMs: 60_000, log, operation });
await journal.begin([{ key, kind: "group", parent: "", inputs: "hash", given: [] }], async () => 1);
process.stdout.write("begun\n");
// Its parent has ended it.
createInterface({ input: process.stdin }).on("close", () => process.exit());
