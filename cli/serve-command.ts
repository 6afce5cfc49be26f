// The flags of `irm serve`.
import { type Command, Option } from "commander";
import { LEVELS } from "../server/base/log.ts";
import type { ServeFlags } from "./serve.ts";
import type { Exit } from "./terminal.ts";

export const addServeCommand = (program: Command, exit: Exit): void => {
  program
    .command("serve")
    .usage("[FLAGS]")
    .summary("run the reference server")
    .description(
      "Runs the reference server of the API. Without flags it listens on a free port of 127.0.0.1 and keeps its records in memory.",
    )
    .option("--port <N>", "port of the API (default: 0, any free port)")
    .option("--host <ADDRESS>", "address to listen on (default: 127.0.0.1)")
    .option("--auth-port <N>", "port of the token exchange and the issuer (default: the same port)")
    .option(
      "--public-url <URL>",
      "address that clients use: scheme, host and port (default: the address it listens on)",
    )
    .option("--public-auth-url <URL>", "the same for the token exchange and the issuer (default: --public-url)")
    .option("--db <FILE>", "SQLite database to keep the records in (default: :memory:)")
    .option(
      "--seed <FILE.yaml>",
      "records to start with: organization, groups, roles, identities, bindings, identityProviders, externalGroupRoleMappings, accountAssociations, repos, advisories",
    )
    .option("--dev", "development issuer at {authUrl}/dev-issuer, and an organization with an owner; loopback only")
    .option("--tls-cert <FILE>", "serve TLS with this certificate chain, in PEM (default: no TLS)")
    .option("--tls-key <FILE>", "its private key, in PEM")
    .option("--refresh-tokens", "issue and accept refresh tokens (default: off)")
    .option("--rate-limit <N>", "requests a second that one caller may make (default: no limit)")
    .option("--max-connections <N>", "connections at a time, half of them for one address (default: 1000)")
    .option("--idle-timeout <SECONDS>", "close a connection after this time without a request (default: 65)")
    .option("--max-body-memory <MIB>", "memory for request bodies that are still arriving, in total (default: 64)")
    .option("--max-answer-memory <MIB>", "memory for answers that clients have not read yet, in total (default: 64)")
    .option(
      "--unique-role-bindings",
      "refuse a second binding of the same identity and role in a group (default: allow it)",
    )
    .option("--strict-bodies", "refuse request bodies with unknown fields (default: ignore the fields)")
    .option("--faults <FILE.yaml>", "scripted failures, for tests of clients (docs/server.md); loopback only")
    .option("--json", "print one line of JSON on stdout once ready; log as JSON on stderr")
    .addOption(logLevel())
    .addHelpText("after", "\nSIGUSR2 rotates the signing key. The server also rotates it every 30 days.")
    .action(async (flags: ServeFlags) => {
      const { serve } = await import("./serve.ts");
      exit(await serve(flags));
    });
};

// The choices serve completion. The value is checked together with the others, after --help.
const logLevel = (): Option =>
  new Option("--log-level <L>", `${LEVELS.join(", ")} (default: info)`).choices(LEVELS).argParser((text) => text);
