// Records what the version of this clone leaves behind, once, before it is released (CONTRIBUTING.md):
//
//   node scripts/with-setup.mjs --engine test/lifecycle/previous/record.ts
//
// Its folder must hold the program already. One run makes all of its stack; the last creates are held, cut off, refused and
// answered wrongly, and then the engine and the provider are killed.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { processesBelow } from "../../support/process.ts";
import { createWorkplace, type Json } from "../../support/program.ts";
import { startProxy } from "../../support/proxy.ts";
import { root } from "../../support/server-process.ts";
import { ADDRESS, journalName, PASSPHRASE, PROJECT, readPart, sqlFromDatabase, writePart } from "./recording.ts";

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

const START = Date.now();
const PAST = Date.parse("2025-01-01T00:00:00Z");

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
    // Of the server itself: one that was exchanged at the proxy would be for another audience.
    IRM_TOKEN: token,
  });
  const journal = () => {
    const folder = join(place.folder, "journal");
    const name = existsSync(folder) ? readdirSync(folder).find((file) => file.endsWith(".jsonl")) : undefined;
    return name === undefined ? "" : readFileSync(join(folder, name), "utf8");
  };

  // The creates that end badly depend on the bindings; one of these waits until we know where those creates will be.
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
  for (const line of ["again", "closed", "answered"])
    await until(`a line "${line}"`, () => journal().includes(`{"${line}":`));
  const [provider] = processesBelow(run.pid, /dynamic-provider/);
  process.kill(run.pid, "SIGKILL");
  await run.exited;
  const lines = journal().length;
  unreported.release();
  await until("the line of what the engine does not hear of", () => journal().length > lines);
  process.kill(provider as number, "SIGKILL");
  unanswered.release();

  const { text: stack } = await program.state();
  const kept = { stack, journal: journal(), records: sqlFromDatabase(join(place.folder, "irm.db")) };
  for (const [part, text] of Object.entries(kept)) {
    const portable = withMovedTimes(withoutPlaces(text)).replaceAll(proxy.url, ADDRESS).replaceAll(baseUrl, ADDRESS);
    const others = portable.replaceAll(ADDRESS, "");
    for (const own of [place.folder, homedir(), "node_modules", token, "127.0.0.1", "localhost"])
      if (others.includes(own)) throw new Error(`the ${part} holds ${own}`);
    writePart(version, part as keyof typeof kept, portable);
  }
  const expected = journalName(`file://${join(program.folder, "state")}`, proxy.url);
  if (!readdirSync(join(place.folder, "journal")).includes(expected))
    throw new Error(`the journal is not in ${expected}: readers of it have to know that name too`);
  process.stdout.write(`recorded ${version}\n`);
} finally {
  await proxy.close();
  await place.close();
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

// To the past of any machine, also of one whose clock is wrong: what was made a moment ago is treated otherwise.
function withMovedTimes(text: string): string {
  const moved = (time: number) => time - START + PAST;
  return text
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (time) => new Date(moved(Date.parse(time))).toISOString())
    .replace(/\b1\d{12}(\.\d+)?\b/g, (time) => String(moved(Number(time))));
}

async function create(path: string, body: object): Promise<Json> {
  const { status, json } = await place.call("POST", `/iam/v2beta1/${path}`, body);
  if (status !== 200) throw new Error(JSON.stringify(json));
  return json;
}

async function until(what: string, isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue(); tries += 1) {
    if (tries === 600) throw new Error(`${what}: waited in vain`);
    await sleep(100);
  }
}
