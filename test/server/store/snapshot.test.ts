// A backup during writes (docs/server.md, "Backup"): a database that a server can start with. It has every write that was
// acknowledged before the backup began.
import { execFile } from "node:child_process";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { IAM, serve, shuffledIds, type TestServer } from "../../harness/api-server.ts";
import { createRecord } from "../../harness/records.ts";
import { testFolder } from "../../support/test-folder.ts";

const folder = testFolder();

// The command of docs/server.md.
const BACKUP =
  'new (require("node:sqlite").DatabaseSync)(process.argv[1]).prepare("VACUUM INTO ?").run(process.argv[2])';
const backup = (from: string, to: string) => promisify(execFile)(process.execPath, ["-e", BACKUP, from, to]);

const TABLES = ["groups", "identities", "roles", "role_bindings", "repos", "meta"];
const contentOf = (file: string): Record<string, unknown[]> => {
  const database = new DatabaseSync(file, { readOnly: true });
  const content = TABLES.map((table) => [table, database.prepare(`SELECT * FROM ${table} ORDER BY 1`).all()]);
  expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  expect(database.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
  database.close();
  return Object.fromEntries(content);
};

const create = async (api: TestServer, i: number) => {
  const { uid } = await createRecord(api, "groups", api.organization, { name: `g${i}` });
  return uid as string;
};

test("under load it has every write from before it began, and no invented record", async () => {
  const [file, copy] = [folder.path("busy.db"), folder.path("busy-copy.db")];
  const api = await serve({ store: file, ids: shuffledIds(5) });
  const acknowledged = new Set<string>();
  let done = false;
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let i = 0; !done; i += 1) acknowledged.add(await create(api, writer * 100_000 + i));
  });
  while (acknowledged.size < 50) await api.ok("GET", `${IAM}/groups`);
  const before = [...acknowledged];
  await backup(file, copy);
  done = true;
  await Promise.all(writers);
  expect(acknowledged.size).toBeGreaterThan(before.length);
  const expected = contentOf(file);
  await api.close();

  const restored = contentOf(copy);
  const uids = new Set((restored.groups as { uid: string }[]).map(({ uid }) => uid));
  expect(before.filter((uid) => !uids.has(uid))).toEqual([]);
  for (const table of TABLES) expect(expected[table]).toEqual(expect.arrayContaining(restored[table] as unknown[]));

  // With the organization, the keys and the page tokens of the server that it was taken from.
  const again = await serve({ store: copy, ids: shuffledIds(6) });
  expect(again.organization).toBe(api.organization);
  expect(Number((await again.ok("GET", `${IAM}/groups`)).totalCount)).toBe(uids.size);
  await create(again, 1);
});
