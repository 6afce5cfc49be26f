// Records what the version of this clone leaves behind, once, at its release (CONTRIBUTING.md):
//
//   node scripts/with-setup.mjs --engine test/lifecycle/previous/record.ts
//
// The folder of the version must hold program.ts. One run creates its whole stack. The last creates are held, cut off, refused
// or answered with another record; then the engine and the provider are killed. Recorded are the stack, the journal and the
// server's database, without anything of this machine or this day.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { root } from "../../harness/api-process.ts";
import { createWorkplace, type Json } from "../../harness/engine-workplace.ts";
import { processesBelow } from "../../support/process.ts";
import { startProxy } from "../../support/proxy.ts";
import { ADDRESS, journalName, PASSPHRASE, PROJECT, readPart, writePart } from "./recording.ts";

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

const START = Date.now();
const PAST = Date.parse("2025-01-01T00:00:00Z");

/** Whether a line of the journal says so of a create without an outcome. */
const isSentAgain = (line: string): boolean => {
  const { at, notBefore, uid } = (line.endsWith("}") ? JSON.parse(line) : {}) as Json;
  return Number(at) > Number(notBefore) && uid === undefined;
};

const place = await createWorkplace();
const proxy = await startProxy(() => place.server.baseUrl);
try {
  const { organization, baseUrl, token } = place.server;
  const legacy = await create(`groups/${organization}`, { name: "legacy", description: "was there before" });
  const program = await place.program(PROJECT, readPart(version, "program"), {
    ORGANIZATION: organization,
    PHASE: "interrupted",
    PULUMI_CONFIG_PASSPHRASE: PASSPHRASE,
    IRM_BASE_URL: proxy.url,
    // From the server itself: a token that was exchanged at the proxy would be for another audience.
    IRM_TOKEN: token,
  });
  const journal = () => {
    const folder = join(place.folder, "journal");
    const name = existsSync(folder) ? readdirSync(folder).find((file) => file.endsWith(".jsonl")) : undefined;
    return name === undefined ? "" : readFileSync(join(folder, name), "utf8");
  };

  // The creates to disturb depend on all bindings. One binding is held until the uids of their parents are known.
  const gate = proxy.hold("POST", /\/roleBindings\//, "before");
  const run = program.start("up", "--yes", "--skip-preview", "--continue-on-error");
  await Promise.race([gate.reached, run.result.then(({ output }) => Promise.reject(new Error(output)))]);
  const last = { groups: "of a component", identities: "ci" };
  for (const [table, name] of Object.entries(last))
    await until(`${name} of ${table}`, () => place.rows(table, "name = ?", name).length > 0);
  const [nested, held] = ["nested", "legacy"].map(
    (name) => place.rows("groups", "name = ?", name)[0]?.uid.split("/").at(-1) as string,
  );

  const unreported = proxy.hold("POST", new RegExp(`/groups/.*${nested}`), "after");
  proxy.cut("POST", new RegExp(`/identities/.*${nested}`), "before");
  const unanswered = proxy.hold("POST", new RegExp(`/identities/.*${nested}`), "after");
  const denied = { code: 7, message: "Permission denied: not today", details: [] };
  proxy.answer("POST", new RegExp(`/roles/.*${nested}`), 403, denied);
  const before = proxy.hold("GET", new RegExp(`/groups\\?.*${held}`), "after");
  gate.release();
  await before.reached;
  const other = await create(`groups/${legacy.uid}`, { name: "of another" });
  proxy.answer("POST", new RegExp(`/groups/.*${held}`), 200, other);
  before.release();

  await Promise.all([unreported.reached, unanswered.reached]);
  await until("the line of a create that was sent again", () => journal().split("\n").some(isSentAgain));
  for (const member of ["closed", "answered"])
    await until(`a line with "${member}"`, () => journal().includes(`"${member}":`));
  const [provider] = processesBelow(run.pid, /dynamic-provider/);
  process.kill(run.pid, "SIGKILL");
  await run.exited;
  const lines = journal().length;
  unreported.release();
  await until("the line of what the engine does not hear of", () => journal().length > lines);
  process.kill(provider as number, "SIGKILL");
  unanswered.release();

  const { stdout: stack } = await program.must("stack", "export");
  const kept = { stack, journal: journal(), records: sqlFromDatabase(join(place.folder, "irm.db")) };
  writePortable(version, kept, [proxy.url, baseUrl], [place.folder, token]);
  const expected = journalName(`file://${join(program.folder, "state")}`, proxy.url);
  if (!readdirSync(join(place.folder, "journal")).includes(expected))
    throw new Error(`the journal is not ${expected}: teach journalName the name that this version gives it`);
  process.stdout.write(`recorded ${version}\n`);
} finally {
  await proxy.close();
  await place.close();
}

async function create(path: string, body: object): Promise<Json> {
  const { status, json } = await place.call("POST", `/iam/v2beta1/${path}`, body);
  if (status !== 200) throw new Error(JSON.stringify(json));
  return json;
}

async function until(what: string, isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue(); tries += 1) {
    if (tries === 600) throw new Error(`timed out waiting for ${what}`);
    await sleep(100);
  }
}

type Parts = Record<"stack" | "journal" | "records", string>;

/** `addresses`: of the server, and of what stood before it; `own`: texts that no part may hold. Throws where a part would hold what is private, or the name of this machine. */
function writePortable(name: string, parts: Parts, addresses: readonly string[], own: readonly string[]): void {
  for (const [part, text] of Object.entries(parts)) {
    const moved = withMovedTimes(withoutPlaces(text), START);
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
function sqlFromDatabase(file: string): string {
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
