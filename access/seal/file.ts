// The file of a seal.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseSeal, type Seal, SealFileError } from "./seal.ts";

/** `file` is its name in messages, from `folder`. Throws a SealFileError. */
export const readSeal = (file: string, folder: string): Seal => {
  const path = resolve(folder, file);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new SealFileError(`${file} cannot be read: ${code === "ENOENT" ? `there is no file ${path}` : message}`);
  }
  return parseSeal(text, file);
};
