// The log of an operation as a file that its processes append to. It need not survive the machine, so nothing is synced; the file holds
// uids and keys of the journal, and no secrets.
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, writeSync } from "node:fs";
import { withPath } from "./place.ts";

/** One line: what `member` has added, as its event number `count`. */
export type Line = [topic: string, member: string, count: number, event: unknown];

export interface Log {
  /** Adds an event of this process, and reads up to it. Returns what `dispatch` made of it. */
  append(topic: string, event: unknown): unknown;
  refresh(): void;
  /** No process has removed the file. */
  isInPlace(): boolean;
  close(): void;
}

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
const BUFFER_BYTES = 65_536;
const NEWLINE = 0x0a;

/** `dispatch` receives every line once, in the order of the file. */
export const openLog = (path: string, member: string, dispatch: (line: Line) => unknown): Log => {
  const file = openSync(path, FLAGS, 0o600);
  const buffer = Buffer.alloc(BUFFER_BYTES);
  let count = 0;
  let offset = 0;

  /** Applies all whole lines after `offset`. Returns the verdict on the last event of this process, if it is among them. */
  const read = (): { verdict: unknown } | undefined => {
    let own: { verdict: unknown } | undefined;
    for (;;) {
      const size = readSync(file, buffer, 0, buffer.length, offset);
      const end = size === 0 ? 0 : buffer.subarray(0, size).lastIndexOf(NEWLINE) + 1;
      if (end === 0) return own;
      offset += end;
      for (const line of buffer.toString("utf8", 0, end).split("\n").flatMap(parsed)) {
        const verdict = dispatch(line);
        if (line[1] === member && line[2] === count) own = { verdict };
      }
    }
  };

  return {
    append: (topic, event) => {
      count += 1;
      // A process that died in the middle of a line must not spoil this one.
      const line = Buffer.from(`\n${JSON.stringify([topic, member, count, event] satisfies Line)}\n`);
      try {
        const written = writeSync(file, line);
        const own = written === line.length ? read() : undefined;
        if (own) return own.verdict;
      } catch (error) {
        throw withPath(path, error);
      }
      throw withPath(path, new Error("what was written is not in it"));
    },
    refresh: () => void read(),
    isInPlace: () => isSameFile(file, path),
    close: () => closeSync(file),
  };
};

const parsed = (text: string): Line[] => {
  if (text === "") return [];
  try {
    const line: unknown = JSON.parse(text);
    return Array.isArray(line) && line.length === 4 ? [line as Line] : [];
  } catch {
    return [];
  }
};

const isSameFile = (file: number, path: string): boolean => {
  try {
    return lstatSync(path).ino === fstatSync(file).ino;
  } catch {
    return false;
  }
};
