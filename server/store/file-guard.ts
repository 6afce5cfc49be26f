// Compares the files of an open database with what the server knows of them. SQLite keeps its descriptors: it continues in a
// file that was deleted, replaced or overwritten, and its cache hides the loss until a restart. While a database is open, only
// checkpoints change the main file, and only commits the write-ahead log; the wal-index counts both
// (https://sqlite.org/walformat.html). A change that the index does not explain is not SQLite's.
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { DatabaseError, type DatabaseFiles } from "./database.ts";
import { isLogWhole, readWalIndex, sameCheckpoint, sameCommit, type WalIndex } from "./wal.ts";

/** The files are no longer those that the server opened. The message is for the operator. */
export class DatabaseLost extends DatabaseError {}

export interface FileGuard {
  /** Throws DatabaseLost, from the first change by another program on. */
  check(): void;
  /** SQLite reports that the database is damaged. */
  lose(reason: string): DatabaseLost;
  /** Closing copies the log into the main file. False where that would do harm, or save nothing. */
  isClosable(): boolean;
  /** Once the database is closed. */
  release(): void;
}

interface Seen {
  device: bigint;
  inode: bigint;
  size: bigint;
  modifiedNs: bigint;
}

interface Look {
  main: Seen;
  log: Seen;
  index: Seen;
  wal: WalIndex;
}

// The magic, the page size and other fields that no checkpoint changes (https://sqlite.org/fileformat.html section 1.3).
const HEADER_BYTES = 24;

/** `files`: absent of a database in memory, which only `lose` can lose. */
export const createFileGuard = (files: DatabaseFiles | undefined, onLost: (lost: DatabaseLost) => void): FileGuard => {
  let lost: DatabaseLost | undefined;
  let isDamaged = false;
  const lose = (reason: string): DatabaseLost => {
    if (lost) return lost;
    lost = new DatabaseLost(reason);
    onLost(lost);
    return lost;
  };
  const watch = files && watchFiles(files, lose);
  return {
    check: () => {
      if (lost) throw lost;
      watch?.check();
    },
    lose: (reason) => {
      isDamaged = true;
      return lose(reason);
    },
    isClosable: () => lost === undefined || (!isDamaged && (watch?.isWhole() ?? true)),
    release: () => watch?.release(),
  };
};

const watchFiles = (files: DatabaseFiles, lose: FileGuard["lose"]) => {
  const descriptors = openAll(files);

  const see = (path: string): Seen => {
    const found = statOf(path);
    if (found instanceof Error) throw lose(`${path} cannot be looked at: ${found.message}`);
    if (!found) throw lose(`${path} was deleted or moved away`);
    return found;
  };

  const look = (): Look => {
    for (;;) {
      const wal = readWalIndex(descriptors.index);
      const seen = { main: see(files.main), log: see(files.log), index: see(files.index), wal };
      // Another process may have committed meanwhile.
      const again = readWalIndex(descriptors.index);
      if (sameCommit(wal, again) && sameCheckpoint(wal, again)) return seen;
    }
  };

  const header = (): Buffer => {
    const bytes = Buffer.alloc(HEADER_BYTES);
    readSync(descriptors.main, bytes, 0, HEADER_BYTES, 0);
    return bytes;
  };

  let known = look();
  const knownHeader = header();

  const compare = (now: Look): void => {
    for (const name of ["main", "log", "index"] as const)
      if (now[name].inode !== known[name].inode || now[name].device !== known[name].device)
        throw lose(`${files[name]} was replaced by another file`);
    if (!header().equals(knownHeader)) throw lose(`the beginning of ${files.main} was overwritten or cut off`);
    const isCheckpointing = now.wal.attempted > now.wal.backfilled;
    if (isChanged(now.main, known.main) && sameCheckpoint(now.wal, known.wal) && !isCheckpointing)
      throw lose(`${files.main} was written to by another program`);
    // A rolled-back transaction of another process leaves the log longer, and whole as far as it counts.
    if (isChanged(now.log, known.log) && sameCommit(now.wal, known.wal) && !isLogWhole(descriptors.log, now.wal))
      throw lose(`${files.log} was written to by another program`);
  };

  return {
    check: (): void => {
      const now = look();
      compare(now);
      known = now;
    },
    // True when the main file is unchanged and the log is whole, whatever file has its name now.
    isWhole: (): boolean => {
      const main = statOf(files.main);
      if (!main || main instanceof Error || main.inode !== known.main.inode || main.device !== known.main.device)
        return false;
      const isUntouched = !isChanged(main, known.main) && header().equals(knownHeader);
      return isUntouched && isLogWhole(descriptors.log, readWalIndex(descriptors.index));
    },
    release: descriptors.release,
  };
};

const statOf = (path: string): Seen | Error | undefined => {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found && { device: found.dev, inode: found.ino, size: found.size, modifiedNs: found.mtimeNs };
  } catch (error) {
    return error as Error;
  }
};

const isChanged = (now: Seen, before: Seen): boolean =>
  now.size !== before.size || now.modifiedNs !== before.modifiedNs;

// A process that closes any descriptor of a file drops all its locks on it, SQLite's too
// (https://sqlite.org/howtocorrupt.html section 2.2). So these stay open while any database of the file is open here.
const open = new Map<string, { databases: number; descriptors: number[] }>();

const openAll = ({ main, log, index }: DatabaseFiles) => {
  const paths = [main, log, index] as const;
  const { dev, ino } = statSync(main, { bigint: true });
  const key = `${dev}:${ino}`;
  const own = paths.map((path) => openSync(path, "r")) as [number, number, number];
  const { databases = 0, descriptors = [] } = open.get(key) ?? {};
  open.set(key, { databases: databases + 1, descriptors: [...descriptors, ...own] });
  return {
    main: own[0],
    log: own[1],
    index: own[2],
    release: () => {
      const held = open.get(key) as { databases: number; descriptors: number[] };
      held.databases -= 1;
      if (held.databases > 0) return;
      open.delete(key);
      for (const descriptor of held.descriptors) closeSync(descriptor);
    },
  };
};
