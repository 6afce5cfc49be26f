import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { expect, test } from "vitest";
import { withLock } from "../../../scripts/base/lock.mjs";
import { testFolder } from "../../support/test-folder.ts";

const file = testFolder().path("lock");
const ignore = (): void => {};

test("a lock admits one process at a time, names its holder to the others, and is removed afterwards", async () => {
  let inside = 0;
  let most = 0;
  const holders: string[] = [];
  const first = Promise.withResolvers<void>();
  const work = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await first.promise;
    inside -= 1;
  };
  const onWait = (holder: string): void => {
    holders.push(holder);
    if (holders.length === 2) first.resolve();
  };

  await Promise.all([withLock(file, work, onWait), withLock(file, work, onWait), withLock(file, work, onWait)]);
  expect(most).toBe(1);
  expect(holders[0]).toContain(`process ${process.pid} on ${hostname()}`);
  expect(existsSync(file)).toBe(false);
});

test("a lock is released when the work fails", async () => {
  await expect(withLock(file, () => Promise.reject(new Error("no Go")), ignore)).rejects.toThrow("no Go");
  expect(await withLock(file, () => Promise.resolve("entered"), ignore)).toBe("entered");
});

test("a lock of a killed process is taken over by exactly one waiting process", async () => {
  writeFileSync(file, JSON.stringify({ pid: spawnSync(process.execPath, ["--version"]).pid, host: hostname() }));
  let inside = 0;
  const work = async (): Promise<number> => {
    inside += 1;
    const seen = inside;
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
    return seen;
  };
  expect(await Promise.all([withLock(file, work, ignore), withLock(file, work, ignore)])).toEqual([1, 1]);
});
