// The flags of `irm review`.
import type { Command } from "commander";
import { formatOption } from "./format.ts";
import type { ReviewFlags } from "./review.ts";
import type { Exit } from "./terminal.ts";

const repeated = (text: string, before: string[] = []): string[] => [...before, text];

export const addReviewCommand = (program: Command, exit: Exit): void => {
  program
    .command("review")
    .usage("[FLAGS]")
    .summary("print the change in access that a preview or a policy brings")
    .description(
      "Runs pulumi preview in this folder, or reads one from --preview, and prints who gains and who loses access, on which groups and through which roles, and what a reviewer must not miss. With --policy, compares a policy file with the API and needs no engine. Exits with 3 if a finding of a denied rule is left, or a test of access fails. Uses the address and credentials of the environment: IRM_BASE_URL, and IRM_TOKEN or another credential.",
    )
    .option(
      "--preview <FILE>",
      "output of pulumi preview --json --show-sames --refresh, or - for stdin (default: run it)",
    )
    .option("--policy <FILE>", "the policy file to compare with the API")
    .option("--exclusive", "with --policy: what the file lacks counts as removed")
    .option("--stack <NAME>", "the stack to preview, or that has the policy (default: the selected one)")
    .option(
      "--service <URL=VARIABLE>",
      "a further service of the program, and the environment variable with a token for it; repeatable",
      repeated,
    )
    .addOption(formatOption())
    .option("--deny <RULE>", "exit with 3 on a finding of this rule; repeatable", repeated)
    .option(
      "--allow <RULE@SUBJECT>",
      "excuse the finding of a rule about an existing record, by uid or path; repeatable",
      repeated,
    )
    .option(
      "--rules <FILE>",
      "YAML with deny, allow and required, which the flags add to; the path counts from the top level of the repository (default: review.yaml beside Pulumi.yaml)",
    )
    .option(
      "--tests <FILE>",
      "a policy or file of tests whose tests must hold after the change; the path counts from the top level of the repository (default: the tests of --policy, or access.tests.yaml and access.yaml beside Pulumi.yaml)",
    )
    .option(
      "--base <REF>",
      "the commit that the change is merged into: rules and tests are read there, and not in the work tree (default: the base of the pull request, in a job of GitHub Actions or GitLab)",
    )
    .action(async (flags: ReviewFlags) => exit(await (await import("./review.ts")).review(flags)));
};
