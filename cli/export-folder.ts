// A folder of files that is there whole or not at all: the files are written beside it and renamed.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Files } from "../access/export/project.ts";

/** Why files cannot be written into a folder; undefined where they can. */
export const folderProblem = (folder: string): string | undefined => {
  if (folder.trim() === "") return "the name of the folder is empty; . is this folder";
  try {
    return readdirSync(folder).length === 0 ? undefined : `${folder} has files in it; give another folder`;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    return code === "ENOTDIR" ? `${folder} is a file; give another folder` : message;
  }
};

/** Writes the files; the last one is the last that appears. Throws what the file system says. */
export const writeFolder = (folder: string, files: Files): void => {
  const target = resolve(folder);
  mkdirSync(dirname(target), { recursive: true });
  const beside = mkdtempSync(join(dirname(target), `.${basename(target)}-`));
  try {
    for (const [name, text] of files) writeFileSync(join(beside, name), text);
    // A folder that is there already may be the working folder of a shell, so it stays.
    if (existsSync(target)) for (const name of files.keys()) renameSync(join(beside, name), join(target, name));
    else renameSync(beside, target);
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
};
