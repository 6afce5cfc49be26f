// What the operations of one process share: the client with its token and retry budget, the deletes that are under way, the
// organisations that were made. Composed here and nowhere else.

import { type Client, clientWith } from "../../client/client.ts";
import { type Clock, systemClock } from "../../client/clock.ts";
import type { Config, Env } from "../../client/config.ts";
import { redactor } from "../../client/redact.ts";
import { DEADLINE_MS } from "../../client/retry.ts";
import { systemTransport, type Transport } from "../../client/transport.ts";
import { printableLines } from "../../schema/index.ts";
import { createJournal, type Journal } from "../journal/journal.ts";
import { journalPath } from "../journal/path.ts";
import type { Before } from "../recovery/before.ts";
import { type Deletes, deletes } from "./delete-progress.ts";
import { type Claims, createClaims } from "./ownership.ts";

export interface Session extends Client, Ledger {
  clock: Clock;
  deletes: Deletes;
  /** the create that is under way, or was last, of each set of inputs */
  making: Map<string, Promise<unknown>>;
  /** what there was when the first record was about to be made, by kind and parent */
  listedBefore: Map<string, Promise<Before>>;
  /** most that one request may take */
  requestTimeoutMs: number;
  /** a line for the person who runs Pulumi */
  say(text: string): void;
  /** uids of the records that this process has made: there is nothing in them but what it makes there */
  made: Set<string>;
  /** uids of the root groups that are new to this process: tokens issued before do not know them */
  newRoots: Set<string>;
}

export interface Outside {
  env: Env;
  clock: Clock;
  transport: Transport;
  /** a line for the person who runs Pulumi */
  say(text: string): void;
  /** takes note of an error that the engine reports, so that nothing else prints it */
  silence?(error: Error): void;
}

export { checkedConfig } from "../../client/credentials.ts";

export const systemOutside = (): Outside => ({
  env: process.env,
  clock: systemClock,
  transport: systemTransport(),
  say: (text) => console.log(printableLines(text)),
});

/** What is known of whose a record is; needs no credentials, as a preview has none. */
export interface Ledger {
  claims: Claims;
  journal: Journal;
}

export const ledgerWith = (config: Config, { clock, env, say }: Outside): Ledger => ({
  claims: createClaims(),
  journal: createJournal({
    pathOf: (stack) => journalPath(stack, config, env, process.cwd()),
    clock,
    patienceMs: DEADLINE_MS + config.requestTimeoutMs,
    say,
  }),
});

export const sessionWith = (config: Config, outside: Outside, ledger = ledgerWith(config, outside)): Session => ({
  ...clientWith({ ...outside, config, redactor: redactor() }),
  ...ledger,
  clock: outside.clock,
  deletes: deletes(),
  requestTimeoutMs: config.requestTimeoutMs,
  say: outside.say,
  made: new Set(),
  newRoots: new Set(),
  making: new Map(),
  listedBefore: new Map(),
});
