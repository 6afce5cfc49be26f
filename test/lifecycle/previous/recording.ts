// What a version has left behind, as files that hold for any machine and any day: a program, the stack that it made, the journal
// of a run that was killed, and the records of the server.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

export const PROJECT = "previous";
export const PASSPHRASE = "a passphrase of the recordings alone";
/** Stands for the address of the server that the run has met. */
export const ADDRESS = "http://127.0.0.1:8080";

const FILES = { program: "program.ts", stack: "stack.json", journal: "journal.jsonl", records: "records.sql" } as const;
type Part = keyof typeof FILES;

const FIXTURES = fileURLToPath(new URL("fixtures", import.meta.url));

/** Each version that has been recorded. */
export const VERSIONS = readdirSync(FIXTURES);

/** A part of the recording of a version, with the address of the server that has its records now. */
export const readPart = (version: string, part: Part, address = ADDRESS): string =>
  readFileSync(join(FIXTURES, version, FILES[part]), "utf8").replaceAll(ADDRESS, address);

export const writePart = (version: string, part: Part, text: string): void =>
  writeFileSync(join(FIXTURES, version, FILES[part]), text);

/**
 * Name of the file in which every version so far keeps the journal of a stack; written out, so that a change of the provider
 * has to find this file all the same.
 */
export const journalName = (backend: string, address: string): string => {
  const stack = `organization/${PROJECT}/dev`;
  const digest = createHash("sha256")
    .update(JSON.stringify([backend, stack, address]))
    .digest("hex");
  return `organization.${PROJECT}.dev.${digest.slice(0, 12)}.jsonl`;
};

/** The database as statements of SQL, without the keys that the server signs with: it makes others. */
export const sqlFromDatabase = (file: string): string => {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const values = (query: string): string[] =>
      database
        .prepare(query)
        .all()
        .map((row) => Object.values(row)[0] as string);
    const pragmas = ["application_id", "user_version"].map((name) => `PRAGMA ${name} = ${values(`PRAGMA ${name}`)[0]}`);
    const schema = values("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid");
    const tables = values("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid");
    const rows = tables.flatMap((table) => {
      const columns = values(`SELECT name FROM pragma_table_info('${table}')`);
      const list = columns.map((column) => `quote(${column})`).join(" || ', ' || ");
      const condition = table === "meta" ? "key NOT LIKE '%key%'" : "TRUE";
      return values(`SELECT 'INSERT INTO ${table} VALUES (' || ${list} || ')' FROM ${table} WHERE ${condition}`);
    });
    return [...pragmas, ...schema, ...rows].map((statement) => `${statement};\n`).join("");
  } finally {
    database.close();
  }
};
