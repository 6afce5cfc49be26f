// `irm serve`: the reference server as a command.

import { existsSync, readFileSync } from "node:fs";
import { Option } from "commander";
import type { Copy } from "../../access/copy/copy.ts";
import { printable } from "../../schema/index.ts";
import { LEVELS } from "../../server/base/log.ts";
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
} from "../../server/index.ts";
import { checkOptions } from "../../server/options.ts";
import { readyLine, startInBackground, variables } from "../background.ts";
import { copyFileProblem, copyFrom, copyLines, writeCopy } from "../copy.ts";
import { commandName, type IrmCommand, parseCount, parsePort, UsageError } from "../irm-command.ts";
import { SIGNALS } from "../terminal.ts";
import { defineToken } from "./serve-token.ts";

/** Of the server, as they are. */
type Switch = "dev" | "refreshTokens" | "uniqueRoleBindings" | "withoutAntiEscalation" | "strictBodies";
type Address = "host" | "publicUrl" | "publicAuthUrl";
type Count = "port" | "authPort" | "rateLimit" | "maxConnections" | "idleTimeout" | "maxBodyMemory" | "maxAnswerMemory";
type File = "db" | "seed" | "roles" | "copyOf" | "copyTo" | "tlsCert" | "tlsKey" | "faults";

interface ServeFlags extends Partial<Record<Switch, boolean> & Record<Address | Count | File, string>> {
  json?: boolean;
  background?: boolean;
  logLevel: Level;
}

const MIB = 1024 * 1024;

const count = (flag: string, text: string | undefined, unit = 1) =>
  text === undefined ? undefined : parseCount(flag, text) * unit;

export const defineCommand = (command: IrmCommand): void => {
  command
    .description(
      "Runs the reference server of the API. Without flags it listens on a free port of 127.0.0.1 and keeps its records in memory.",
    )
    .option("--port <N>", "port of the API (default: 0, any free port)")
    .option("--host <ADDRESS>", "address to listen on (default: 127.0.0.1)")
    .option(
      "--db <FILE>",
      "SQLite database for the records and the signing keys, created with mode 0600 (default: :memory:)",
    )
    .option(
      "--seed <FILE.yaml>",
      "records to start with: a file that --copy-to wrote, or one with organization, groups, roles, identities, bindings, identityProviders, externalGroupRoleMappings, accountAssociations, repos, advisories",
    )
    .option(
      "--copy-of <URL>",
      "start with a copy of what you can see of another service, read with the credentials of the environment",
    )
    .option("--copy-to <FILE>", "also write the copy to this file, for --seed")
    .option("--dev", "development issuer at {authUrl}/dev-issuer, and an organization with an owner; loopback only")
    .option("--tls-cert <FILE>", "serve TLS with this certificate chain, in PEM (default: no TLS)")
    .option("--tls-key <FILE>", "private key of the certificate, in PEM")
    .option("--json", "print one line of JSON on stdout when the server is ready; log as JSON on stderr")
    .option(
      "--background",
      "start the server in the background, log to a file, and print the variables that programs need, for eval",
    );
  const advanced = ADVANCED.map((row) => new Option(...row));
  advanced.push(new Option("--log-level <L>", "least severe lines to log").choices(LEVELS).default("info"));
  for (const option of advanced) command.addOption(option.hideHelp());
  command
    .option("--help-all", "print this help with the advanced flags")
    .on("option:help-all", () => {
      for (const option of command.options) option.hideHelp(false);
      command.help();
    })
    .example("serve --dev --db irm.sqlite")
    .addHelpText("after", "\nSIGUSR2 rotates the signing key. The server also rotates it every 30 days.")
    .runs(serve);
  defineToken(command.command("token"));
};

const ADVANCED: readonly (readonly [flags: string, text: string])[] = [
  ["--auth-port <N>", "port of the token exchange and the issuer (default: the same port)"],
  ["--public-url <URL>", "address that clients use: scheme, host and port (default: the address it listens on)"],
  ["--public-auth-url <URL>", "address that clients use for the token exchange and the issuer (default: --public-url)"],
  [
    "--roles <FILE.yaml>",
    "the built-in roles, including owner and viewer: { NAME: [CAPABILITY, …] } (default: the table of this version)",
  ],
  ["--refresh-tokens", "return refresh tokens, and accept them at /sts/exchange_refresh_token (default: off)"],
  [
    "--rate-limit <N>",
    "requests per second from one identity, or from one address without a valid token; others get 429 with Retry-After (default: no limit)",
  ],
  [
    "--max-connections <N>",
    "open connections on all ports together; one address or IPv6 /64 network gets at most half (default: 1000)",
  ],
  ["--idle-timeout <SECONDS>", "close a connection that sends no request for this time (default: 65)"],
  ["--max-body-memory <MIB>", "memory for request bodies that are still arriving, in total (default: 64)"],
  ["--max-answer-memory <MIB>", "memory for answers that clients have not read yet, in total (default: 64)"],
  [
    "--unique-role-bindings",
    "refuse a second binding of the same identity and role in a group, with 409 (default: allow it)",
  ],
  [
    "--without-anti-escalation",
    "let callers grant capabilities that they lack, to try the cautious paths of npx pulumi-irm access paths; with --dev only (default: refuse it)",
  ],
  ["--strict-bodies", "refuse request bodies with unknown fields, and suggest known ones (default: ignore the fields)"],
  ["--faults <FILE.yaml>", "scripted failures, for tests of clients (docs/server.md); loopback only"],
];

const serve = async (flags: ServeFlags): Promise<number> => {
  const { json = false, logLevel: level, background, db: store, tlsCert, tlsKey, ...given } = flags;
  if (background) return startInBackground(json);
  // Lines of the log wait for the banner: the reader looks for it first.
  let held: string[] | undefined = [];
  const release = () => {
    for (const line of held ?? []) process.stderr.write(line);
    held = undefined;
  };
  const write = (line: string) => void (held ? held.push(line) : process.stderr.write(line));
  const log = createLog({ level, json, clock: Date.now, write });
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new UsageError("--tls-cert and --tls-key belong together: give both or neither");
  checkCopyFlags(flags);
  const { seed, roles: roleFile, faults, copyOf, copyTo, ...passedOn } = given;
  const options = {
    ...passedOn,
    store,
    port: parsePort("--port", flags.port ?? "0"),
    authPort: flags.authPort === undefined ? undefined : parsePort("--auth-port", flags.authPort),
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
    const roles = roleFile === undefined ? undefined : parseRoles(read("roles", roleFile, SeedError), roleFile);
    server = await createServer({
      ...options,
      roles,
      tls: tlsCert !== undefined && tlsKey !== undefined ? readTlsKeys(tlsCert, tlsKey) : undefined,
      seed: copy ?? (seed === undefined ? undefined : parseSeed(read("seed", seed, SeedError), seed, roles)),
      faults: faults === undefined ? undefined : parseFaults(read("faults", faults, FaultsError), faults),
      log,
    });
  } catch (error) {
    release();
    // Options that contradict each other are a usage error.
    throw error instanceof ServerOptionsError ? new UsageError(error.message, { cause: error }) : error;
  }
  signals ??= onSignals();
  // A failed rotation logs its reason.
  process.on("SIGUSR2", () => void server.rotateKeys().catch(() => undefined));
  const token = flags.dev ? await (server as DevServer).token() : undefined;
  // An existing database may hold organizations that the server does not list here.
  const hasRecords = server.organization !== undefined || store !== undefined;
  process.stdout.write(
    json ? `${JSON.stringify(readyLine(server, token))}\n` : banner(server, token, hasRecords, copy),
  );
  release();
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

const read = (what: string, file: string, Failure: typeof SeedError | typeof FaultsError) => {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Failure(`cannot read the ${what} file ${file}: ${(error as Error).message}`, { cause: error });
  }
};

// The first signal drains, the second exits.
const onSignals = () => {
  const first = Promise.withResolvers<void>();
  const second = new AbortController();
  let isDraining = false;
  for (const signal of SIGNALS)
    process.on(signal, () => {
      if (isDraining) second.abort();
      isDraining = true;
      first.resolve();
    });
  return { first: first.promise, second: second.signal };
};

const banner = (server: RunningServer, token: string | undefined, hasRecords: boolean, copy: Copy | undefined) => {
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
    `  export ${variables(server, null)} IRM_IDENTITY=${server.identity}`,
    `  export IRM_IDENTITY_TOKEN=$(${commandName} serve token --issuer ${server.issuer} --subject owner)`,
    "",
    "Or with the owner's token, which is valid for one hour:",
    `  export ${variables(server, token)}`,
    "",
    `Then run a program, or open ${server.localUrl}/ in a browser: it documents the API.`,
    "Press Ctrl-C to stop the server, twice to stop it at once.",
    "",
  ].join("\n")}\n`;
};
