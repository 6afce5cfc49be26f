// Writes the parts of a recording without anything of the machine and the day that they were made on.
import { homedir } from "node:os";
import { DatabaseSync } from "node:sqlite";
import { ADDRESS, writePart } from "./recording.ts";

const PAST = Date.parse("2025-01-01T00:00:00Z");

interface Made {
  /** when the recording began */
  start: number;
  /** of the server, and of what stood before it */
  addresses: readonly string[];
  /** texts that no part may hold */
  private: readonly string[];
}

type Parts = Record<"stack" | "journal" | "records", string>;

/** Throws where a part would hold what is private, or the name of this machine. */
export function writePortable(name: string, parts: Parts, { start, addresses, private: own }: Made): void {
  for (const [part, text] of Object.entries(parts)) {
    const moved = withMovedTimes(withoutPlaces(text), start);
    const portable = addresses.reduce((rest, address) => rest.replaceAll(address, ADDRESS), moved);
    const others = portable.replaceAll(ADDRESS, "");
    for (const text of [...own, homedir(), "node_modules", "127.0.0.1", "localhost"])
      if (others.includes(text)) throw new Error(`the ${part} holds ${text}`);
    writePart(name, part as keyof Parts, portable);
  }
}

// The engine keeps where on this machine the program declares each resource.
function withoutPlaces(text: string): string {
  if (!text.startsWith("{\n")) return text;
  const isPlace = (name: string) => name === "sourcePosition" || name === "stackTrace";
  return `${JSON.stringify(
    JSON.parse(text, (name, value) => (isPlace(name) ? undefined : value)),
    null,
    2,
  )}\n`;
}

// Into the past, also for a machine whose clock is behind: the provider waits for records that look new.
function withMovedTimes(text: string, start: number): string {
  const moved = (time: number) => time - start + PAST;
  return text
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (time) => new Date(moved(Date.parse(time))).toISOString())
    .replace(/\b1\d{12}(\.\d+)?\b/g, (time) => String(moved(Number(time))));
}

// The database as SQL statements, without the server's signing keys: it generates new ones.
export function sqlFromDatabase(file: string): string {
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
}
