// Records previews of a real engine, and what the API lists at that time:
//
//   node scripts/with-setup.mjs --engine test/access/preview/record.ts
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readLive } from "../../../access/graph/live.ts";
import { clientWith } from "../../../client/client.ts";
import { systemClock } from "../../../client/clock.ts";
import { readConfig } from "../../../client/credentials.ts";
import { redactor } from "../../../client/redact.ts";
import { systemTransport } from "../../../client/transport.ts";
import { createWorkplace, type Json } from "../../harness/engine-workplace.ts";
import { AFTER, BEFORE, BROKEN } from "./program.ts";

const folder = join(import.meta.dirname, "fixtures");
const FLAGS = ["--json", "--show-sames", "--refresh"];

const place = await createWorkplace();
try {
  const { organization, baseUrl, token } = place.server;
  const program = await place.program("access", BEFORE, { ORGANIZATION: organization });
  const preview = async (...flags: string[]): Promise<Json> =>
    JSON.parse((await program.run("preview", ...flags)).stdout) as Json;

  const env = { IRM_BASE_URL: baseUrl, IRM_TOKEN: token };
  const config = readConfig(undefined, env);
  const client = clientWith({ config, env, clock: systemClock, redactor: redactor(), transport: systemTransport() });
  const live = async (): Promise<Json> => {
    const { graph, notVisible } = await readLive(client);
    const lists = Object.entries(graph).map(([name, nodes]) => [name, [...nodes.values()]]);
    return { ...Object.fromEntries(lists), notVisible };
  };
  const record = async (name: string, made: Json, listed: Json): Promise<void> => {
    // Where the program says it: paths of this machine.
    const places = ["sourcePosition", "stackTrace"];
    const text = JSON.stringify({ preview: made, live: listed }, (key, value) =>
      places.includes(key) ? undefined : value,
    );
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.json`), `${withoutMachine(text)}\n`);
    console.log(name);
  };

  await record("new", await preview(...FLAGS), await live());
  await program.must("up", "--yes", "--skip-preview");

  const create = async (path: string, body: Json): Promise<string> => {
    const { status, json } = await place.call("POST", `/iam/v2beta1/${path}`, body);
    if (status !== 200) throw new Error(`${path}: ${JSON.stringify(json)}`);
    return json.uid as string;
  };
  const claimMatch = {
    issuer: "https://token.actions.githubusercontent.com",
    subject: "repo:acme/partner:ref:refs/heads/main",
  };
  const partner = await create(`identities/${organization}`, { name: "partner", claimMatch });
  const uidOf = (table: string, name: string) => place.rows(table, "name = ?", name)[0]?.uid as string;
  const editor = uidOf("roles", "editor");
  const legacy = uidOf("groups", "legacy");
  for (const group of [legacy, uidOf("groups", "tools")])
    await create(`roleBindings/${group}`, { identityUid: partner, roleUid: editor });
  const removed = place.rows("role_bindings").find(({ parent, uid }) => uid && parent === uidOf("groups", "platform"));
  await place.call("DELETE", `/iam/v2beta1/roleBindings/${removed?.uid}`);

  program.write(AFTER);
  const listed = await live();
  await record("edit", await preview(...FLAGS), listed);
  await record("edit-without-refresh", await preview("--json"), listed);
  program.write(BROKEN);
  await record("broken", await preview(...FLAGS), listed);
} finally {
  await place.close();
}
// The process that runs the program would keep this one.
process.exit(0);

/** Without the folders and addresses of this machine. */
function withoutMachine(text: string): string {
  return text.replaceAll(place.server.baseUrl, "http://127.0.0.1:8080");
}
