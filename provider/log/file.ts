// The journal on disk: 0600 in a folder of 0700, appended with fsync. A failed write is an error before any request is sent.
import type { Stats } from "node:fs";
import { type FileHandle, mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import {
  type Contents,
  contentsFrom,
  type Entry,
  type InvalidLine,
  type Line,
  lineText,
  readLines,
  textFrom,
} from "./entry.ts";

/** The journal cannot be read or written: one sentence that says what to do. */
export class JournalError extends Error {
  override readonly name = "JournalError";
}

export interface JournalFile {
  readonly path: string;
  /** Undefined when there is no file. */
  read(): Promise<Contents | undefined>;
  /**
   * Applies the lines that were written since it was read, those of this process included. Returns the invalid ones, or undefined when
   * another file is in its place, and `read` must begin again.
   */
  readOn(entries: Map<string, Entry>): Promise<InvalidLine[] | undefined>;
  /** The lines are on disk when this resolves. */
  append(...lines: Line[]): Promise<void>;
  /** Rewrites it with only these entries, if it holds anything else; quarantines its invalid lines first. */
  compact(entries: Iterable<Entry>): Promise<void>;
  /** Moves ignored lines to a file of their own, each once; they are on disk when this resolves. */
  quarantine(lines: readonly InvalidLine[]): Promise<void>;
  quarantined(): Promise<InvalidLine[]>;
}

/** The file that keeps the ignored lines. */
export const quarantineOf = (path: string): string => `${path}.invalid`;

export const journalFile = (path: string): JournalFile => {
  // One step at a time, whether or not the previous one succeeded.
  let last: Promise<unknown> = Promise.resolve();
  // How it looked when it was last read or written, "" for no file; which file that was, its size then, and all ids of its intents.
  let seen = "";
  let identity = "";
  let offset = 0;
  let intents = new Set<string>();
  const inTurn = <T>(work: () => Promise<T>, done: "read" | "written" = "written"): Promise<T> => {
    const next = last.then(() => withAdvice(path, done, work));
    last = next.catch(() => undefined);
    return next;
  };

  const waiting: Line[] = [];
  let writing: Promise<void> | undefined;
  const write = async (lines: readonly Line[]): Promise<void> => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await withFile(path, "a+", async (file) => {
      const before = await file.stat();
      // The last run may have died in the middle of a line.
      const isWhole =
        before.size === 0 ||
        (lookFrom(before) === seen && before.size === offset) ||
        (await lastByte(file, before.size)) === "\n";
      await file.appendFile((isWhole ? "" : "\n") + lines.map(lineText).join(""));
      await file.datasync();
      for (const line of lines) if ("intent" in line) intents.add(line.intent);
      // If another process wrote in between, its lines must still be read.
      if (lookFrom(before) === seen) {
        const after = await file.stat();
        seen = lookFrom(after);
        if (before.size === 0) identity = identityOf(after);
        offset = after.size;
      }
      if (before.size === 0) await syncFolder(dirname(path));
    });
  };

  return {
    path,
    read: async () => {
      const before = await lookOf(path);
      const text = await textOf(path);
      [seen, identity] = before;
      // A line that is being written is read again.
      offset = text === undefined ? 0 : Buffer.byteLength(text.slice(0, text.lastIndexOf("\n") + 1));
      intents = new Set();
      return text === undefined ? undefined : contentsFrom(text, intents);
    },
    readOn: (entries) =>
      inTurn(async () => {
        if ((await lookOf(path))[0] === seen) return [];
        if (seen === "") return undefined;
        return withFile(path, "r", async (file) => {
          const now = await file.stat();
          const size = now.size - offset;
          if (identityOf(now) !== identity || size < 0) return undefined;
          const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, offset);
          const end = buffer.subarray(0, bytesRead).lastIndexOf("\n") + 1;
          seen = lookFrom(now);
          offset += end;
          return readLines(buffer.toString("utf8", 0, end), entries, intents);
        });
      }, "read"),
    append: (...lines) => {
      waiting.push(...lines);
      // Lines that arrive while others are being written share the next write, and its fsync.
      writing ??= inTurn(() => {
        writing = undefined;
        return write(waiting.splice(0));
      });
      return writing;
    },
    compact: (entries) =>
      inTurn(async () => {
        const text = textFrom(entries);
        const before = (await textOf(path)) ?? "";
        if (before === text) return;
        await setAside(path, contentsFrom(before).invalid);
        const next = `${path}.next`;
        await withFile(next, "w", async (file) => {
          await file.writeFile(text);
          await file.datasync();
          const now = await file.stat();
          seen = lookFrom(now);
          identity = identityOf(now);
          offset = now.size;
        });
        await rename(next, path);
        await syncFolder(dirname(path));
      }),
    quarantine: (lines) => inTurn(() => setAside(path, lines)),
    quarantined: () => quarantinedAt(path),
  };
};

const setAside = async (path: string, lines: readonly InvalidLine[]): Promise<void> => {
  const known = new Set((await quarantinedAt(path)).map(({ line }) => line));
  const fresh = lines.filter(({ line }) => !known.has(line));
  if (fresh.length === 0) return;
  await withFile(quarantineOf(path), "a", async (file) => {
    await file.appendFile(fresh.map((one) => `${JSON.stringify(one)}\n`).join(""));
    await file.datasync();
  });
  await syncFolder(dirname(path));
};

const quarantinedAt = async (path: string): Promise<InvalidLine[]> =>
  ((await textOf(quarantineOf(path))) ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map(quarantinedLine);

// Nothing in that file is used, and `irm journal list` shows all of it.
const quarantinedLine = (line: string): InvalidLine => {
  try {
    const { line: own, why } = JSON.parse(line) as Partial<InvalidLine>;
    if (typeof own === "string" && typeof why === "string") return { line: own, why };
  } catch {
    // Shown as it is.
  }
  return { line, why: "it is not as it was written" };
};

const withFile = async <T>(path: string, flags: string, work: (file: FileHandle) => Promise<T>): Promise<T> => {
  const file = await open(path, flags, 0o600);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
};

const lastByte = async (file: FileHandle, size: number): Promise<string> =>
  (await file.read(Buffer.alloc(1), 0, 1, size - 1)).buffer.toString();

const textOf = (path: string): Promise<string | undefined> =>
  withAdvice(path, "read", async () => {
    try {
      return await readFile(path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  });

const lookFrom = ({ ino, size, mtimeMs }: Stats): string => (size === 0 ? "" : `${ino} ${size} ${mtimeMs}`);

// A file system gives the number of a removed file to the next one.
const identityOf = ({ ino, birthtimeMs }: Stats): string => `${ino} ${birthtimeMs}`;

const lookOf = (path: string): Promise<[look: string, identity: string]> =>
  withAdvice(path, "read", async () => {
    try {
      // Opening asks the file server again, where a `stat` may be answered from this machine's cache.
      return await withFile(path, "r", async (file) => {
        const stats = await file.stat();
        return [lookFrom(stats), identityOf(stats)];
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return ["", ""];
      throw error;
    }
  });

// A file survives a power cut only if its folder is synced too.
const syncFolder = (folder: string): Promise<void> => withFile(folder, "r", (file) => file.sync());

/** Adds to an error of the file system which file it is about and what to do. */
export const withAdvice = async <T>(path: string, done: "read" | "written", work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof JournalError) throw error;
    const { code = "", message } = error as NodeJS.ErrnoException;
    const text = `the intent journal ${path} cannot be ${done} (${code || message})`;
    const advice = "free some space or choose another folder: irm:journal in the stack's configuration, or IRM_JOURNAL";
    throw new JournalError(`${text}; ${advice}`, { cause: error });
  }
};
