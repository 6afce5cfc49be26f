// The commands of `irm` with their flags. A command loads its code when it runs, so that help, completion and usage errors do not wait
// for the server to load.
import { type Command, Option } from "commander";
import { LEVELS } from "../server/base/log.ts";
import type { AccessFlags } from "./access.ts";
import type { CheckFlags } from "./check.ts";
import type { DoctorFlags } from "./doctor.ts";
import type { ExportFlags } from "./export.ts";
import type { InitFlags } from "./init.ts";
import type { CleanFlags, ListFlags } from "./journal.ts";
import type { PathsFlags } from "./paths/paths.ts";
import { addDriftCommands, addReviewCommands } from "./preview-commands.ts";
import type { RecoverFlags } from "./recover.ts";
import type { RevokeFlags } from "./revoke.ts";
import type { ServeFlags } from "./serve.ts";
import { type Exit, formatOption } from "./terminal.ts";
import type { TestFlags } from "./test.ts";
import type { TokenFlags } from "./token.ts";
import { appendValue } from "./usage.ts";
import type { WhoAmIFlags } from "./whoami.ts";

export const addCommands = (program: Command, exit: Exit): void => {
  program
    .command("init")
    .usage("[FOLDER] [FLAGS]")
    .summary("write a first project: policy, tests, program")
    .description(
      "Writes access.yaml, a policy with an example of each section; a test of it; rules for its reviews; and Pulumi.yaml, index.ts and .gitignore, each where there is none. Never overwrites a file. To a Pulumi.yaml that exists it adds refresh: always.",
    )
    .argument("[FOLDER]", "the folder to write into; created if it does not exist", ".")
    .option("--organization <NAME>", "name of the organization", "acme")
    .action(async (folder: string, flags: InitFlags) => exit((await import("./init.ts")).init(folder, flags)));

  program
    .command("check")
    .usage("[FILE] [FLAGS]")
    .summary("find the mistakes in a policy file")
    .description(
      "Prints every mistake of a policy file and of the files that it includes, with its line and column and what to write instead. Exits with 1 when there are any. Needs no engine and no network.",
    )
    .argument("[FILE]", "the policy", "access.yaml")
    .option(
      "--organization-exists",
      "the organization that the policy names exists, so it may have people; known where the policy has its uid, or adopt.json beside it has",
    )
    .action(async (file: string, flags: CheckFlags) => exit((await import("./check.ts")).check(file, flags)));

  program
    .command("test")
    .usage("[FILE] [FLAGS]")
    .summary("test who may do what, in a policy or on the service")
    .description(
      "Runs tests of access: who may do what, and who must not. FILE is a policy with a section tests, or a file of tests; without it, access.tests.yaml and the policy access.yaml of this folder. Tests the policy alone, without a network; with --live, what the API says now. Exits with 3 if a test fails, and with 1 if one names what does not exist.",
    )
    .argument("[FILE]", "a policy, or a file of tests")
    .option("--live", "test the access on the service instead")
    .addOption(formatOption("terminal", "json"))
    .action(async (file: string | undefined, flags: TestFlags) =>
      exit(await (await import("./test.ts")).test(file, flags)),
    );

  addReviewCommands(program, exit);

  program
    .command("serve")
    .usage("[FLAGS]")
    .summary("run a server of the API here, to try and test on")
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
      "records to start with: what --copy-to wrote; or organization, groups, roles, identities, bindings, identityProviders, externalGroupRoleMappings, accountAssociations, repos, advisories",
    )
    .option("--roles <FILE.yaml>", "the built-in roles: { NAME: [CAPABILITY, …] } (default: the table of this version)")
    .option(
      "--copy-of <URL>",
      "start with a copy of what you can see of another service, read with the credentials of the environment; nothing is sent that changes it",
    )
    .option("--copy-to <FILE>", "write the copy to this file too, for --seed")
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
    .option(
      "--without-anti-escalation",
      "let callers grant what they do not hold, to try the cautious paths of npx pulumi-irm paths; with --dev only (default: refuse it)",
    )
    .option("--strict-bodies", "refuse request bodies with unknown fields (default: ignore the fields)")
    .option("--faults <FILE.yaml>", "scripted failures, for tests of clients (docs/server.md); loopback only")
    .option("--json", "print one line of JSON on stdout once ready; log as JSON on stderr")
    .option(
      "--background",
      "start it in the background, and print the variables that programs need, for eval; the log goes to a file",
    )
    .addOption(new Option("--log-level <L>", "least severe lines to log").choices(LEVELS).default("info"))
    .addHelpText("after", "\nSIGUSR2 rotates the signing key. The server also rotates it every 30 days.")
    .action(async (flags: ServeFlags) => exit(await (await import("./serve.ts")).serve(flags)));

  program
    .command("token")
    .usage("--issuer URL --subject S [FLAGS]")
    .summary("get an identity token from the issuer of serve --dev")
    .description("Prints an identity token of the development issuer that npx pulumi-irm serve --dev runs.")
    .option("--issuer <URL>", "the issuer, as npx pulumi-irm serve --dev prints it")
    .option("--subject <S>", "sub of the token")
    .option("--audience <A>", "aud of the token (default: the address of the token exchange)")
    .option("--claim <k=v>", "a further claim; repeatable; v is JSON if it parses, otherwise a string", appendValue)
    .action(async (flags: TokenFlags) => exit(await (await import("./token.ts")).token(flags)));

  addDriftCommands(program, exit);

  program
    .command("access")
    .usage("[FLAGS]")
    .summary("show who can do what, and where")
    .description(
      "Reads groups, identities, roles and bindings from the API and prints what they grant. The flags combine: what one identity can do at one group, for example. Without any, prints all access.",
    )
    .option("--identity <UID|NAME>", "where can this identity act")
    .option("--group <UID|PATH>", "who can act here: also through bindings above; / is the organization")
    .option("--capability <NAME>", "who can do this, such as groups.list")
    .option(
      "--unused <DAYSd>",
      "identities that nobody has used for this time, such as 90d; role bindings that another one covers; roles that nobody has",
    )
    .option("--write <FILE>", "with --unused: remove these from this policy")
    .option(
      "--pull-tokens",
      "the credentials of container and package clients: role, group, age, last use and end of each",
    )
    .addOption(formatOption("terminal", "markdown", "json", "html"))
    .action(async (flags: AccessFlags) => exit(await (await import("./access.ts")).access(flags)));

  program
    .command("paths")
    .usage("[FLAGS]")
    .summary("show how somebody could gain more access")
    .description(
      "Reads groups, identities, roles and bindings from the API, and prints by which requests an identity or a workload could come to hold a capability that it does not hold today: each path with its requests, the shortest first. A strict path can be carried out by the rules of the reference server. A cautious one exists only if the service or people allow what it assumes. Sends only requests that read.",
    )
    .option(
      "--from <IDENTITY|WORKLOAD>",
      "who starts: an identity by uid or name, or a workload such as '{ github: { repository: acme/images, branch: main } }' (default: every identity that has a role)",
    )
    .option("--to <CAPABILITY|owner>", "where it leads: a capability such as tag.create, or all that an owner has")
    .option("--at <GROUP>", "the capability at this group, by uid or path; / is the organization")
    .option(
      "--prove",
      "carry each path out on a copy of what you can see, in memory, and print what the last caller may then do; exits with 3 if a path is not what it says",
    )
    .addOption(formatOption("terminal", "markdown", "json", "html"))
    .action(async (flags: PathsFlags) => exit(await (await import("./paths/paths.ts")).paths(flags)));

  program
    .command("export")
    .usage("[FLAGS]")
    .summary("write a program for the records that exist")
    .description(
      "Reads everything below a group from the API and writes a program that declares it. Its first update takes the records over by their uids and sends nothing that changes them. Exits with 3 if there are records that the caller cannot list: the program and stderr name them. With --from-tfstate, writes the same for what Terraform manages, and handover.md with the commands that take it from Terraform; exits with 3 if a record is gone or stays with Terraform.",
    )
    .option("--group <UID|PATH>", "the group to export, with all below it (default: the organization)")
    .option(
      "--from-tfstate <FILE>",
      "export what Terraform manages, from terraform state pull or terraform show -json; - for stdin",
    )
    .addOption(
      new Option("--format <FORMAT>", "language of the program; yaml: a policy file, and a program for the rest")
        .choices(["typescript", "yaml", "python", "pulumi-yaml"])
        .default("typescript"),
    )
    .option("--native", "in TypeScript, import from pulumi-irm/plugin, and write import.json for pulumi import --file")
    .option("--no-adopt", "write a program that creates the same on another service")
    .addOption(
      new Option("--split <BY>", "with --format yaml: a file for each group directly below the organization").choices([
        "group",
      ]),
    )
    .option(
      "--into <FILE>",
      "add what exists and this policy lacks to its files, with comments and order kept, and the uids to adopt.json beside it",
    )
    .option(
      "--out <FOLDER>",
      "write a project into this folder, which must be empty or new (default: print the program)",
    )
    .action(async (flags: ExportFlags) => exit(await (await import("./export.ts")).exportCode(flags)));

  program
    .command("revoke")
    .usage("--identity UID|NAME | --binding UID | --external-group UID [FLAGS]")
    .summary("remove access: all of one identity, or one grant")
    .description(
      "Removes all role bindings of an identity that you can see, and what access.yaml of this folder grants it; or one role binding, or one mapping of an external group. Before that it shows them, asks, and writes them to a file, from which --undo puts them back. Half done, it exits with 1 and can be run again.",
    )
    .option("--identity <UID|NAME>", "whose access to remove")
    .option("--binding <UID>", "the one role binding to remove")
    .option("--external-group <UID>", "the one external group role mapping to remove")
    .option("--yes", "do not ask; required without a terminal, except for --undo")
    .option(
      "--force",
      "also your own access, and that of the last owner of an organization; for --undo, go by uids where names differ",
    )
    .option("--out <FILE>", "remove nothing, and write the removal into this file, as a change to review and apply")
    .option("--undo-file <FILE>", "where to write what is removed (default: irm-revoke-UID-TIME.json in this folder)")
    .option("--undo <FILE>", "create what is missing of the grants that an earlier revocation wrote to this file")
    .addOption(formatOption("terminal", "json"))
    .action(async (flags: RevokeFlags) => exit(await (await import("./revoke.ts")).revoke(flags)));

  program
    .command("whoami")
    .usage("[FLAGS]")
    .summary("show who you are to the API, and what you may do")
    .description(
      "Prints the identity that the credentials stand for, how it was reached, when its token ends, and which roles it holds where. With --check, prints whether it holds a capability, and exits with 3 if it does not, or if that is not known. Sends requests that read, and the exchange of a workload's token.",
    )
    .option(
      "--check <CAPABILITY@GROUP>",
      "may it do this here, such as groups.list@platform; a uid, a path, or / for the organization; repeatable",
      appendValue,
    )
    .addOption(formatOption("terminal", "json"))
    .action(async (flags: WhoAmIFlags) => exit(await (await import("./whoami.ts")).whoami(flags)));

  program
    .command("doctor")
    .usage("[FLAGS]")
    .summary("find out why a command or an update fails here")
    .description(
      "Checks this machine (Node, engine, plugin, journal, clock), the configuration and where each value comes from, the connection, and the sign-in. Where the exchange refuses a workload's token, compares its claims with the identity, field by field, if the credentials may read it: also with IRM_TOKEN beside the workload's token. Sends requests that read, and the exchange. Prints no secret. Exits with 3 if a check fails.",
    )
    .option(
      "--stack <NAME>",
      "the stack whose configuration counts (default: the selected one of this folder's project)",
    )
    .addOption(formatOption("terminal", "json"))
    .action(async (flags: DoctorFlags) => exit(await (await import("./doctor.ts")).doctor(flags)));

  const journal = program
    .command("journal")
    .usage("COMMAND [FLAGS]")
    .summary("list or clear the creates of interrupted runs")
    .description(
      "The journal of a stack holds an entry for each create whose outcome the engine may not know. The next run of the stack resolves its entries.",
    )
    .helpCommand(false);
  journal
    .command("list")
    .usage("[FLAGS]")
    .summary("print the creates whose outcome is unknown")
    .description(
      "Prints the creates whose outcome is unknown: the request was sent, and no response arrived. With --all, also prints creates that succeeded and that the engine has not read since. Invalid lines of a journal are printed too; runs ignore them.",
    )
    .option(...FOLDER)
    .option("--all", "print every entry")
    .option("--json", "print every entry, one line of JSON each")
    .action(async (flags: ListFlags) => exit(await (await import("./journal.ts")).list(flags)));
  journal
    .command("clean")
    .usage("[FLAGS]")
    .summary("remove entries and empty journals")
    .description(
      "Removes the entries of KEY, or all entries, and removes empty journals. The record of a pending entry may exist without a resource that manages it: look for it first.",
    )
    .option(...FOLDER)
    .option("--key <KEY>", "remove the entries of this resource")
    .option("--all", "remove all entries of all stacks in the folder, and all invalid lines")
    .option("--invalid", "remove the invalid lines")
    .action(async (flags: CleanFlags) => exit(await (await import("./journal.ts")).clean(flags)));

  program
    .command("recover")
    .usage("[FLAGS]")
    .summary("delete the records that a killed run left behind")
    .description(
      "Lists the records that killed runs created, and that no resource of the stack of this folder has, and asks whether to delete them. Reads the journal, which has the runs without checkpoints (PULUMI_SKIP_CHECKPOINTS), and the engine's state, which has the runs whose machine was lost; runs no program. Exits with 3 if records are left.",
    )
    .option("--stack <NAME>", "the stack (default: the selected one)")
    .option(...FOLDER)
    .option("--yes", "delete them without a question")
    .addOption(formatOption("terminal", "json"))
    .action(async (flags: RecoverFlags) => exit(await (await import("./recover.ts")).recover(flags)));
};

const FOLDER = [
  "--folder <FOLDER>",
  "folder of the journals (default: IRM_JOURNAL, or the user's state folder)",
] as const;
