// Writes a file whole: it is the new text, or what it was before.
import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Only the owner can read it. Throws what the file system says. */
export const writeWhole = (file: string, text: string): void => {
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
  } finally {
    rmSync(beside, { force: true });
  }
};
