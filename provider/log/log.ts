// An append-only file of lines that several processes write: the journal of a stack, and the log of an operation. Another process may
// replace the file. Reads and writes use the page cache synchronously, since it outlives a killed process. Only waits for the disk are
// asynchronous.
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";

/** The lines written since the last read. */
export interface Tail {
  /** whole lines */
  lines: string[];
  /** the text after them: a line that another process is writing, or did not finish */
  rest: string;
  /** the file was not read before, or is another one than before: these are all of its lines */
  isFromStart: boolean;
}

interface LogOptions {
  /**
   * All of its processes are on this machine, so the file stays open. Otherwise each use opens it: that asks a file server again, where a
   * `stat` may be answered from this machine's cache.
   */
  staysOpen?: boolean;
  /** Turns an error of the file system into a message with the path and what to do. */
  explain(path: string, error: unknown, done: "read" | "written"): Error;
}

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
const NEWLINE = 0x0a;

export const openLog = <Line>(path: string, { staysOpen = false, explain }: LogOptions) => {
  const kept = staysOpen ? openKept(path, explain) : undefined;
  // The file when it was last read or written, and up to where its lines are read.
  let seen: Stats | undefined;
  let offset = 0;
  // One write at a time, whether or not the previous one succeeded.
  let last: Promise<unknown> = Promise.resolve();
  let writing: Promise<void> | undefined;
  const waiting: Line[] = [];

  const isAsSeen = ({ ino, size, mtimeMs }: Stats) =>
    size === (seen?.size ?? 0) && (size === 0 || (ino === seen?.ino && mtimeMs === seen.mtimeMs));

  /** Undefined if there is no file. */
  const readOn = (): Tail | undefined => {
    let file = kept;
    try {
      file ??= openSync(path, "r");
      const stats = fstatSync(file);
      if (seen && isAsSeen(stats)) return { lines: [], rest: "", isFromStart: false };
      // A file system gives the number of a removed file to the next one.
      const isSame = stats.ino === seen?.ino && stats.birthtimeMs === seen.birthtimeMs && stats.size >= offset;
      if (!isSame) offset = 0;
      const buffer = Buffer.alloc(stats.size - offset);
      const text = buffer.subarray(0, readSync(file, buffer, 0, buffer.length, offset));
      const end = text.lastIndexOf(NEWLINE) + 1;
      offset += end;
      seen = stats;
      return {
        lines: text.toString("utf8", 0, end).split("\n"),
        rest: text.toString("utf8", end),
        isFromStart: !isSame,
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw explain(path, error, "read");
      seen = undefined;
      return undefined;
    } finally {
      if (file !== undefined && file !== kept) closeSync(file);
    }
  };

  const write = (file: number, lines: readonly Line[]): boolean => {
    const before = fstatSync(file);
    const isRead = isAsSeen(before) && offset === before.size;
    // A process that died in the middle of a line must not spoil this one.
    const isWhole = before.size === 0 || isRead || isEnded(file, before.size);
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const bytes = Buffer.from(isWhole && !staysOpen ? text : `\n${text}`);
    writeFileSync(file, bytes);
    const after = fstatSync(file);
    // Another process has written beside them.
    if (!isRead || after.size !== before.size + bytes.length) return false;
    seen = after;
    offset = after.size;
    return true;
  };

  const inTurn = (work: () => Promise<void>) => {
    const turn = last.then(work).catch((error) => {
      throw explain(path, error, "written");
    });
    last = turn.catch(() => undefined);
    return turn;
  };

  return {
    path,
    readOn,
    /** The next read begins at the first line. */
    rewind: () => {
      seen = undefined;
    },
    /**
     * Appends lines, without waiting for the disk. Returns whether they directly follow the lines that were read: then the caller has them,
     * and the next read begins after them.
     */
    add: (...lines: Line[]): boolean => {
      let file = kept;
      try {
        file ??= openSync(path, "a+", 0o600);
        return write(file, lines);
      } catch (error) {
        throw explain(path, error, "written");
      } finally {
        if (file !== undefined && file !== kept) closeSync(file);
      }
    },
    /** Appends lines, which are on disk when this resolves. */
    append: (...lines: Line[]): Promise<void> => {
      waiting.push(...lines);
      // Lines that arrive while others are on their way to the disk share the next write, and its fsync.
      writing ??= inTurn(async () => {
        // Lines of the same turn of the event loop share this write: outcomes, and the entries of the creates that follow them.
        await setImmediate();
        writing = undefined;
        const lines = waiting.splice(0);
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        const file = openSync(path, "a+", 0o600);
        try {
          const isFirst = fstatSync(file).size === 0;
          write(file, lines);
          await promisify(fdatasync)(file);
          if (isFirst) await syncFolder(dirname(path));
        } finally {
          closeSync(file);
        }
      });
      return writing;
    },
    /** Replaces the file with one that holds this text, which is on disk when this resolves. */
    replace: (text: string) =>
      inTurn(async () => {
        const next = `${path}.next`;
        const file = openSync(next, "w", 0o600);
        try {
          writeFileSync(file, text);
          await promisify(fdatasync)(file);
          renameSync(next, path);
          seen = fstatSync(file);
          offset = seen.size;
        } finally {
          closeSync(file);
        }
        await syncFolder(dirname(path));
      }),
    /** No process has removed the file, or put another one in its place. */
    isInPlace: () => kept !== undefined && isSameFile(kept, path),
    close: () => {
      if (kept !== undefined) closeSync(kept);
    },
  };
};

const openKept = (path: string, explain: LogOptions["explain"]) => {
  try {
    return openSync(path, FLAGS, 0o600);
  } catch (error) {
    throw explain(path, error, "written");
  }
};

const isEnded = (file: number, size: number) => {
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] === NEWLINE;
};

const isSameFile = (file: number, path: string) => {
  try {
    return lstatSync(path).ino === fstatSync(file).ino;
  } catch {
    return false;
  }
};

/** A file survives a power cut only if its folder is synced too. */
const syncFolder = async (folder: string) => {
  const file = openSync(folder, "r");
  try {
    await promisify(fsync)(file);
  } finally {
    closeSync(file);
  }
};
