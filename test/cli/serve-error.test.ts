// An error that the user can fix ends `irm serve` with one sentence on stderr and exit code 1, without a stack trace.
import { existsSync, mkdirSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test, vi } from "vitest";
import { openDatabase } from "../../server/store/database.ts";
import { type Finished, runCommand } from "../support/command.ts";
import { runIrm } from "../support/irm.ts";
import { testFolder } from "../support/test-folder.ts";

// Each starts a process: a second on an idle machine, many on a busy one.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const folder = testFolder();

const run = (...args: string[]) => runIrm("serve", ...args);

const expectSentence = (result: Finished, sentence: string) =>
  expect(result).toEqual({ code: 1, stdout: "", stderr: `irm serve: ${sentence}\n` });

const takePort = async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
};

describe("a database", () => {
  test("of another version of the server", async () => {
    const file = folder.path("newer.db");
    const database = openDatabase(file);
    database.exec("PRAGMA user_version = 99");
    database.close();
    expectSentence(
      await run("--db", file),
      `${file} was written by another version of this server (format 99, this one reads 1); use that version, or name another file`,
    );
    const after = new DatabaseSync(file);
    expect(after.prepare("PRAGMA user_version").get()?.user_version).toBe(99);
    after.close();
  });

  test("of another program, which is not changed", async () => {
    const file = folder.path("other.db");
    const other = new DatabaseSync(file);
    other.exec("CREATE TABLE contacts (name TEXT); INSERT INTO contacts VALUES ('Ann')");
    other.close();
    expectSentence(await run("--db", file), `${file} is a database of another program; name another file`);
    const after = new DatabaseSync(file);
    expect(after.prepare("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "contacts" }]);
    after.close();
  });

  test("that is not a database", async () => {
    const file = folder.write("notes.txt", "Dear diary, ".repeat(100));
    expectSentence(await run("--db", file), `cannot use ${file} as a database: file is not a database`);
  });

  test("that is a folder, or lies in a missing one", async () => {
    const file = folder.path("folder");
    mkdirSync(file);
    expectSentence(await run("--db", file), `cannot use ${file} as a database: it is a folder`);
    const nowhere = folder.path("nowhere/irm.db");
    expectSentence(await run("--db", nowhere), `cannot use ${nowhere} as a database: its folder does not exist`);
  });
});

describe("a port", () => {
  test("of either side that is in use: the process ends, creates no database, and frees the other port", async () => {
    const [taken, free] = [await takePort(), await takePort()];
    free.close();
    const port = String(taken.port);
    const sentence = `port ${port} on 127.0.0.1 is in use; choose another, or 0 for any free one`;
    const file = folder.path("not-started.db");
    expectSentence(await runCommand("serve", "--port", port, "--db", file), sentence);
    expect(existsSync(file)).toBe(false);
    for (let i = 0; i < 2; i += 1)
      expectSentence(await run("--port", String(free.port), "--auth-port", port), sentence);
    taken.close();
  });

  test("of an address of another machine", async () => {
    expectSentence(await run("--host", "192.0.2.1"), "192.0.2.1 is not an address of this machine");
  });
});

describe("a seed file", () => {
  test("that is missing", async () => {
    const file = folder.path("missing.yaml");
    expectSentence(
      await run("--seed", file),
      `cannot read the seed file ${file}: ENOENT: no such file or directory, open '${file}'`,
    );
  });

  test("with several problems is reported with file, line and column of each, and nothing starts", async () => {
    const file = folder.write("bad.yaml", "organization:\n  name: Acme\ngroups:\n  - name: eng\n    parent: nowhere\n");
    expectSentence(
      await run("--seed", file, "--db", folder.path("untouched.db")),
      [
        `${file}:2:9: organization.name: name must match "^[a-z0-9 ._-]{1,}$"`,
        `${file}:5:13: groups.0.parent: there is no group "nowhere" in this file`,
      ].join("\n"),
    );
  });
});
