// The commands of `irm` that preview a program: what it changes, and what differs from it.
import { type Command, Option } from "commander";
import { SEAL_IS_NOW } from "../client/env.ts";
import type { ApplyFlags } from "./apply.ts";
import type { DriftFlags } from "./drift.ts";
import type { ReviewFlags } from "./review.ts";
import type { RolesFlags } from "./roles.ts";
import { type Exit, formatOption } from "./terminal.ts";
import { appendValue, UsageError } from "./usage.ts";

/** What a change brings. */
export const addReviewCommands = (program: Command, exit: Exit): void => {
  program
    .command("review")
    .usage("[CHANGE] [FLAGS] [-- ENGINE...]")
    .summary("show who gains and who loses access by a change")
    .description(
      "Copies what you can list into a server in memory and the stack into a temporary backend, and runs pulumi up of this folder there. Prints who gains and who loses access by it, on which groups and through which roles, the steps that fail, and what a reviewer must not miss. Changes neither the service nor the stack. With CHANGE, a file that --out has written, carries out its writes on a fresh copy, without the program and the engine. Exits with 3 if a finding of a denied rule is left, a test of access fails, a step fails, or the access differs from that in CHANGE.",
    )
    .argument("[CHANGE]", "a change, from --out")
    .argument(...ENGINE)
    .option(
      "--policy <FILE>",
      "review this policy by the program of --base: nothing else of the change is read, and nothing of it runs; repeatable",
      appendValue,
    )
    .option("--destroy", "review the deletion of everything in the stack")
    .option("--stack <NAME>", "the stack to review (default: the selected one)")
    .option(...SERVICE)
    .option("--as <UID>", "the identity that will apply the program (default: the caller's)")
    .addOption(rightsOption())
    .option(
      "--out <FILE>",
      "write the change into this file: the requests of the update, and the access that they give",
    )
    .addOption(formatOption("terminal", "markdown", "json", "html"))
    .addOption(new Option("--rehearse").hideHelp())
    .option("--deny <RULE>", "exit with 3 on a finding of this rule; repeatable", appendValue)
    .option(
      "--allow <RULE@SUBJECT>",
      "excuse the finding of a rule about an existing record, by uid or path; repeatable",
      appendValue,
    )
    .option(
      "--rules <FILE>",
      "YAML with deny, allow and required, which the flags add to; the path counts from the top level of the repository (default: review.yaml beside Pulumi.yaml)",
    )
    .option(
      "--tests <FILE>",
      "a policy or file of tests whose tests must hold after the change; the path counts from the top level of the repository (default: access.tests.yaml and access.yaml beside Pulumi.yaml)",
    )
    .option(
      "--base <REF>",
      "the commit that the change is merged into, as main, origin/main, refs/tags/v1 or a whole hash: rules and tests are read there, and not in the work tree (default: the base of the pull request, in a job of GitHub Actions or GitLab)",
    )
    .addOption(new Option("--seal [FILE]").hideHelp())
    .action(async (first: string | undefined, rest: string[], { rehearse, seal, ...flags }: ReviewFlags & Former) => {
      if (rehearse) throw new UsageError(`--rehearse ${IS_NOW_REVIEW}`);
      if (seal !== undefined) throw new UsageError(`--seal ${SEAL_IS_NOW}`);
      // Words after -- come without it.
      const file = first?.startsWith("-") ? undefined : first;
      const engine = first !== undefined && file === undefined ? [first, ...rest] : rest;
      exit(await (await import("./review.ts")).review(file, { ...flags, engine }));
    });

  program
    .command("apply")
    .usage("CHANGE [FLAGS]")
    .summary("apply a reviewed change, and no other one")
    .description(
      "Makes the change anew on a copy, and stops if it is not the reviewed one. Then runs pulumi up of this folder through a gate, which passes the writes of the change. Exits with 3 if something else would be applied, a write was refused, or one is missing.",
    )
    .argument("<CHANGE>", "a change, from npx pulumi-irm review --out")
    .option("--stack <NAME>", "the stack (default: the one in the change)")
    .option(...SERVICE)
    .option("--digest <DIGEST>", "the digest that was approved: sha256:…")
    .option("--user <NAME>", "run the engine and the program as this user; only root can")
    .option("-y, --yes", "do not ask")
    .addOption(formatOption("terminal", "json"))
    .action(async (file: string, flags: ApplyFlags) => exit(await (await import("./apply.ts")).apply(file, flags)));

  for (const [name, text] of Object.entries({ rehearse: IS_NOW_REVIEW, verify: SEAL_IS_NOW }))
    program
      .command(name, { hidden: true })
      .allowUnknownOption()
      .argument("[WORDS...]")
      .action(() => {
        throw new UsageError(`npx pulumi-irm ${name} ${text}`);
      });
};

interface Former {
  rehearse?: boolean;
  seal?: unknown;
}

const IS_NOW_REVIEW = "is now npx pulumi-irm review: each review runs the update on a copy";

/** How the service differs from the program, and from the lock file of roles. */
export const addDriftCommands = (program: Command, exit: Exit): void => {
  program
    .command("drift")
    .usage("[FLAGS]")
    .summary("show where the service differs from the program")
    .description(
      "Runs the update of the program in this folder on a copy of the organization, and prints the records that differ from the program, access that nothing declares, static keys that end within 30 days, pull tokens, and creates that an interrupted run left open. Changes nothing, but with --repair. Exits with 3 if there are any.",
    )
    .option("--stack <NAME>", "the stack to look at (default: the selected one)")
    .option(...SERVICE)
    .option(
      "--allow <UID|pull-tokens>",
      "access that another program declares, by uid of the role binding or of its identity; pull-tokens: all pull tokens that hold nothing but pulls; repeatable",
      appendValue,
    )
    .option("--repair", "review the update of the unchanged program, and apply it: it undoes what was changed by hand")
    .option("-y, --yes", "with --repair, do not ask")
    .addOption(formatOption("terminal", "markdown", "json"))
    .action(async ({ repair, yes, ...flags }: DriftFlags & { repair?: boolean; yes?: boolean }) => {
      if (yes && !repair) throw new UsageError("--yes is for --repair");
      const run = repair
        ? (await import("./repair.ts")).repair({ ...flags, yes })
        : (await import("./drift.ts")).drift(flags);
      exit(await run);
    });

  program
    .command("roles")
    .usage("[FLAGS]")
    .summary("show the built-in roles, and how they have changed")
    .description(
      "Prints the built-in roles of the service, and how they differ from roles.lock.yaml, which lies beside the policy or Pulumi.yaml: who gained or lost access by it. Without that file, compares with the table of this version. Exits with 3 if the service has changed a role of the file.",
    )
    .option("--write", "write what the service has into roles.lock.yaml, and accept the changes")
    .addOption(formatOption("terminal", "markdown", "json", "html"))
    .action(async (flags: RolesFlags) => exit(await (await import("./roles.ts")).roles(flags)));
};

const SERVICE = [
  "--service <URL=VARIABLE>",
  "a further service of the program, and the environment variable with a token for it; repeatable",
  appendValue,
] as const;

const ENGINE = [
  "[ENGINE...]",
  "after --, arguments for the engine: --target URN, --target-dependents, --replace URN, --exclude URN",
] as const;

const rightsOption = (): Option =>
  new Option(
    "--rights <OF>",
    `operator lets that identity do everything on the copy, and own only what its roles grant, so that a step which would be refused fails (default: operator)`,
  ).choices(["operator", "own"]);
