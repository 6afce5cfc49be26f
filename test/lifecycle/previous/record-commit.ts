// Records what another commit of this repository leaves behind, in one form of its resources:
//
//   node scripts/with-setup.mjs --engine test/lifecycle/previous/record-commit.ts NAME CLONE [PLUGIN]
//
// NAME is a folder of fixtures/ with program.ts. CLONE is a worktree of the commit, after `npm ci`. PLUGIN is the folder of its plugin, as
// its `npm run build` writes it, for a program with native resources. One run creates the stack. In the next one the response to a create
// is held while the engine and the provider are killed. Recorded are the stack, the journal and the server's database.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createWorkplace } from "../../harness/engine-workplace.ts";
import { processesBelow } from "../../support/process.ts";
import { startProxy } from "../../support/proxy.ts";
import { sqlFromDatabase, writePortable } from "./portable.ts";
import { journalName, PASSPHRASE, PROJECT, readPart } from "./recording.ts";

const [, , name = "", clone = "", plugin] = process.argv;
const start = Date.now();

const place = await createWorkplace([], undefined, resolve(clone));
const proxy = await startProxy(() => place.server.baseUrl);
try {
  const { organization, baseUrl, token } = place.server;
  const { status, json } = await place.call("POST", `/iam/v2beta1/groups/${organization}`, { name: "legacy" });
  if (status !== 200) throw new Error(JSON.stringify(json));
  const source = readPart(name, "program");
  const env = {
    ORGANIZATION: organization,
    PULUMI_CONFIG_PASSPHRASE: PASSPHRASE,
    IRM_BASE_URL: proxy.url,
    // From the server itself: a token that was exchanged at the proxy would be for another audience.
    IRM_TOKEN: token,
  };
  const options = { ownProcess: true, plugin: plugin === undefined ? undefined : resolve(plugin) };
  const program = await place.program(PROJECT, source, env, options);
  await program.must("up", "--yes", "--skip-preview");

  program.write(`process.env.PHASE = "interrupted";\n${source}`);
  const unanswered = proxy.hold("POST", /\/identities\//, "after");
  const run = program.start("up", "--yes", "--skip-preview");
  await Promise.race([unanswered.reached, run.result.then(({ output }) => Promise.reject(new Error(output)))]);
  const providers = processesBelow(run.pid, /dynamic-provider|plugin\/start\.js/);
  if (providers.length !== 1) throw new Error(`one provider process expected, not ${providers.length}`);
  process.kill(run.pid, "SIGKILL");
  await run.exited;
  for (const provider of providers) process.kill(provider, "SIGKILL");
  unanswered.release();

  const { stdout: stack } = await program.must("stack", "export");
  const journals = join(place.folder, "journal");
  const expected = journalName(`file://${join(program.folder, "state")}`, proxy.url);
  if (!readdirSync(journals).includes(expected)) throw new Error(`the journal is not ${expected}`);
  const kept = {
    stack,
    journal: readFileSync(join(journals, expected), "utf8"),
    records: sqlFromDatabase(join(place.folder, "irm.db")),
  };
  writePortable(name, kept, { start, addresses: [proxy.url, baseUrl], private: [place.folder, clone, token] });
  process.stdout.write(`recorded ${name}\n`);
} finally {
  await proxy.close();
  await place.close();
}
