// A text file of a change that is under review. Its author must not reach another file of the machine through it, whose text a
// message would show: the file stays in its folder, also through links. It is opened once, is bounded, and no device or pipe.
import { closeSync, constants, existsSync, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import { isWithin } from "../../pulumi/project.ts";
import { UserError } from "../../schema/index.ts";

/** Most bytes of one file. */
export const FILE_MAX = 4 * 1024 * 1024;

/** Why a file is not read, in one sentence. */
export class TextFileError extends UserError {
  override readonly name = "TextFileError";
}

export interface TextFile {
  /** without links */
  real: string;
  read(): string;
}

export type FindFile = (file: string, folder: string) => TextFile;

/** Where files are: on the disk, or in a commit. */
export interface Files {
  exists(file: string): boolean;
  find: FindFile;
}

/** Finds a file whose text stays in `folder`. Throws TextFileError, as `read` does. */
export const findTextFile: FindFile = (file, folder) => {
  if (!isWithin(resolve(folder), resolve(file))) throw new TextFileError(outside(file));
  const real = realOf(file, file);
  if (!isWithin(realOf(folder, file), real) || (basename(real) !== basename(resolve(file)) && !isYaml(real)))
    throw new TextFileError(`${file} is a link to another file, which is not read`);
  return { real, read: () => textOf(real, file) };
};

/** The files of the disk. */
export const textFiles: Files = { exists: existsSync, find: findTextFile };

export const outside = (file: string): string =>
  `${file} is outside the folder of the policy; only files in it are read`;

/** Whether a file of this name holds YAML. */
export const isYaml = (name: string): boolean => [".yaml", ".yml", ".json"].includes(extname(name).toLowerCase());

const realOf = (path: string, file: string): string => {
  try {
    return realpathSync(path);
  } catch (error) {
    throw unreadable(file, error);
  }
};

// The system's own text names the target of a link.
const unreadable = (file: string, error: unknown): TextFileError => {
  const { code = "unknown error" } = error as NodeJS.ErrnoException;
  const text = code === "ENOENT" ? `there is no file ${file}` : `cannot read ${file}: ${code}`;
  return new TextFileError(text, { cause: error });
};

// Windows has neither flag. A pipe without a writer would never open.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

const textOf = (real: string, file: string): string => {
  const bytes = bytesOf(real, file);
  if (bytes.length > FILE_MAX)
    throw new TextFileError(`${file} is larger than 4 MiB; divide the policy into files and include them`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new TextFileError(`${file} is not UTF-8`, { cause: error });
  }
};

// One byte more than allowed shows that a file is too large.
const bytesOf = (real: string, file: string): Buffer => {
  const bytes = Buffer.allocUnsafe(FILE_MAX + 1);
  let length = 0;
  let descriptor: number | undefined;
  try {
    descriptor = openSync(real, FLAGS);
    if (!fstatSync(descriptor).isFile()) throw new TextFileError(`${file} is not a regular file`);
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(descriptor, bytes, length, bytes.length - length, null);
  } catch (error) {
    throw error instanceof TextFileError ? error : unreadable(file, error);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
  return bytes.subarray(0, length);
};
