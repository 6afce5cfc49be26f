// The lock beside a journal: who waits for whom, and that no process waits for a dead one.
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { hostname } from "node:os";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Holder, holderHere, lookAt, takeoverOf } from "../../../provider/log/holder.ts";
import { lockOf } from "../../../provider/log/lock.ts";
import { type ManualClock, manualClock } from "../../harness/clock.ts";
import { deadPid } from "../../support/operations.ts";
import { testFolder } from "../../support/test-folder.ts";

const folder = testFolder();

let count = 0;
const place = (file = folder.path(`${++count}.lock`), timeoutMs = 60_000) => {
  const clock = manualClock();
  const said: string[] = [];
  return { file, clock, said, lock: lockOf({ file, clock, timeoutMs, log: (text) => void said.push(text) }) };
};

const heldBy = (file: string, pid: number, other: Partial<Holder> = {}) =>
  writeFileSync(file, JSON.stringify({ ...holderHere("theirs"), pid, ...other }));

const touch = (file: string, ms: number) => utimesSync(file, new Date(ms), new Date(ms));

const whileWaiting = (clock: ManualClock, work: (looks: number, ms: number) => unknown) => {
  const sleep = clock.sleep;
  clock.sleep = async (ms) => {
    await sleep(ms);
    await work(clock.sleeps.length, ms);
  };
};

const SILENT_MS = 30_000;
const leaveGuard = async (file: string): Promise<void> => {
  heldBy(file, await deadPid());
  mkdirSync(`${file}.gone`);
};
const holder = (file: string) => (JSON.parse(readFileSync(file, "utf8")) as Holder).pid;
const filesOf = (file: string) =>
  readdirSync(join(file, "..")).filter((name) => join(file, "..", name).startsWith(file));

it("the lock of a process that is dead is taken at once", async () => {
  const { file, lock, clock } = place();
  heldBy(file, await deadPid());
  await lock.acquire();
  expect(holder(file)).toBe(process.pid);
  expect(clock.sleeps).toEqual([]);
  await lock.release();
  expect(filesOf(file)).toEqual([]);
});

it("the lock of a living process is waited for, with one message", async () => {
  const { file, lock, clock, said } = place();
  heldBy(file, process.ppid);
  whileWaiting(clock, async (looks) => {
    if (looks === 3) heldBy(file, await deadPid());
  });
  await lock.acquire();
  expect(clock.sleeps).toEqual([250, 250, 250]);
  expect(said).toEqual([
    `waiting for process ${process.ppid} on ${hostname()}, which is creating records of this stack (${file})`,
  ]);
  await lock.release();
});

it("the lock of a living process that does not end is an error, and the next attempt waits again", async () => {
  const { file, lock, clock } = place();
  heldBy(file, process.ppid);
  whileWaiting(clock, () => touch(file, clock.today()));
  const text = `process ${process.ppid} on ${hostname()} is creating records of this stack and does not finish; if it is not one of your runs, remove ${file}`;
  await expect(lock.acquire()).rejects.toThrow(text);
  expect(clock.now()).toBeGreaterThan(60_000);
  await expect(lock.acquire()).rejects.toThrow(text);
  expect(clock.now()).toBeGreaterThan(120_000);
  expect(holder(file)).toBe(process.ppid);
});

it.each([
  ["behind ours", -600_000],
  ["ahead of ours", 600_000],
])("the lock of a machine whose clock is %s is waited for while it is touched", async (_, wrongBy) => {
  const { file, lock, clock } = place();
  heldBy(file, 1, { host: "elsewhere" });
  touch(file, clock.today() + wrongBy);
  whileWaiting(clock, () => touch(file, clock.today() + wrongBy));
  await expect(lock.acquire()).rejects.toThrow("process 1 on elsewhere is creating records of this stack");
  expect(holder(file)).toBe(1);
});

it.each<[string, (file: string) => unknown, number?]>([
  ["of another machine", async (file) => heldBy(file, await deadPid(), { host: "elsewhere" })],
  // A container may share this machine's name.
  ["of other pids than those of this machine", async (file) => heldBy(file, await deadPid(), { pids: "pid:[1]" })],
  ["of a process that names no namespace", async (file) => heldBy(file, await deadPid(), { pids: undefined })],
  ["of this machine with a reused pid", (file) => heldBy(file, process.ppid)],
  ["with torn content", (file) => writeFileSync(file, "")],
  ["that dying processes were removing", leaveGuard, SILENT_MS + 250],
])("the lock %s is taken once it is silent, not before", async (_, leave, takenMs = SILENT_MS) => {
  const { file, lock, clock, said } = place();
  await leave(file);
  await lock.acquire();
  expect(holder(file)).toBe(process.pid);
  expect(clock.now()).toBe(takenMs);
  expect(said).toEqual([
    expect.stringMatching(
      /^waiting for (process \d+ on \S+|another process), which is creating records of this stack \(/,
    ),
  ]);
  await lock.release();
  expect(filesOf(file)).toEqual([]);
});

it("the lock does not count as silent while the waiting process was suspended", async () => {
  const { file, lock, clock } = place(undefined, 2 * 3_600_000);
  heldBy(file, 1, { host: "elsewhere" });
  whileWaiting(clock, (looks) => {
    if (looks === 1) clock.advance(3_600_000);
  });
  await lock.acquire();
  expect(clock.sleeps.length).toBeGreaterThan(100);
  await lock.release();
});

it("the lock that another process has taken since the last attempt is left to it", async () => {
  const { file, clock } = place();
  heldBy(file, await deadPid());
  const look = await lookAt(file);
  heldBy(file, process.ppid, { nonce: "new" });
  expect(await takeoverOf(file, clock)(look)).toBe(true);
  expect(holder(file)).toBe(process.ppid);
  expect(existsSync(`${file}.gone`)).toBe(false);
});

it("the lock is left to other processes that are removing it", async () => {
  const { file, lock, clock } = place();
  heldBy(file, await deadPid());
  const guard = `${file}.gone`;
  mkdirSync(guard);
  whileWaiting(clock, () => {
    rmdirSync(guard);
    mkdirSync(guard);
    touch(guard, clock.today());
  });
  await expect(lock.acquire()).rejects.toThrow("does not finish");
  expect(existsSync(guard)).toBe(true);
});

it("the lock is released by its last holder, and taken again meanwhile, without waiting for itself", async () => {
  const { file, lock, clock, said } = place();
  await Promise.all([lock.acquire(), lock.acquire()]);
  await lock.release();
  expect(existsSync(file)).toBe(true);
  await lock.release();
  expect(existsSync(file)).toBe(false);
  await lock.acquire();
  await Promise.all([lock.release(), lock.acquire()]);
  expect(holder(file)).toBe(process.pid);
  expect([clock.sleeps, said]).toEqual([[], []]);
  await lock.release();
  expect(existsSync(file)).toBe(false);
});

it("the lock that another process has taken is not released, and one whose folder is gone is", async () => {
  const { file, lock } = place();
  await lock.acquire();
  heldBy(file, process.ppid);
  await lock.release();
  expect(holder(file)).toBe(process.ppid);
  const gone = place(folder.path("removed/one.lock"));
  await gone.lock.acquire();
  rmSync(folder.path("removed"), { recursive: true });
  await gone.lock.release();
  expect(gone.said).toEqual([]);
});

it("the lock that cannot be removed is a warning, and is taken again at once", async () => {
  const { file, lock, clock, said } = place();
  await lock.acquire();
  const unlink = vi.spyOn(promises, "unlink").mockRejectedValueOnce(Object.assign(new Error(), { code: "EPERM" }));
  syncBuiltinESMExports();
  await lock.release();
  unlink.mockRestore();
  syncBuiltinESMExports();
  expect(said).toEqual([`cannot remove ${file} (EPERM); the next run removes it`]);
  await lock.acquire();
  expect(clock.sleeps).toEqual([]);
  await lock.release();
  expect(filesOf(file)).toEqual([]);
  expect(said).toHaveLength(1);
});

it("the lock that cannot be written on a full disk is an error with advice, without a wait", async () => {
  const { file, lock, clock } = place();
  const script = fileURLToPath(new URL("../../support/lock-process.ts", import.meta.url));
  // The size limit is 0: a file can be created, but not written.
  const child = spawn("sh", ["-c", 'ulimit -f 0; exec "$@"', "sh", process.execPath, script, file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  expect(JSON.parse(await textOf(child.stdout))).toEqual({
    name: "JournalError",
    message:
      `the intent journal ${file} cannot be written (EFBIG); free some space or choose another folder: ` +
      "irm:journal in the stack's configuration, or IRM_JOURNAL\nSee docs/troubleshooting.md#cannot-write",
    open: [],
  });
  expect(filesOf(file)).toEqual([]);
  await lock.acquire();
  expect(clock.sleeps).toEqual([]);
  await lock.release();
});

describe("the holder of a journal's lock", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
  afterEach(() => void vi.useRealTimers());

  /** Another process, with whose waits the time of the holder passes. */
  const waiting = (file: string, clock: ManualClock) => {
    const other = place(file);
    whileWaiting(other.clock, (_, ms) => {
      clock.advance(ms);
      vi.advanceTimersByTime(ms);
    });
    return other;
  };

  it("touches it, so that another machine waits", async () => {
    const { file, lock, clock } = place();
    await lock.acquire();
    // As a process of another machine sees it.
    heldBy(file, 1, { ...(JSON.parse(readFileSync(file, "utf8")) as Holder), host: "elsewhere" });
    const other = waiting(file, clock);
    await expect(other.lock.acquire()).rejects.toThrow("on elsewhere is creating records of this stack");
    await lock.release();
    await other.lock.acquire();
    expect(holder(file)).toBe(process.pid);
    await other.lock.release();
  });

  it("does not touch a lock that another process has taken in the meantime", async () => {
    const { file, lock, clock } = place();
    await lock.acquire();
    heldBy(file, 1, { host: "elsewhere" });
    const other = waiting(file, clock);
    await other.lock.acquire();
    expect(other.clock.now()).toBe(SILENT_MS);
    await lock.release();
    await other.lock.release();
    expect(existsSync(file)).toBe(false);
  });
});
