// Writes a file whole: its content is the new text, or as before.
import { randomUUID } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
  BYTES_MAX,
  type Change,
  type ChangeContent,
  ChangeError,
  changeText,
  parseChange,
} from "../access/change/change.ts";
import { UsageError } from "./irm-command.ts";

/** Only the owner can read it. */
export const writeWhole = (file: string, text: string, Failure: new (message: string) => Error): void => {
  const beside = join(dirname(file), `.${randomUUID()}.tmp`);
  try {
    const descriptor = openSync(beside, "wx", 0o600);
    try {
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(beside, file);
  } catch (error) {
    throw new Failure(`cannot write ${file}: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  } finally {
    rmSync(beside, { force: true });
  }
};

/** Whether this user has this access to the file. */
export const isAccessible = (file: string, mode: number): boolean => {
  try {
    accessSync(file, mode);
    return true;
  } catch {
    return false;
  }
};

// The file of a change: read within its limits, written whole for its owner alone.

/** Throws a ChangeError. */
export const readChange = (file: string): Change => parseChange(readText(file), file);

const readText = (file: string): string => {
  let descriptor: number | undefined;
  try {
    // Of a pipe, nobody may ever write to it.
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new ChangeError(`${file} is not a regular file`);
    // It may grow meanwhile: one byte too many is enough to refuse it.
    const buffer = Buffer.alloc(Math.min(stats.size, BYTES_MAX) + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read)
      read = readSync(descriptor, buffer, length, buffer.length - length, null);
    return buffer.toString("utf8", 0, length);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new ChangeError(code === "ENOENT" ? `there is no file ${file}` : `cannot read ${file}: ${code}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
};

/** Before the run: another change is replaced, any other file stays. Throws a ChangeError. */
export const checkChangeFile = (file: string): void => {
  if (file === "") throw new UsageError("--out takes the name of a file");
  if (!existsSync(file)) return;
  try {
    readChange(file);
  } catch {
    throw new ChangeError(`${file} exists already, and is not a change; give another name`);
  }
};

/** Throws a ChangeError. */
export const writeChange = (file: string, content: ChangeContent): void =>
  writeWhole(file, changeText(content), ChangeError);
