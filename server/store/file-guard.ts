// Compares the files of an open database with those that the server opened. SQLite keeps its descriptors: it continues in a
// file that was deleted, replaced or cut off, and its cache hides the loss until a restart. This file does not look for writes of
// another program inside the files: SQLite reports them when it reads them.
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { DatabaseError, type DatabaseFiles } from "./database.ts";

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
}

/** Four numbers of the wal-index (https://sqlite.org/walformat.html). Only a checkpoint makes either file shorter. */
interface WalIndex {
  /** frames of the log that are committed */
  frames: number;
  /** the log's own number: a checkpoint lets it begin again under another one */
  salts: string;
  /** frames that checkpoints have copied into the main file, and those that a checkpoint has begun to copy */
  backfilled: number;
  attempted: number;
}

interface Look {
  main: Seen;
  log: Seen;
  index: Seen;
  wal: WalIndex;
}

// The magic, the page size and other fields that no checkpoint changes (https://sqlite.org/fileformat.html section 1.3).
const HEADER_BYTES = 24;

/** `files`: absent for a database in memory, which only `lose` can lose. */
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
      // Another process may have committed or made a checkpoint meanwhile.
      if (isSame(wal, readWalIndex(descriptors.index))) return seen;
    }
  };

  const header = (): Buffer => read(descriptors.main, HEADER_BYTES, 0);

  let known = look();
  const knownHeader = header();
  const pageBytes = knownHeader.readUInt16BE(16) === 1 ? 65_536 : knownHeader.readUInt16BE(16);

  const isLogLong = (size: bigint, { frames }: WalIndex): boolean =>
    frames === 0 || size >= LOG_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + pageBytes);

  const isMainCut = (main: Seen, wal: WalIndex): boolean =>
    main.size < known.main.size &&
    wal.attempted <= wal.backfilled &&
    wal.backfilled === known.wal.backfilled &&
    wal.salts === known.wal.salts;

  const compare = (now: Look): void => {
    for (const name of ["main", "log", "index"] as const)
      if (!isSameFile(now[name], known[name])) throw lose(`${files[name]} was replaced by another file`);
    if (!header().equals(knownHeader)) throw lose(`the beginning of ${files.main} was overwritten or cut off`);
    if (isMainCut(now.main, now.wal)) throw lose(`${files.main} was cut off`);
    if (!isLogLong(now.log.size, now.wal)) throw lose(`${files.log} was cut off`);
  };

  return {
    check: (): void => {
      const now = look();
      compare(now);
      known = now;
    },
    // True when the main file and the log are long enough, whatever file has the name of the log now.
    isWhole: (): boolean => {
      const main = statOf(files.main);
      if (!main || main instanceof Error || !isSameFile(main, known.main)) return false;
      const wal = readWalIndex(descriptors.index);
      const { size } = fstatSync(descriptors.log, { bigint: true });
      return header().equals(knownHeader) && !isMainCut(main, wal) && isLogLong(size, wal);
    },
    release: descriptors.release,
  };
};

const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

const readWalIndex = (descriptor: number): WalIndex => {
  const bytes = read(descriptor, 136, 0);
  // In the byte order of this machine.
  const numbers = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const at = (offset: number): number => numbers[offset / 4] as number;
  return { frames: at(16), salts: bytes.toString("hex", 32, 40), backfilled: at(96), attempted: at(128) };
};

const isSame = (one: WalIndex, other: WalIndex): boolean => JSON.stringify(one) === JSON.stringify(other);

const isSameFile = (one: Seen, other: Seen): boolean => one.inode === other.inode && one.device === other.device;

const read = (descriptor: number, length: number, position: number): Buffer => {
  const bytes = Buffer.alloc(length);
  readSync(descriptor, bytes, 0, length, position);
  return bytes;
};

const statOf = (path: string): Seen | Error | undefined => {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found && { device: found.dev, inode: found.ino, size: found.size };
  } catch (error) {
    return error as Error;
  }
};

// A process that closes any descriptor of a file drops all its locks on it, SQLite's too
// (https://sqlite.org/howtocorrupt.html section 2.2). So these stay open while any database of the file is open here.
const open = new Map<string, { databases: number; descriptors: number[] }>();

const openAll = ({ main, log, index }: DatabaseFiles) => {
  const paths = [main, log, index] as const;
  const { dev, ino } = statSync(main, { bigint: true });
  const key = `${dev}:${ino}`;
  const newDescriptors = paths.map((path) => openSync(path, "r")) as [number, number, number];
  const { databases = 0, descriptors = [] } = open.get(key) ?? {};
  open.set(key, { databases: databases + 1, descriptors: [...descriptors, ...newDescriptors] });
  return {
    main: newDescriptors[0],
    log: newDescriptors[1],
    index: newDescriptors[2],
    release: () => {
      const held = open.get(key) as { databases: number; descriptors: number[] };
      held.databases -= 1;
      if (held.databases > 0) return;
      open.delete(key);
      for (const descriptor of held.descriptors) closeSync(descriptor);
    },
  };
};
