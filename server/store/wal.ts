// The write-ahead log and its index, as SQLite documents them (https://sqlite.org/walformat.html): how far commits and
// checkpoints have come, and whether a restart would find every commit.
import { fstatSync, readSync } from "node:fs";

/** The contents of the wal-index. Salts and checksums are for comparison only. */
export interface WalIndex {
  /** frames of the log that are committed */
  frames: number;
  /** salts of the log, and the checksum of its last frame */
  salts: Buffer;
  checksum: readonly [number, number];
  /** frames that checkpoints have copied into the main file, and those that a checkpoint has begun to copy */
  backfilled: number;
  attempted: number;
}

const INDEX_BYTES = 136;
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC = 0x377f0682;

export const readWalIndex = (descriptor: number): WalIndex => {
  const bytes = Buffer.alloc(INDEX_BYTES);
  readSync(descriptor, bytes, 0, INDEX_BYTES, 0);
  const numbers = new Uint32Array(bytes.buffer, bytes.byteOffset, INDEX_BYTES / 4);
  const at = (offset: number): number => numbers[offset / 4] as number;
  return {
    frames: at(16),
    salts: bytes.subarray(32, 40),
    checksum: [at(24), at(28)],
    backfilled: at(96),
    attempted: at(128),
  };
};

/** True when no commit lies between the two. */
export const sameCommit = (one: WalIndex, other: WalIndex): boolean =>
  one.frames === other.frames &&
  one.salts.equals(other.salts) &&
  one.checksum[0] === other.checksum[0] &&
  one.checksum[1] === other.checksum[1];

/** True when no checkpoint lies between the two. */
export const sameCheckpoint = (one: WalIndex, other: WalIndex): boolean =>
  one.backfilled === other.backfilled && one.attempted === other.attempted && one.salts.equals(other.salts);

/** True when every committed frame is intact in the log, as a restart reads it. */
export const isLogWhole = (descriptor: number, index: WalIndex): boolean => {
  // The main file has everything.
  if (index.frames === 0) return true;
  const { size } = fstatSync(descriptor);
  const header = read(descriptor, 0, LOG_HEADER_BYTES);
  const magic = header.readUInt32BE(0);
  if ((magic & ~1) >>> 0 !== MAGIC || !header.subarray(16, 24).equals(index.salts)) return false;
  const sum = checksums(magic === MAGIC);
  let running = sum([0, 0], header.subarray(0, 24));
  if (running[0] !== header.readUInt32BE(24) || running[1] !== header.readUInt32BE(28)) return false;
  const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8);
  if (size < LOG_HEADER_BYTES + index.frames * frameBytes) return false;
  for (let i = 0; i < index.frames; i += 1) {
    const frame = read(descriptor, LOG_HEADER_BYTES + i * frameBytes, frameBytes);
    if (!frame.subarray(8, 16).equals(index.salts)) return false;
    running = sum(sum(running, frame.subarray(0, 8)), frame.subarray(FRAME_HEADER_BYTES));
    if (running[0] !== frame.readUInt32BE(16) || running[1] !== frame.readUInt32BE(20)) return false;
  }
  return running[0] === index.checksum[0] && running[1] === index.checksum[1];
};

const read = (descriptor: number, position: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  readSync(descriptor, bytes, 0, length, position);
  return bytes;
};

type Checksum = readonly [number, number];

const checksums = (isLittleEndian: boolean) => {
  const word = (bytes: Buffer, offset: number) =>
    isLittleEndian ? bytes.readUInt32LE(offset) : bytes.readUInt32BE(offset);
  return ([first, second]: Checksum, bytes: Buffer): Checksum => {
    let [a, b] = [first, second];
    for (let i = 0; i < bytes.length; i += 8) {
      a = (a + word(bytes, i) + b) >>> 0;
      b = (b + word(bytes, i + 4) + a) >>> 0;
    }
    return [a, b];
  };
};
