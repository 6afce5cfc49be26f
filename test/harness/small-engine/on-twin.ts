// What an update of the small engine does, on a twin of the testbed's server.
import { copyFileSync, cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { secretIn as secretTexts } from "../../../access/change/text.ts";
import type { Live } from "../../../access/graph/live.ts";
import type { Proposal } from "../../../access/review/proposal.ts";
import { proposalFromRun } from "../../../access/run/proposal.ts";
import { managedIn } from "../../../access/run/stack.ts";
import { copyOf } from "../../../cli/copy.ts";
import { readTwin } from "../../../cli/twin/live.ts";
import { startTwin } from "../../../cli/twin/twin.ts";
import type { Client } from "../../../client/client.ts";
import { writeRunFile } from "../../../client/run-file.ts";
import { TOKEN_PREFIX, TYPE_PREFIX } from "../../../provider/record/kind.ts";
import { timeAt } from "../clock.ts";
import type { Program } from "./program.ts";
import type { Adapter } from "./provider.ts";
import { engineStateOf, secretIn } from "./state.ts";
import type { Testbed } from "./testbed.ts";

interface Subject {
  testbed: Testbed;
  adapter: Adapter;
  /** name of the stack */
  stack: string;
  /** reads the copy */
  client: Client;
}

/** Leaves the stack and the server as they are. */
export const proposalOnTwin = async (
  { testbed, adapter, stack, client }: Subject,
  program: Program,
): Promise<{ proposal: Proposal; live: Live }> => {
  const { server, pace } = testbed;
  const copy = await copyOf(client, server.baseUrl);
  const twin = await startTwin(copy, server.baseUrl, { clock: () => timeAt(pace) });
  const place = mkdtempSync(join(testbed.folder, "twin-"));
  try {
    const live = await readTwin(twin);
    const [journal, stateFile] = [join(place, "journal"), join(place, "state.json")];
    const journalHere = join(testbed.folder, `${stack}.journal`);
    if (existsSync(journalHere)) cpSync(journalHere, journal, { recursive: true });
    if (existsSync(testbed.stateFile(stack))) copyFileSync(testbed.stateFile(stack), stateFile);
    const token = await twin.operatorToken(server.identity);
    const services = [{ address: server.baseUrl, url: twin.url, token }];
    const file = writeRunFile(place, { kind: "review", pid: process.pid, journal, services });
    const resources = () => {
      const prefix = adapter === "native" ? TOKEN_PREFIX : TYPE_PREFIX;
      return engineStateOf(stateFile, prefix, `organization/faults/${stack}`).resources;
    };
    const stored = resources();
    const engine = testbed.engine(stack, { stateFile, env: { IRM_RUN: file } });
    await engine.run("refresh");
    await engine.run("up", program);
    const after = await readTwin(twin);
    const left = resources();
    const proposal = proposalFromRun({
      ...{ before: live.graph, after: after.graph, stored: managedIn(stored), left: managedIn(left), held: live.held },
      ...{ interrupted: new Map(), ending: new Set(), isSecret: secretTexts(secretsIn([stored, left])), unknown: [] },
    });
    return { proposal, live };
  } finally {
    await twin.close();
    rmSync(place, { recursive: true });
  }
};

const secretsIn = (value: unknown, isSecret = false): string[] => {
  if (isSecret && typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const own = secretIn(value);
  return own === undefined ? Object.values(value).flatMap((one) => secretsIn(one, isSecret)) : secretsIn(own, true);
};
