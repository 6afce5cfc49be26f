// The reference server as a module: `import { createServer } from "pulumi-irm/server"`.

import { parseSeed as parse } from "./seed.ts";
import type { ParsedSeed } from "./seed-record.ts";

export type { IdSource } from "./context.ts";
export type { DevTools, TokenRequest } from "./dev-server.ts";
export { type FaultScript, FaultsError, parseFaults } from "./fault-rule.ts";
export type { Attempt, Faults } from "./faults.ts";
export type { MintRequest } from "./issuer-pages.ts";
export type { ServerKeys } from "./keys.ts";
export { DRAIN_MS, ListenError } from "./listen.ts";
export { createLog, LEVELS, type Level, type Log } from "./log.ts";
export { SeedError } from "./seed.ts";
export type { ParsedSeed } from "./seed-record.ts";
export { createServer, type DevServer, type RunningServer, type ServerOptions } from "./server.ts";
export { ServerOptionsError } from "./server-options.ts";
export { DatabaseError } from "./store/database.ts";
export { readTlsKeys, TlsError, type TlsKeys } from "./tls.ts";

/** Reads the text of a seed file (docs/server.md). Throws SeedError with every problem, each with its line. */
export const parseSeed: (text: string, file: string) => ParsedSeed = parse;
