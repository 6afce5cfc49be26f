// The flags of `irm serve`.
import { type Command, Option } from "commander";
import { LEVELS } from "../server/log.ts";
import type { Exit } from "./program.ts";

export interface ServeFlags {
  port?: string;
  host?: string;
  authPort?: string;
  publicUrl?: string;
  publicAuthUrl?: string;
  db?: string;
  seed?: string;
  dev?: boolean;
  tlsCert?: string;
  tlsKey?: string;
  refreshTokens?: boolean;
  rateLimit?: string;
  maxConnections?: string;
  idleTimeout?: string;
  maxBodyMemory?: string;
  uniqueRoleBindings?: boolean;
  strictBodies?: boolean;
  faults?: string;
  json?: boolean;
  logLevel?: string;
}

export const addServeCommand = (program: Command, exit: Exit): void => {
  program
    .command("serve")
    .usage("[FLAGS]")
    .summary("run the reference server")
    .description(
      "Runs the reference server of the API. Without flags it listens on a free port of 127.0.0.1 and keeps its records in memory.",
    )
    .option("--port <N>", "port of the API (default: 0, any free one)")
    .option("--host <ADDRESS>", "address to listen on (default: 127.0.0.1)")
    .option("--auth-port <N>", "port of the token exchange and the issuer (default: the same port)")
    .option("--public-url <URL>", "address that clients use: scheme, host and port (default: the one listened on)")
    .option("--public-auth-url <URL>", "the same of the token exchange and the issuer (default: --public-url)")
    .option("--db <FILE>", "SQLite database to keep the records in (default: :memory:)")
    .option(
      "--seed <FILE.yaml>",
      "records to start with: organization, groups, roles, identities, bindings, identityProviders, accountAssociations, repos, advisories",
    )
    .option("--dev", "development issuer at {authUrl}/dev-issuer, and an organisation with an owner; loopback only")
    .option(
      "--tls-cert <FILE>",
      "serve TLS with this certificate, and those that it was issued under, in PEM (default: no TLS)",
    )
    .option("--tls-key <FILE>", "its private key, in PEM")
    .option("--refresh-tokens", "give a refresh token with each exchange, and take it (default: neither)")
    .option("--rate-limit <N>", "requests a second that one caller may make (default: no limit)")
    .option("--max-connections <N>", "connections at a time, half of them for one address (default: 1000)")
    .option("--idle-timeout <SECONDS>", "close a connection on which nothing is under way for so long (default: 65)")
    .option("--max-body-memory <MIB>", "requests that are arriving, all together (default: 64 MiB)")
    .option(
      "--unique-role-bindings",
      "refuse a second binding of one identity to one role in one group (default: it is made)",
    )
    .option("--strict-bodies", "refuse a body with a field that does not exist (default: the field is ignored)")
    .option("--faults <FILE.yaml>", "scripted failures, for tests of clients (docs/server.md); loopback only")
    .option("--json", "print one line of JSON on stdout once ready; log as JSON on stderr")
    .addOption(logLevel())
    .addHelpText("after", "\nSIGUSR2 makes a new signing key, as the server does by itself every 30 days.")
    .action(async (flags: ServeFlags) => {
      const { serve } = await import("./serve.ts");
      exit(await serve(flags));
    });
};

// The choices are for completion; what another value means is said where all values are checked, so that --help comes first.
const logLevel = (): Option =>
  new Option("--log-level <L>", `${LEVELS.join(", ")} (default: info)`).choices(LEVELS).argParser((text) => text);
