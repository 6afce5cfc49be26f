// The lock beside a journal: who waits for whom, and that nobody waits for the dead.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { journalFile } from "../../../provider/journal/file.ts";
import { type Lock, lockOf } from "../../../provider/journal/lock.ts";
import { temporaryFolder } from "../../support/command.ts";
import { type VirtualClock, virtualClock } from "../double.ts";

const folder = temporaryFolder();
afterAll(folder.remove);

let count = 0;
interface Place {
  file: string;
  lock: Lock;
  clock: VirtualClock;
  said: string[];
}
const place = (): Place => {
  count += 1;
  const file = folder.path(`${count}.lock`);
  const clock = virtualClock();
  const said: string[] = [];
  return { file, clock, said, lock: lockOf({ file, clock, patienceMs: 60_000, say: (text) => void said.push(text) }) };
};

const heldBy = (file: string, pid: number, host = hostname(), touchedMs = Date.now()) => {
  writeFileSync(file, JSON.stringify({ pid, host, nonce: "theirs" }));
  utimesSync(file, new Date(touchedMs), new Date(touchedMs));
};

const deadPid = async (): Promise<number> => {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  return child.pid as number;
};

const SILENT_MS = 60_000;
const holder = (file: string) => (JSON.parse(readFileSync(file, "utf8")) as { pid: number }).pid;

describe("the lock of a journal", () => {
  it("of a process that is dead is taken at once", async () => {
    const { file, lock, clock } = place();
    heldBy(file, await deadPid());
    await lock.acquire();
    expect(holder(file)).toBe(process.pid);
    expect(clock.sleeps).toEqual([]);
    await lock.release();
    expect(readdirSync(folder.path(".")).filter((name) => name.startsWith(`${count}.lock`))).toEqual([]);
  });

  it("of a living process is waited for, and that is said once", async () => {
    const { file, lock, clock, said } = place();
    heldBy(file, process.ppid);
    const sleep = clock.sleep;
    clock.sleep = async (ms) => {
      await sleep(ms);
      if (clock.sleeps.length === 3)
        writeFileSync(file, JSON.stringify({ pid: await deadPid(), host: hostname(), nonce: "n" }));
    };
    await lock.acquire();
    expect(clock.sleeps).toEqual([250, 250, 250]);
    expect(said).toEqual([
      `waiting for process ${process.ppid} on ${hostname()}, which is making records of this stack (${file})`,
    ]);
    await lock.release();
  });

  it("of a living process that does not end is an error which names it, and the next try waits anew", async () => {
    const { file, lock, clock } = place();
    heldBy(file, process.ppid);
    const text = `process ${process.ppid} on ${hostname()} is making records of this stack and does not end; if it is none of yours, remove ${file}`;
    await expect(lock.acquire()).rejects.toThrow(text);
    expect(clock.now()).toBeGreaterThan(60_000);
    await expect(lock.acquire()).rejects.toThrow(text);
    expect(holder(file)).toBe(process.ppid);
  });

  it("of another machine is waited for while its holder touches it", async () => {
    const { file, lock } = place();
    heldBy(file, 1, "elsewhere");
    await expect(lock.acquire()).rejects.toThrow("process 1 on elsewhere is making records of this stack");
  });

  it.each([
    ["another machine", "elsewhere"],
    ["this machine, whose pid another process has by now", hostname()],
  ])("of %s is taken once it has been silent", async (_, host) => {
    const { file, lock, clock } = place();
    heldBy(file, process.ppid, host, Date.now() - SILENT_MS);
    await lock.acquire();
    expect(holder(file)).toBe(process.pid);
    expect(clock.sleeps).toEqual([]);
    await lock.release();
  });

  it("that was being written when its process died is taken once it has been silent", async () => {
    const { file, lock, clock } = place();
    writeFileSync(file, "");
    await expect(lock.acquire()).rejects.toThrow("another process is making records of this stack");
    const old = new Date(Date.now() - SILENT_MS);
    utimesSync(file, old, old);
    const waited = clock.sleeps.length;
    await lock.acquire();
    expect(clock.sleeps).toHaveLength(waited);
    expect(holder(file)).toBe(process.pid);
    await lock.release();
  });

  it("is released by the last of those who hold it", async () => {
    const { file, lock } = place();
    await Promise.all([lock.acquire(), lock.acquire()]);
    await lock.release();
    expect(existsSync(file)).toBe(true);
    await lock.release();
    expect(existsSync(file)).toBe(false);
  });

  it("is taken again while it is being released, without waiting for itself", async () => {
    const { file, lock, clock, said } = place();
    await lock.acquire();
    await Promise.all([lock.release(), lock.acquire()]);
    expect(holder(file)).toBe(process.pid);
    expect([clock.sleeps, said]).toEqual([[], []]);
    await lock.release();
    expect(existsSync(file)).toBe(false);
  });

  it("that another process has taken in the meantime is not released for it", async () => {
    const { file, lock } = place();
    await lock.acquire();
    heldBy(file, process.ppid);
    await lock.release();
    expect(holder(file)).toBe(process.ppid);
  });
});

describe("several processes at once", () => {
  it("make their records one process after the other, and no line is lost or torn", async () => {
    const [file, trace] = [folder.path("shared.jsonl"), folder.path("trace")];
    const script = fileURLToPath(new URL("../../support/journal-process.ts", import.meta.url));
    const [names, each] = [["a", "b", "c"], 8];
    // The lock of a run that died is in their way.
    writeFileSync(
      folder.path("shared.lock"),
      JSON.stringify({ pid: await deadPid(), host: hostname(), nonce: "dead" }),
    );
    const codes = names.map(async (name) => {
      const child = spawn(process.execPath, [script, file, trace, name, String(each)], { stdio: "inherit" });
      const [code] = await once(child, "exit");
      return code as number;
    });
    expect(await Promise.all(codes)).toEqual([0, 0, 0]);
    const steps = readFileSync(trace, "utf8").trim().split("\n");
    expect(steps).toHaveLength(2 * names.length * each);
    for (let i = 0; i < steps.length; i += 2)
      expect([steps[i], steps[i + 1]]).toEqual([`enter ${steps[i]?.at(-1)}`, `leave ${steps[i]?.at(-1)}`]);
    const entries = [...((await journalFile(file).read())?.values() ?? [])];
    const uids = names.flatMap((name) => Array.from({ length: each }, (_, i) => `${name}${i}`));
    expect(entries.map(({ uid }) => uid).sort()).toEqual(uids.sort());
    expect(existsSync(folder.path("shared.lock"))).toBe(false);
  });
});
