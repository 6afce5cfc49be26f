// kill -9 under write load (docs/faults.md#f11): a server process is killed while several writers wait for answers, started
// again, and its database compared with the acknowledged writes.
import { DatabaseSync } from "node:sqlite";
import { startCommand, temporaryFolder } from "../support/command.ts";
import { createHttpClient } from "../support/http.ts";
import { createRandom } from "../support/random.ts";
import { createLedger, type Ledger, type Write } from "./ledger.ts";
import type { PartOptions, PartResult } from "./part.ts";

const WRITERS = 8;
// Answers of a round before the process is killed: 1 to this.
const ANSWERS_MAX = 150;

interface Ready {
  baseUrl: string;
  organization: string;
  token: string;
}

export const kill = async ({ seed, rounds, log }: PartOptions): Promise<PartResult> => {
  const folder = temporaryFolder();
  const file = folder.path("irm.db");
  const random = createRandom(seed);
  const failures: string[] = [];
  const figures = {
    "rounds of kill -9": 0,
    "writes acknowledged": 0,
    "writes without an answer": 0,
    "of these done": 0,
  };
  let world = { organization: "", role: "" };
  const ledgers = Array.from({ length: WRITERS }, (_, i) =>
    createLedger(i, createRandom(seed * 1000 + i), () => world),
  );

  const start = async () => {
    const server = startCommand("serve", "--dev", "--json", "--db", file, "--log-level", "error");
    const ready = JSON.parse(await server.firstLine) as Ready;
    const client = createHttpClient(ready.baseUrl);
    const headers = { authorization: `Bearer ${ready.token}`, "content-type": "application/json" };
    const send = (method: string, target: string, body?: object) =>
      client.send({ method, target, headers, ...(body && { body: JSON.stringify(body) }) });
    const roles = await send("GET", "/iam/v2beta1/roles?name=viewer");
    if (roles.status !== 200) throw new Error(`the restarted server answered ${roles.status}: ${roles.text}`);
    world = { organization: ready.organization, role: roles.json.roles[0].uid };
    return { server, client, send };
  };

  // Writes that the last kill left without an answer.
  let pending: Write[] = [];
  const check = (round: number) => {
    // Beside the server, which has recovered the file by itself.
    const database = new DatabaseSync(file);
    for (const write of pending) {
      figures["writes without an answer"] += 1;
      if (write.settle(database)) figures["of these done"] += 1;
    }
    pending = [];
    failures.push(...differences(database, ledgers, world.organization).map((text) => `round ${round}: ${text}`));
    database.close();
  };

  let running = await start();
  const end = async () => {
    running.server.process.kill("SIGKILL");
    await running.server.finished;
    running.client.close();
  };

  try {
    for (let round = 1; round <= rounds && failures.length === 0; round += 1) {
      const { server, send } = running;
      let left = 1 + random.below(ANSWERS_MAX);
      let isKilled = false;
      const write = async (ledger: Ledger) => {
        while (!isKilled) {
          const next = ledger.next();
          const sent = send(next.method, next.target, next.body);
          // Right after a request, so that at least this one is under way, whichever process is faster.
          if (left <= 0) isKilled = server.process.kill("SIGKILL");
          const answer = await sent.catch(() => undefined);
          if (!answer) {
            pending.push(next);
            return;
          }
          if (answer.status !== 200)
            throw new Error(`${next.method} ${next.target} was answered ${answer.status}: ${answer.text}`);
          next.acknowledged(answer);
          figures["writes acknowledged"] += 1;
          left -= 1;
        }
      };
      await Promise.all(ledgers.map(write));
      await end();
      running = await start();
      check(round);
      figures["rounds of kill -9"] = round;
      log?.(`round ${round} of ${rounds}, ${failures.length} failures`);
    }
  } catch (error) {
    failures.push((error as Error).message);
  } finally {
    await end();
    folder.remove();
  }
  return { figures, failures };
};

/** Every difference between the database and the acknowledged writes. */
const differences = (database: DatabaseSync, ledgers: readonly Ledger[], organization: string): string[] => {
  const query = (sql: string) => database.prepare(sql).all() as Record<string, string>[];
  /** `rows` have a value by uid, as the records of the ledgers have. */
  const compare = (what: keyof Ledger["records"], rows: string): string[] => {
    const wanted = new Map(ledgers.flatMap(({ records }) => [...records[what]]));
    const there = new Map(query(rows).map(({ uid = "", value }) => [uid, value]));
    return [
      ...[...wanted].flatMap(([uid, value]) => (there.get(uid) === value ? [] : [`${uid} was lost or changed`])),
      ...[...there.keys()].flatMap((uid) => (wanted.has(uid) ? [] : [`${uid} was deleted or never made`])),
    ].map((text) => `one of ${what}: ${text}`);
  };
  const torn = query(
    `SELECT uid FROM groups WHERE parent IS NULL AND 1 <>
     (SELECT count(*) FROM role_bindings WHERE role_bindings.parent = groups.uid AND founding = 1)`,
  );
  return [
    ...compare(
      "groups",
      `SELECT uid, name || ' ' || json_extract(body, '$.description') AS value FROM groups WHERE parent IS NOT NULL`,
    ),
    ...compare("roots", `SELECT uid, name AS value FROM groups WHERE parent IS NULL AND uid <> '${organization}'`),
    ...compare(
      "identities",
      "SELECT uid, name AS value FROM identities WHERE json_extract(body, '$.claimMatch.issuer') = 'https://issuer.example'",
    ),
    ...compare("bindings", "SELECT uid, identity_uid AS value FROM role_bindings WHERE founding = 0"),
    ...torn.map(({ uid }) => `root group ${uid} has no owner binding`),
    ...query("PRAGMA integrity_check").flatMap(({ integrity_check: text }) =>
      text === "ok" ? [] : [`integrity: ${text}`],
    ),
    ...query("PRAGMA foreign_key_check").map((row) => `foreign key: ${JSON.stringify(row)}`),
  ];
};
