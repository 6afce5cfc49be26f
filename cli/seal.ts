// The file of a seal: `irm review --seal FILE` writes it.
import { readFileSync } from "node:fs";
import { type Seal, sealText } from "../access/seal/seal.ts";
import { isObject } from "../schema/index.ts";
import { UsageError } from "./usage.ts";
import { writeWhole } from "./whole-file.ts";

/** The file cannot be written. */
export class SealWriteError extends Error {
  override readonly name = "SealWriteError";
}

/** How many days a seal holds. */
export const SEAL_DAYS = { least: 1, usual: 7, most: 90 };

export const parseSealDays = (text: string | undefined): number => {
  const days = text === undefined ? SEAL_DAYS.usual : Number(text);
  const { least, most } = SEAL_DAYS;
  if (Number.isInteger(days) && days >= least && days <= most) return days;
  throw new UsageError(`--seal-days takes a whole number from ${least} to ${most}, not ${JSON.stringify(text)}`);
};

/** Another seal is replaced, any other file stays. Throws a SealWriteError where the file is of something else. */
export const checkSealFile = (file: string): void => {
  if (file === "") throw new UsageError("--seal takes the name of a file");
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return;
    throw new SealWriteError(`cannot write ${file}: ${code}`);
  }
  if (text !== "" && !isSealText(text))
    throw new SealWriteError(`${file} exists already, and is no seal; give another name`);
};

const isSealText = (text: string): boolean => {
  try {
    const json: unknown = JSON.parse(text);
    return isObject(json) && typeof json.seal === "number";
  } catch {
    return false;
  }
};

export const writeSeal = (file: string, seal: Seal): void => {
  try {
    writeWhole(file, sealText(seal));
  } catch (error) {
    throw new SealWriteError(`cannot write ${file}: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
};
