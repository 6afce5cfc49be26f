// `node lock-process.ts FILE`: tries to take the lock of a journal, and prints its messages and its open descriptors of the lock.
import { readdirSync, readlinkSync } from "node:fs";
import { systemClock } from "../../client/retry.ts";
import { lockOf } from "../../provider/log/lock.ts";

const [file] = process.argv.slice(2) as [string];
const openFiles = (): string[] =>
  readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      // The one with which the list was read.
      return [];
    }
  });

await lockOf({ file, clock: systemClock, timeoutMs: 0, log: () => undefined })
  .acquire()
  .catch(({ name, message }: Error) => {
    const open = openFiles().filter((path) => path.startsWith(file));
    process.stdout.write(JSON.stringify({ name, message, open }));
  });
