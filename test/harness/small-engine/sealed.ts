// A stack of the small engine that is reviewed and sealed, and updated under the seal.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parsePreview } from "../../../access/preview/shape.ts";
import { reviewOf } from "../../../access/review/index.ts";
import type { Proposal } from "../../../access/review/proposal.ts";
import { contentFor } from "../../../access/seal/begun.ts";
import { sealOf } from "../../../access/seal/make.ts";
import { type Seal, type SealContent, sealed, sealText } from "../../../access/seal/seal.ts";
import { type Client, clientWith } from "../../../client/client.ts";
import { readConfig } from "../../../client/credentials.ts";
import { redactor } from "../../../client/redact.ts";
import { systemTransport } from "../../../client/transport.ts";
import { manualClock, timeAt } from "../clock.ts";
import { proposalOnTwin } from "./on-twin.ts";
import type { Program } from "./program.ts";
import type { Adapter } from "./provider.ts";
import type { Engine } from "./run.ts";
import { startTestbed, type Testbed, type TestbedOptions } from "./testbed.ts";

export const STACK = "seal";

export interface Reviewed {
  proposal: Proposal;
  seal: SealContent;
}

export interface Sealed {
  testbed: Testbed;
  adapter: Adapter;
  /** file of the seal */
  file: string;
  /** without a seal */
  engine: Engine;
  /** under the seal of the file; `env`: further variables */
  bound(env?: Record<string, string>): Engine;
  /** as the owner of the organization */
  client(): Client;
  /** `program` declares each resource after those that it refers to. `seal`: to be compared with this one, as `irm verify` does. */
  review(program: Program, seal?: SealContent): Promise<Reviewed>;
  /** Writes the file. */
  write(seal: SealContent): Seal;
  close(): Promise<void>;
}

export const openSealed = async (adapter: Adapter, options: TestbedOptions = {}): Promise<Sealed> => {
  const testbed = await startTestbed(adapter, options);
  const { server, folder, pace } = testbed;
  const file = join(folder, "seal.json");
  const engine = testbed.engine(STACK);
  const client = (): Client => {
    const env = { IRM_BASE_URL: server.baseUrl, IRM_TOKEN: testbed.token() };
    const parts = { env, clock: manualClock(), redactor: redactor(), transport: systemTransport() };
    return clientWith({ ...parts, config: readConfig(undefined, env) });
  };
  return {
    ...{ testbed, adapter, file, engine, client },
    bound: (env = {}) => testbed.engine(STACK, { env: { IRM_SEAL: file, ...env }, checkpoints: "on" }),
    review: async (program, seal) => {
      const preview = parsePreview(JSON.stringify(await engine.document(program)), "a preview");
      const { proposal, live } = await proposalOnTwin({ testbed, adapter, stack: STACK, client: client() }, program);
      const nowMs = timeAt(pace);
      const reportOf = (own: Proposal) =>
        reviewOf(own, { deny: [], allow: [], notVisible: live.notVisible, nowMs }).report;
      const report = reportOf(proposal);
      const sealing = { preview, proposal, report, services: [server.baseUrl], days: 7, nowMs };
      return {
        proposal,
        seal: seal ? contentFor(seal, sealing, { createdAt: live.createdAt, reportOf }) : sealOf(sealing),
      };
    },
    write: (content) => {
      const seal = sealed(content);
      writeFileSync(file, sealText(seal));
      return seal;
    },
    close: async () => {
      await engine.kill();
      await testbed.close();
    },
  };
};
