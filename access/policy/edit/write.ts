// Replaces text files. Each has its new text or its old one, whatever happens meanwhile; none is replaced where one cannot be written.
import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { PolicyEditError } from "./document.ts";

export interface ChangedFile {
  /** for messages */
  name: string;
  /** without links */
  real: string;
  /** undefined: there is no such file yet */
  before: string | undefined;
  after: string;
}

/** What a reader of UTF-8 leaves out of the text. */
const BYTE_ORDER_MARK = Buffer.from("\ufeff");

export const replaceFiles = (files: readonly ChangedFile[]): void => {
  const written: { file: ChangedFile; temporary: string }[] = [];
  try {
    for (const file of files) {
      const temporary = join(dirname(file.real), `.${randomUUID()}.tmp`);
      written.push({ file, temporary });
      attempt(file, () => writeBeside(file, temporary));
    }
    for (const { file, temporary } of written) attempt(file, () => renameSync(temporary, file.real));
  } finally {
    for (const { temporary } of written) rmSync(temporary, { force: true });
  }
};

const writeBeside = ({ name, real, before, after }: ChangedFile, temporary: string): void => {
  const bytes = existsSync(real) ? readFileSync(real) : undefined;
  if ((bytes && new TextDecoder().decode(bytes)) !== before)
    throw new PolicyEditError(`${name} has changed meanwhile; run it again`);
  const hasMark = bytes?.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const descriptor = openSync(temporary, "wx", bytes ? 0o600 : 0o666);
  try {
    if (bytes) fchmodSync(descriptor, statSync(real).mode);
    writeFileSync(descriptor, hasMark ? `\ufeff${after}` : after);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

const attempt = ({ name }: ChangedFile, work: () => void): void => {
  try {
    work();
  } catch (error) {
    if (error instanceof PolicyEditError) throw error;
    throw new PolicyEditError(`cannot write ${name}: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
};
