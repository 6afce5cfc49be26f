// `irm ci` with its commands. A pipeline calls them, and no person: the list of commands does not have it.
import type { Command } from "commander";
import type { Exit } from "./terminal.ts";

export const addCiCommands = (program: Command, exit: Exit): void => {
  const ci = program
    .command("ci", { hidden: true })
    .usage("COMMAND")
    .summary("the steps of the GitHub Action and of the GitLab include")
    .description(
      "Runs in a job of GitHub Actions or GitLab: action.yml and templates/gitlab.yml call these commands one after the other. Each takes the inputs of the action from variables, such as stack-name from IRM_CI_STACK_NAME.",
    )
    .helpCommand(false);
  ci.command("plan")
    .usage("")
    .summary("decide what the job may run")
    .description(
      "Decides by the job's event which command it may run, and sets outputs for the next steps. Exits with 1 for a change from a fork, and for an event that has the rights of the main branch for others. Runs nothing of the change.",
    )
    .action(async () => exit(await (await import("./ci.ts")).plan()));
  ci.command("approval")
    .usage("")
    .summary("see whether the change may be applied")
    .description(
      "Before an apply: asks the host whether people had to approve this job, or with the input apply: merged, finds the review of the change that was merged, with the token of IRM_CI_TOKEN. Exits with 1 where nobody had to, or there is none. Runs nothing of the program.",
    )
    .action(async () => exit(await (await import("./ci.ts")).approval()));
  ci.command("run")
    .usage("")
    .summary("run the review, the update, or the report of drift")
    .description(
      "Runs the command of the job in work-dir, and leaves its report as Markdown, JSON and a page in the folder IRM_CI_FOLDER. Exits with 3 if a finding of a denied rule is left, or a test of access fails; if a change is not the one that was reviewed; and where no issue is opened, if something differs.",
    )
    .action(async () => exit(await (await import("./ci.ts")).run()));
  ci.command("report")
    .usage("")
    .summary("write the comment or the issue with the report")
    .description(
      "Writes the report of npx pulumi-irm ci run as the one comment of the change, or the one issue about drift, with the token of IRM_CI_TOKEN.",
    )
    .action(async () => exit(await (await import("./ci.ts")).report()));
};
