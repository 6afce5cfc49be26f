// The recording of each version, the same on any machine and any day.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

export const PROJECT = "previous";
export const PASSPHRASE = "a passphrase of the recordings alone";
/** In place of the address of the server in every recording. */
export const ADDRESS = "http://127.0.0.1:8080";

const FILES = { program: "program.ts", stack: "stack.json", journal: "journal.jsonl", records: "records.sql" } as const;
type Part = keyof typeof FILES;

const FIXTURES = fileURLToPath(new URL("fixtures", import.meta.url));

/** The versions that were recorded at their release. The next one has a program, and nothing else yet. */
export const VERSIONS = readdirSync(FIXTURES).filter((name) => existsSync(join(FIXTURES, name, FILES.stack)));

/** One part of a recording, for a server at this address. */
export const readPart = (version: string, part: Part, address = ADDRESS): string =>
  readFileSync(join(FIXTURES, version, FILES[part]), "utf8").replaceAll(ADDRESS, address);

/** Makes the database of the server's records. */
export const restoreRecords = (version: string, file: string): void => {
  const database = new DatabaseSync(file);
  database.exec(readPart(version, "records"));
  database.close();
};

/** Never overwrites: a version is released once. */
export const writePart = (version: string, part: Part, text: string): void =>
  writeFileSync(join(FIXTURES, version, FILES[part]), text, { flag: "wx" });

/** Where version 0.1.0 keeps the journal of a stack. Not the provider's own function: a later version must find this file. */
export const journalName = (backend: string, address: string): string => {
  const stack = `organization/${PROJECT}/dev`;
  const digest = createHash("sha256")
    .update(JSON.stringify([backend, stack, address]))
    .digest("hex");
  return `organization.${PROJECT}.dev.${digest.slice(0, 12)}.jsonl`;
};
