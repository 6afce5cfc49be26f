// `irm serve`: the reference server as a command.
import { existsSync, readFileSync } from "node:fs";
import type { Copy } from "../access/copy/copy.ts";
import { printable } from "../schema/index.ts";
import {
  createLog,
  createServer,
  type DevServer,
  DRAIN_MS,
  FaultsError,
  type Level,
  parseFaults,
  parseRoles,
  parseSeed,
  type RunningServer,
  readTlsKeys,
  SeedError,
  ServerOptionsError,
} from "../server/index.ts";
import { checkOptions } from "../server/options.ts";
import { type ReadyLine, startInBackground, variables } from "./background.ts";
import { copyFileProblem, copyFrom, copyLines, writeCopy } from "./copy.ts";
import { commandName, parseCount, parsePort, UsageError } from "./usage.ts";

export interface ServeFlags {
  port?: string;
  host?: string;
  authPort?: string;
  publicUrl?: string;
  publicAuthUrl?: string;
  db?: string;
  seed?: string;
  roles?: string;
  copyOf?: string;
  copyTo?: string;
  dev?: boolean;
  tlsCert?: string;
  tlsKey?: string;
  refreshTokens?: boolean;
  rateLimit?: string;
  maxConnections?: string;
  idleTimeout?: string;
  maxBodyMemory?: string;
  maxAnswerMemory?: string;
  uniqueRoleBindings?: boolean;
  withoutAntiEscalation?: boolean;
  strictBodies?: boolean;
  faults?: string;
  json?: boolean;
  background?: boolean;
  logLevel: Level;
}

const MIB = 1024 * 1024;

const count = (flag: string, text: string | undefined, unit = 1): number | undefined =>
  text === undefined ? undefined : parseCount(flag, text) * unit;

export const serve = async (flags: ServeFlags): Promise<number> => {
  const { json = false } = flags;
  if (flags.background) return startInBackground(json);
  const lines = heldLines((line) => process.stderr.write(line));
  const log = createLog({ level: flags.logLevel, json, clock: Date.now, write: lines.write });
  const { tlsCert, tlsKey, seed, faults, copyOf, copyTo } = flags;
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new UsageError("--tls-cert and --tls-key belong together: give both or neither");
  checkCopyFlags(flags);
  const options = {
    port: parsePort("--port", flags.port ?? "0"),
    ...(flags.authPort !== undefined && { authPort: parsePort("--auth-port", flags.authPort) }),
    host: flags.host,
    publicUrl: flags.publicUrl,
    publicAuthUrl: flags.publicAuthUrl,
    store: flags.db,
    dev: flags.dev,
    refreshTokens: flags.refreshTokens,
    uniqueRoleBindings: flags.uniqueRoleBindings,
    withoutAntiEscalation: flags.withoutAntiEscalation,
    strictBodies: flags.strictBodies,
    rateLimit: count("--rate-limit", flags.rateLimit),
    maxConnections: count("--max-connections", flags.maxConnections),
    idleTimeoutMs: count("--idle-timeout", flags.idleTimeout, 1000),
    maxBodyMemory: count("--max-body-memory", flags.maxBodyMemory, MIB),
    maxAnswerMemory: count("--max-answer-memory", flags.maxAnswerMemory, MIB),
  };
  let server: RunningServer;
  let copy: Copy | undefined;
  let signals: ReturnType<typeof onSignals> | undefined;
  try {
    checkOptions(options);
    if (copyOf !== undefined) {
      copy = await copyFrom(copyOf);
      // From here on a signal ends the server once it has started, and leaves no half of a file.
      signals = onSignals();
      if (copyTo !== undefined) writeCopy(copyTo, copy);
      const written = copyTo === undefined ? [] : [`wrote ${printable(copyTo)}`];
      for (const line of [...copyLines(copy), ...written])
        if (json) log("warn", "copy", { message: line });
        else process.stderr.write(`${line}\n`);
    }
    const roles =
      flags.roles === undefined ? undefined : parseRoles(read("roles", flags.roles, SeedError), flags.roles);
    server = await createServer({
      ...options,
      roles,
      tls: tlsCert !== undefined && tlsKey !== undefined ? readTlsKeys(tlsCert, tlsKey) : undefined,
      seed: copy ?? (seed === undefined ? undefined : parseSeed(read("seed", seed, SeedError), seed, roles)),
      faults: faults === undefined ? undefined : parseFaults(read("faults", faults, FaultsError), faults),
      log,
    });
  } catch (error) {
    lines.release();
    // Options that contradict each other are a usage error.
    throw error instanceof ServerOptionsError ? new UsageError(error.message, { cause: error }) : error;
  }
  signals ??= onSignals();
  // A failed rotation logs its reason.
  process.on("SIGUSR2", () => void server.rotateKeys().catch(() => undefined));
  const token = flags.dev ? await (server as DevServer).token() : undefined;
  // An existing database may hold organizations that the server does not list here.
  const hasRecords = server.organization !== undefined || flags.db !== undefined;
  process.stdout.write(
    json ? `${JSON.stringify(readyLine(server, token))}\n` : banner(server, token, hasRecords, copy),
  );
  lines.release();
  await signals.first;
  log("info", "draining", { seconds: DRAIN_MS / 1000 });
  await server.close(signals.second);
  // A request that was cut off may still be waiting for another host.
  if (signals.second.aborted) process.exit(0);
  return 0;
};

const checkCopyFlags = ({ copyOf, copyTo, seed, db, roles }: ServeFlags): void => {
  if (copyOf === undefined && copyTo !== undefined)
    throw new UsageError("--copy-to writes what --copy-of reads: give both, or neither");
  if (copyOf === undefined) return;
  if (seed !== undefined) throw new UsageError("--copy-of and --seed both give the records: leave one of them out");
  if (roles !== undefined) throw new UsageError("a copy has the built-in roles of its service: leave out --roles");
  if (db !== undefined && existsSync(db))
    throw new UsageError(
      `--copy-of needs a new database, and ${db} exists: leave out --copy-of to serve what it holds, or name another file`,
    );
  const problem = copyTo === undefined ? undefined : copyFileProblem(copyTo);
  if (problem !== undefined) throw new UsageError(`--copy-to: ${problem}`);
};

const read = (what: string, file: string, Failure: typeof SeedError | typeof FaultsError): string => {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Failure(`cannot read the ${what} file ${file}: ${(error as Error).message}`, { cause: error });
  }
};

/** Lines of the log wait until the banner is printed: it is what the reader looks for first. */
const heldLines = (print: (line: string) => void) => {
  let held: string[] | undefined = [];
  return {
    write: (line: string): void => void (held ? held.push(line) : print(line)),
    release: (): void => {
      held?.forEach(print);
      held = undefined;
    },
  };
};

// The first signal drains, the second exits.
const onSignals = () => {
  const first = Promise.withResolvers<void>();
  const second = new AbortController();
  let count = 0;
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => {
      count += 1;
      if (count === 1) first.resolve();
      else second.abort();
    });
  return { first: first.promise, second: second.signal };
};

const readyLine = (server: RunningServer, token: string | undefined): ReadyLine => ({
  baseUrl: server.baseUrl,
  authUrl: server.authUrl,
  issuer: server.issuer ?? null,
  organization: server.organization ?? null,
  identity: server.identity ?? null,
  token: token ?? null,
  localUrl: server.localUrl,
  localAuthUrl: server.localAuthUrl,
});

const banner = (
  server: RunningServer,
  token: string | undefined,
  hasRecords: boolean,
  copy: Copy | undefined,
): string => {
  const addresses = [
    `API             ${server.baseUrl}`,
    `token exchange  ${server.authUrl}/sts/exchange`,
    ...(server.localUrl === server.baseUrl
      ? []
      : [`listens on      ${[...new Set([server.localUrl, server.localAuthUrl])].join(" and ")}`]),
    ...(server.faults ? [`faults          ${server.baseUrl}/faults   scripted failures and the attempts so far`] : []),
  ];
  const records = [
    ...(server.organization ? [`organization    ${server.organization}`] : []),
    ...(copy ? [`copy of         ${copy.copy.of}   read at ${copy.copy.time}`] : []),
    ...(server.issuer ? [`owner           ${server.identity}`] : []),
    `anyone          ${server.anyone}   identity that anyone may assume`,
  ];
  if (!server.issuer || token === undefined) {
    const hint = hasRecords
      ? []
      : ["", "There is no organization yet: start the server with --dev or with --seed FILE.yaml."];
    return `${[...addresses, ...records, ...hint, ""].join("\n")}\n`;
  }
  return `${[
    ...addresses,
    `issuer          ${server.issuer}   development: issues tokens to anyone`,
    ...records,
    "",
    "Sign in as CI does, with a workload's token:",
    `  export ${variables({ ...server, token: null })} IRM_IDENTITY=${server.identity}`,
    `  export IRM_IDENTITY_TOKEN=$(${commandName} token --issuer ${server.issuer} --subject owner)`,
    "",
    "Or with the owner's token, which is valid for one hour:",
    `  export ${variables({ ...server, token })}`,
    "",
    `Then run a program, or open ${server.localUrl}/ in a browser: it documents the API.`,
    "Press Ctrl-C to stop the server, twice to stop it at once.",
    "",
  ].join("\n")}\n`;
};
