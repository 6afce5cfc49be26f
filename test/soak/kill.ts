// kill -9 under write load (docs/internals/faults.md#f11): a server process is killed while several writers wait for answers, started
// again, and its database compared with the acknowledged writes.
import { DatabaseSync } from "node:sqlite";
import { startServerProcess } from "../harness/api-process.ts";
import { IAM } from "../harness/api-server.ts";
import { temporaryFolder } from "../support/command.ts";
import { type Answer, createHttpClient } from "../support/http.ts";
import { createRandom, type Random } from "../support/random.ts";
import type { PartOptions, PartResult } from "./part.ts";

const WRITERS = 8;
// Answers of a round before the process is killed: 1 to this.
const ANSWERS_MAX = 150;

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
    const server = await startServerProcess(["--db", file, "--log-level", "error"]);
    const client = createHttpClient(server.baseUrl);
    const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
    const send = (method: string, target: string, body?: object) =>
      client.send({ method, target, headers, ...(body && { body: JSON.stringify(body) }) });
    const { status, text, json } = await send("GET", `${IAM}/roles?name=viewer`);
    if (status !== 200) throw new Error(`the restarted server answered ${status}: ${text}`);
    world = { organization: server.organization, role: json.roles[0].uid };
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
    await running.server.stop("SIGKILL");
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
          if (left <= 0) isKilled = process.kill(server.pid, "SIGKILL");
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

/** A batch has at most 25 (docs/internals/contract.md#role-bindings). */
const BATCH_MAX = 25;
/** Records of a kind that a writer keeps, so that the database does not grow for ever. */
const KEPT = 12;

interface Write {
  method: "POST" | "PATCH" | "DELETE";
  target: string;
  body?: object;
  /** it was answered with 200 */
  acknowledged(answer: Answer): void;
  /** it was not answered: what the database says; true when it was done, an error when half of it was */
  settle(database: DatabaseSync): boolean;
}

type Ledger = ReturnType<typeof createLedger>;

/** `role`: uid of one. */
const createLedger = (writer: number, random: Random, world: () => { organization: string; role: string }) => {
  /** a value by uid: of a group its name and description, of a role binding its identity, of others their name */
  const none = () => new Map<string, string>();
  const records = { groups: none(), roots: none(), identities: none(), bindings: none() };
  const { groups, roots, identities, bindings } = records;
  let count = 0;
  // No two records have one name, so that a record without an answer is found by it.
  const mark = () => `w${writer}-${++count}`;
  const rowOf = (database: DatabaseSync, table: string, column: string, value: string) =>
    database.prepare(`SELECT * FROM ${table} WHERE ${column} = ?`).get(value);

  // Of a root, the binding that makes the creator its owner comes in the same transaction; the part checks that every root has one.
  const create = (kind: "groups" | "roots" | "identities"): Write => {
    const name = mark();
    const table = kind === "identities" ? "identities" : "groups";
    const further = {
      groups: { description: mark() },
      roots: {},
      identities: { claimMatch: { issuer: "https://issuer.example", subject: mark() } },
    };
    const value = kind === "groups" ? `${name} ${further.groups.description}` : name;
    const keep = (uid: unknown) => records[kind].set(uid as string, value);
    return {
      method: "POST",
      target: `${IAM}/${table}${kind === "roots" ? "" : `/${world().organization}`}`,
      body: { name, ...further[kind] },
      acknowledged: ({ json }) => keep(json.uid),
      settle: (database) => {
        const row = rowOf(database, table, "name", name);
        if (row) keep(row.uid);
        return row !== undefined;
      },
    };
  };

  const remove = (kind: keyof typeof records): Write => {
    const own = records[kind];
    const uid = random.pick([...own.keys()]);
    const table = { groups: "groups", roots: "groups", identities: "identities", bindings: "role_bindings" }[kind];
    const forget = (): void => {
      own.delete(uid);
      // The bindings of an identity go with it, in the same transaction.
      for (const [binding, identity] of bindings) if (identity === uid) bindings.delete(binding);
    };
    return {
      method: "DELETE",
      target: `${IAM}/${table === "role_bindings" ? "roleBindings" : table}/${uid}`,
      acknowledged: forget,
      settle: (database) => {
        const isGone = !rowOf(database, table, "uid", uid);
        if (isGone) forget();
        return isGone;
      },
    };
  };

  const describe = (): Write => {
    const uid = random.pick([...groups.keys()]);
    const description = mark();
    const change = () => groups.set(uid, `${groups.get(uid)?.split(" ")[0]} ${description}`);
    return {
      method: "PATCH",
      target: `${IAM}/groups/${uid}`,
      body: { description },
      acknowledged: change,
      settle: (database) => {
        const { body } = rowOf(database, "groups", "uid", uid) ?? { body: "{}" };
        const isDone = JSON.parse(body as string).description === description;
        if (isDone) change();
        return isDone;
      },
    };
  };

  /** One, or a batch of them. */
  const bind = (size: number): Write => {
    const identity = random.pick([...identities.keys()]);
    const before = new Set(bindings.keys());
    const keep = (uid: string) => void bindings.set(uid, identity);
    const { organization, role: roleUid } = world();
    const requests = Array.from({ length: size }, () => ({ roleBinding: { identityUid: identity } }));
    const isBatch = size > 1;
    return {
      method: "POST",
      target: `${IAM}/roleBindings${isBatch ? ":batchCreate" : `/${organization}`}`,
      body: isBatch ? { parent: organization, roleUid, requests } : { identityUid: identity, roleUid },
      acknowledged: ({ json }) => {
        for (const { uid } of isBatch ? json.roleBindings : [json]) keep(uid);
      },
      settle: (database) => {
        const all = database.prepare("SELECT uid FROM role_bindings WHERE identity_uid = ?").all(identity);
        const made = all.map(({ uid }) => uid as string).filter((uid) => !before.has(uid));
        if (made.length !== 0 && made.length !== size)
          throw new Error(`${size} bindings of ${identity} were asked for at once, ${made.length} are there`);
        made.forEach(keep);
        return made.length === size;
      },
    };
  };

  /** The next write, on records of this writer only. */
  const next = (): Write => {
    const mayBind = identities.size > 0 && bindings.size < 10 * BATCH_MAX;
    // Writes of several rows stand here more than once: only they can be torn.
    const choices: [isPossible: boolean, times: number, write: () => Write][] = [
      [groups.size < KEPT, 1, () => create("groups")],
      [groups.size > 0, 1, describe],
      [groups.size > 2, 1, () => remove("groups")],
      [roots.size < KEPT, 2, () => create("roots")],
      [roots.size > 2, 2, () => remove("roots")],
      [identities.size < KEPT, 1, () => create("identities")],
      [identities.size > 0, 1, () => bind(1)],
      [mayBind, 3, () => bind(2 + random.below(BATCH_MAX - 1))],
      [bindings.size > 0, 1, () => remove("bindings")],
      [identities.size > 2, 1, () => remove("identities")],
    ];
    const possible = choices.flatMap(([isPossible, times, write]) => (isPossible ? Array(times).fill(write) : []));
    return random.pick<() => Write>(possible)();
  };
  return { records, next };
};
