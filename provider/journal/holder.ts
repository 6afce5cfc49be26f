// Who holds a lock, as its file tells: the process that wrote it, and whether that one is surely dead. A pid says something only
// among the same pids: containers may share a host's name, and machines may have the same one.
import { readFileSync, readlinkSync } from "node:fs";
import { open } from "node:fs/promises";
import { hostname } from "node:os";

export interface Holder {
  pid: number;
  host: string;
  /** which pids the pid is one of; without it they are those of another machine */
  pids?: string;
  /** of this lock, so that nobody removes another one */
  nonce: string;
}

export interface Look {
  /** unknown when it is being written, was just removed, or cannot be read */
  holder: Holder | undefined;
  /** another one whenever somebody has written or touched the file */
  mark: string;
}

export const holderHere = (nonce: string): Holder => {
  const pids = pidsHere();
  return { pid: process.pid, host: hostname(), ...(pids !== undefined && { pids }), nonce };
};

/** Of one handle: opening asks a file server anew (close-to-open), where a `stat` may be answered from what the client keeps. */
export const lookAt = async (file: string): Promise<Look> => {
  try {
    const handle = await open(file, "r");
    try {
      const { mtimeMs } = await handle.stat();
      const text = await handle.readFile("utf8");
      return { holder: holderFrom(text), mark: `${mtimeMs} ${text}` };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return { holder: undefined, mark: String((error as NodeJS.ErrnoException).code) };
  }
};

export const holderFrom = (text: string): Holder | undefined => {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return undefined;
  }
};

/** Only of a process of this machine that has our pids; nobody knows of any other. */
export const isDead = ({ pid, host, pids }: Holder): boolean =>
  pids !== undefined && pids === pidsHere() && host === hostname() && !isAlive(pid);

// Linux numbers its namespaces anew after each boot, and the first one alike everywhere. Other systems have no second one.
const pidsHere = (): string | undefined => {
  if (process.platform !== "linux") return process.platform;
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return undefined;
  }
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
};
