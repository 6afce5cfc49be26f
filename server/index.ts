// The reference server as a module: `import { createServer } from "pulumi-irm/server"`.

import type { RoleBundles } from "../schema/index.ts";
import { parseSeed as parse } from "./seed/file.ts";
import type { ParsedSeed } from "./seed/record.ts";

export { createLog, LEVELS, type Level, type Log } from "./base/log.ts";
export { DRAIN_MS } from "./connection/bounds.ts";
export type { DevTools, TokenRequest } from "./dev-server.ts";
export type { Attempt, Faults } from "./faults/faults.ts";
export { type FaultScript, FaultsError, parseFaults } from "./faults/script.ts";
export { createKeys, type ServerKeys, type ServerOptions, ServerOptionsError } from "./options.ts";
export type { CarriedOut } from "./pipeline/pipeline.ts";
export { ListenError, readTlsKeys, TlsError, type TlsKeys } from "./port/port.ts";
export { type ParsedSeed, SeedError } from "./seed/record.ts";
export { parseRoles } from "./seed/roles.ts";
export { createServer, type DevServer, type RunningServer } from "./server.ts";
export type { IdSource } from "./services/context.ts";
export { DatabaseError } from "./store/database.ts";
export type { MintRequest } from "./sts/index.ts";

/**
 * Parses the text of a seed file (docs/server.md). `roles` are the built-in roles that the server gets, if they are not those of the
 * table. Throws SeedError with every problem and its line.
 */
export const parseSeed: (text: string, file: string, roles?: RoleBundles) => ParsedSeed = parse;
