// A text file of a change under review. Its author must not reach another file of the machine through it, whose text a message would show:
// the file must be in its folder, even through links. It is opened once, has a maximum size, and is not a device or a pipe.
import { closeSync, constants, existsSync, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { basename, dirname, extname, isAbsolute, join, resolve } from "node:path";
import { isWithin } from "../../pulumi/project.ts";
import { UserError } from "../../schema/index.ts";
import {
  isList,
  isMap,
  joinSources,
  type MapSource,
  type Mistake,
  NODES_MAX,
  type Place,
  type Source,
} from "./source.ts";
import { sourceFromYaml } from "./yaml-source.ts";

/** Maximum bytes of one file. */
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

/** The source of files: the disk, or a commit. */
export interface Files {
  exists(file: string): boolean;
  find: FindFile;
}

/** Finds a file that must be inside `folder`. Throws TextFileError, as `read` does. */
export const findTextFile: FindFile = (file, folder) => {
  if (!isWithin(resolve(folder), resolve(file))) throw new TextFileError(outside(file));
  const real = realOf(file, file);
  if (!isWithin(realOf(folder, file), real) || (basename(real) !== basename(resolve(file)) && !isYaml(real)))
    throw new TextFileError(`${file} is a link to another file, which is not read`);
  return { real, read: () => readText(real, file) };
};

/** The files on the disk. */
export const textFiles: Files = { exists: existsSync, find: findTextFile };

const outside = (file: string) => `${file} is outside the folder of the policy; only files in it are read`;

/** Whether a file of this name contains YAML. */
const isYaml = (name: string) => [".yaml", ".yml", ".json"].includes(extname(name).toLowerCase());

const realOf = (path: string, file: string) => {
  try {
    return realpathSync(path);
  } catch (error) {
    throw unreadable(file, error);
  }
};

// The system's own text names the target of a link.
const unreadable = (file: string, error: unknown) => {
  const { code = "unknown error" } = error as NodeJS.ErrnoException;
  const text = code === "ENOENT" ? `there is no file ${file}` : `cannot read ${file}: ${code}`;
  return new TextFileError(text, { cause: error });
};

// Windows has neither flag. A pipe without a writer would never open.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

const readText = (real: string, file: string) => {
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

// Reads a policy file and the files that it includes, each once, and joins them. Sections of several files form one section; a record is in
// one of them. Another file may open a group again to add groups to it, and a row of access to add identities.

/** Maximum files of a policy, including unreadable ones. */
const FILES_MAX = 1000;
/** Maximum bytes of all files of a policy. */
const BYTES_MAX = 16 * 1024 * 1024;

export interface FileSource {
  /** absent: nothing in it can be checked further */
  source?: Source;
  mistakes: Mistake[];
  /** in reading order: the file itself, then its includes */
  files: string[];
}

/**
 * `find` opens a file that must be inside a folder: on the disk, or in a commit. `noMap` is the mistake of a file that does not contain a
 * map.
 */
export const readSource = (file: string, find: FindFile = findTextFile, noMap = NO_POLICY): FileSource => {
  const folder = dirname(file);
  const mistakes: Mistake[] = [];
  const sources: MapSource[] = [];
  const files: string[] = [];
  const names = new Set<string>();
  /** the files that were read, without links */
  const read = new Set<string>();
  /** the files whose includes are being read */
  const open: { name: string; real: string }[] = [];
  const total = { bytes: 0, nodes: 0 };
  /** the limit that all files together exceed; nothing more is read */
  let tooMuch: string | undefined;
  let isBroken = false;

  const readIncluded = (name: string, includedAt: Place | undefined): { real: string; text?: string } | undefined => {
    try {
      if (includedAt && !isYaml(name)) throw new TextFileError(`${name} must be a file of YAML: .yaml, .yml or .json`);
      const found = find(name, folder);
      return read.has(found.real) ? found : { ...found, text: found.read() };
    } catch (error) {
      if (!(error instanceof TextFileError)) throw error;
      isBroken = true;
      mistakes.push({
        path: includedAt ? "include" : "",
        text: error.message,
        place: includedAt ?? startOf(name),
      });
      return undefined;
    }
  };

  const readOne = (name: string, includedAt?: Place): void => {
    if (tooMuch) return;
    names.add(name);
    if (names.size > FILES_MAX) {
      tooMuch = `has more than ${FILES_MAX.toLocaleString("en")} files; divide the policy`;
      return;
    }
    const found = readIncluded(name, includedAt);
    if (!found) return;
    const { real, text } = found;
    const circle = open.findIndex((one) => one.real === real);
    if (circle >= 0) {
      isBroken = true;
      const path = [...open.slice(circle).map((one) => one.name), open[circle]?.name].join(" > ");
      mistakes.push({ path: "include", text: `includes itself: ${path}`, place: includedAt });
      return;
    }
    if (text === undefined) return;
    read.add(real);
    files.push(name);
    total.bytes += Buffer.byteLength(text);
    if (total.bytes > BYTES_MAX) {
      tooMuch = "is larger than 16 MiB with the files that it includes; divide the policy";
      return;
    }
    const { source, mistakes: own } = sourceFromYaml(text, name);
    mistakes.push(...own);
    if (source === undefined) isBroken = true;
    if (!isMap(source)) {
      if (source) mistakes.push({ path: "", text: noMap, place: startOf(name) });
      return;
    }
    total.nodes += source.size;
    if (total.nodes > NODES_MAX) {
      tooMuch = `has more than ${NODES_MAX.toLocaleString("en")} nodes with the files that it includes; divide the policy`;
      return;
    }
    const include = source.entries.get("include")?.value;
    source.entries.delete("include");
    sources.push(source);
    open.push({ name, real });
    for (const { path, place } of includesOf(include, mistakes)) {
      if (isAbsolute(path)) {
        isBroken = true;
        mistakes.push({ path: "include", text: outside(path), place });
      } else readOne(join(dirname(name), path), place);
    }
    open.pop();
  };

  readOne(file);
  if (tooMuch) return { mistakes: [{ path: "", text: tooMuch, place: startOf(file) }], files };
  const joined = joinSources(sources);
  mistakes.push(...joined.mistakes);
  return { source: isBroken || sources.length === 0 ? undefined : joined.source, mistakes, files };
};

const NO_POLICY =
  "must be a map with organization, groups, identities, roles and access; `npx pulumi-irm init` writes an example";

const startOf = (file: string): Place => ({ file, line: 1, column: 1 });

const includesOf = (include: Source | undefined, mistakes: Mistake[]): { path: string; place?: Place }[] => {
  if (include === undefined) return [];
  if (!isList(include)) {
    mistakes.push({ path: "include", text: "must be a list of files", place: include.place });
    return [];
  }
  return include.items.flatMap((item, i) => {
    const path = "scalar" in item ? item.scalar : undefined;
    if (typeof path === "string" && path !== "") return [{ path, place: item.place }];
    mistakes.push({ path: `include[${i}]`, text: "must be the name of a file", place: item.place });
    return [];
  });
};
