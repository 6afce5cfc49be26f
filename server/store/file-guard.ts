// Compares the files of an open database with those that the server opened. SQLite keeps its descriptors: it continues in a
// file that was deleted, replaced or cut off, and its cache hides the loss until a restart. This file does not look for writes of
// another program inside the files: SQLite reports them when it reads them.
import { type BigIntStats, closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { DatabaseError, type DatabaseFiles } from "./database.ts";

/** The files are no longer the ones that the server opened. The message is for the operator. */
export class DatabaseLost extends DatabaseError {}

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

// The magic, the page size and other fields that no checkpoint changes (https://sqlite.org/fileformat.html section 1.3).
const HEADER_BYTES = 24;

/** `files`: absent for a database in memory, which only `lose` can lose. */
export const createFileGuard = (files: DatabaseFiles | undefined, onLost: (lost: DatabaseLost) => void) => {
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
    /** Throws DatabaseLost, from the first change by another program on. */
    check: () => {
      if (lost) throw lost;
      watch?.check();
    },
    /** SQLite reports that the database is damaged. */
    lose: (reason: string) => {
      isDamaged = true;
      return lose(reason);
    },
    /** Closing copies the log into the main file. False if that would do harm, or save nothing. */
    isClosable: () => lost === undefined || (!isDamaged && (watch?.isWhole() ?? true)),
    /** Once the database is closed. */
    release: (): void => watch?.release(),
  };
};

const watchFiles = (files: DatabaseFiles, lose: (reason: string) => DatabaseLost) => {
  const descriptors = openAll(files);

  const see = (path: string): BigIntStats => {
    try {
      const found = statSync(path, { bigint: true, throwIfNoEntry: false });
      if (found) return found;
    } catch (error) {
      throw lose(`${path} cannot be looked at: ${(error as Error).message}`);
    }
    throw lose(`${path} was deleted or moved away`);
  };

  const look = () => {
    for (;;) {
      const wal = readWalIndex(descriptors.index);
      const stats = { main: see(files.main), log: see(files.log), index: see(files.index) };
      // Another process may have committed or made a checkpoint meanwhile.
      if (isDeepStrictEqual(wal, readWalIndex(descriptors.index))) return { stats, wal };
    }
  };

  const header = () => read(descriptors.main, HEADER_BYTES);

  let known = look();
  const knownHeader = header();
  const pageBytes = knownHeader.readUInt16BE(16) === 1 ? 65_536 : knownHeader.readUInt16BE(16);

  const checkSame = (name: keyof DatabaseFiles, now: BigIntStats) => {
    const { ino, dev } = known.stats[name];
    if (now.ino !== ino || now.dev !== dev) throw lose(`${files[name]} was replaced by another file`);
  };

  const checkSizes = (mainBytes: bigint, logBytes: bigint, wal: WalIndex) => {
    if (!header().equals(knownHeader)) throw lose(`the beginning of ${files.main} was overwritten or cut off`);
    const isCheckpointed =
      wal.attempted > wal.backfilled || wal.backfilled !== known.wal.backfilled || wal.salts !== known.wal.salts;
    if (mainBytes < known.stats.main.size && !isCheckpointed) throw lose(`${files.main} was cut off`);
    const committed = wal.frames === 0 ? 0 : LOG_HEADER_BYTES + wal.frames * (FRAME_HEADER_BYTES + pageBytes);
    if (logBytes < committed) throw lose(`${files.log} was cut off`);
  };

  return {
    check: () => {
      const now = look();
      for (const name of ["main", "log", "index"] as const) checkSame(name, now.stats[name]);
      checkSizes(now.stats.main.size, now.stats.log.size, now.wal);
      known = now;
    },
    // True when the main file and the log are long enough, whatever file has the name of the log now.
    isWhole: (): boolean => {
      try {
        const main = see(files.main);
        checkSame("main", main);
        checkSizes(main.size, fstatSync(descriptors.log, { bigint: true }).size, readWalIndex(descriptors.index));
        return true;
      } catch (error) {
        if (error instanceof DatabaseLost) return false;
        throw error;
      }
    },
    release: descriptors.release,
  };
};

const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

const readWalIndex = (descriptor: number): WalIndex => {
  const bytes = read(descriptor, 136);
  // In the byte order of this machine.
  const numbers = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const at = (offset: number) => numbers[offset / 4] as number;
  return { frames: at(16), salts: bytes.toString("hex", 32, 40), backfilled: at(96), attempted: at(128) };
};

const read = (descriptor: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  readSync(descriptor, bytes, 0, length, 0);
  return bytes;
};

// A process that closes any descriptor of a file drops all its locks on it, including SQLite's
// (https://sqlite.org/howtocorrupt.html section 2.2). So these stay open while any database of the file is open here.
const open = new Map<string, { databases: number; descriptors: number[] }>();

const openAll = ({ main, log, index }: DatabaseFiles) => {
  const { dev, ino } = statSync(main, { bigint: true });
  const key = `${dev}:${ino}`;
  const [ofMain, ofLog, ofIndex] = [main, log, index].map((path) => openSync(path, "r")) as [number, number, number];
  const held = open.get(key) ?? { databases: 0, descriptors: [] };
  open.set(key, held);
  held.databases += 1;
  held.descriptors.push(ofMain, ofLog, ofIndex);
  return {
    main: ofMain,
    log: ofLog,
    index: ofIndex,
    release: () => {
      held.databases -= 1;
      if (held.databases > 0) return;
      open.delete(key);
      for (const descriptor of held.descriptors) closeSync(descriptor);
    },
  };
};
