// A lock between processes: a file that only one of them can create. It names its holder, so that the lock of a killed process
// does not block others. Needs no package, because it guards the installation of the packages.
import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const pollMs = 250;

/**
 * Runs `work` while no other process holds the same lock; `onWait` is called once if it has to wait.
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} work
 * @param {(holder: string) => void} onWait
 * @returns {Promise<T>}
 */
export async function withLock(file, work, onWait) {
  await mkdir(dirname(file), { recursive: true });
  await acquire(file, onWait);
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

/** @param {string} file @param {(holder: string) => void} onWait */
async function acquire(file, onWait) {
  let hasReported = false;
  while (!(await tryCreate(file))) {
    const holder = await readHolder(file);
    if (holder !== undefined && isDead(holder)) {
      await removeStale(file);
      continue;
    }
    if (!hasReported) onWait(holder === undefined ? file : `process ${holder.pid} on ${holder.host}, lock ${file}`);
    hasReported = true;
    await delay(pollMs);
  }
}

async function tryCreate(/** @type {string} */ file) {
  // The lock names its holder from its first moment.
  const own = `${file}.${randomUUID()}`;
  try {
    await writeFile(own, JSON.stringify({ pid: process.pid, host: hostname() }));
    await link(own, file);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await rm(own, { force: true });
  }
}

/** @returns {Promise<{ pid: number, host: string } | undefined>} */
async function readHolder(/** @type {string} */ file) {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    // Just released: look again.
    return undefined;
  }
}

function isDead(/** @type {{ pid: number, host: string }} */ holder) {
  if (holder.host !== hostname()) return false;
  try {
    process.kill(holder.pid, 0);
    return false;
  } catch (error) {
    return hasCode(error, "ESRCH");
  }
}

/** Two processes may see the same dead holder. The second must not remove the lock that the first has just taken. */
async function removeStale(/** @type {string} */ file) {
  const guard = `${file}.stale`;
  try {
    await mkdir(guard);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    await delay(pollMs);
    return;
  }
  try {
    const holder = await readHolder(file);
    if (holder !== undefined && isDead(holder)) await rm(file, { force: true });
  } finally {
    await rm(guard, { recursive: true, force: true });
  }
}

/** @param {unknown} error @param {string} code */
function hasCode(error, code) {
  return error instanceof Error && "code" in error && error.code === code;
}
