// `irm ci`: the steps of a pipeline's job, for action.yml and templates/gitlab.yml. They plan the job, run its command, and report the result.
import { randomUUID } from "node:crypto";
import { constants, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import {
  CHANGE,
  changeNameOf,
  makeFolder,
  mergedFolderOf,
  pageOf,
  REPORT,
  REPORT_JSON,
  readReport,
  writeFiles,
} from "../../ci/files.ts";
import type { Host } from "../../ci/forge.ts";
import { githubHost } from "../../ci/github.ts";
import { gitlabHost } from "../../ci/gitlab.ts";
import {
  closeIssue,
  keepIssue,
  type Marker,
  mergedReview,
  noReviewComment,
  replaceComment,
  reviewComment,
} from "../../ci/post.ts";
import {
  type Command,
  commandOf,
  inputsText,
  type Job,
  keyOf,
  problemsOf,
  RefusedJob,
  readSettings,
  runsEngine,
  type Settings,
  subjectOf,
} from "../../ci/settings.ts";
import { UserError } from "../../schema/index.ts";
import { isAccessible } from "../files.ts";
import { type IrmCommand, UsageError } from "../irm-command.ts";
import { printError, printNotice } from "../terminal.ts";
import { folderOf } from "./recover-journal.ts";

export const defineCommand = (command: IrmCommand): void => {
  command
    .usage("COMMAND")
    .description(
      "The steps that action.yml and templates/gitlab.yml call. Each takes the inputs of the action from variables, such as stack-name from IRM_CI_STACK_NAME.",
    )
    .helpCommand(false);
  const step = (name: string, description: string, act: (context: Context) => number | Promise<number>) =>
    void command
      .command(name)
      .description(description)
      .runs(() => inJob(act));
  step(
    "plan",
    "Decides by the job's event which command it may run, and sets outputs for the next steps. Runs nothing of the change.",
    plan,
  );
  step(
    "approval",
    "Asks the host whether people had to approve this job, or finds the review that was merged. Exits with 1 if there is neither.",
    approval,
  );
  step(
    "run",
    "Runs the command of the job in work-dir, and leaves its report in the folder IRM_CI_FOLDER. Exits with 3 if the report denies it.",
    run,
  );
  step(
    "report",
    "Writes the report of npx pulumi-irm ci run as the one comment of the change, or the one issue about drift.",
    report,
  );
};

interface Context {
  host: Host;
  job: Job;
  settings: Settings;
  command: Command;
  /** of the files for later steps */
  folder: string;
}

/** Something differs, or a finding is denied. */
const FOUND = 3;

type Step = (context: Context) => Promise<number>;

/** Decides before a step installs or runs any part of a change, and sets the outputs for the next steps. */
const plan = ({ host, settings, command }: Context) => {
  const { env } = process;
  const needsEngine = runsEngine(settings, command);
  const hasEngine = (env.PATH ?? "")
    .split(delimiter)
    .some((folder) => folder !== "" && isAccessible(join(folder, "pulumi"), constants.X_OK));
  host.setOutputs({
    command,
    inputs: inputsText(env),
    folder: join(env.RUNNER_TEMP ?? "", `irm-ci-${randomUUID()}`),
    engine: String(needsEngine && !hasEngine),
    // A review leaves it, and an update takes it from there.
    change: changeNameOf(settings),
    "change-folder": join(env.RUNNER_TEMP ?? "", `irm-change-${randomUUID()}`),
    // A configured folder outlives the job by itself.
    journal: needsEngine && !env.IRM_JOURNAL ? folderOf({}) : "",
    // The key of one stack never begins the key of another one: `production:dev::` is for the stack dev in the folder production.
    "journal-key": `irm-journal:${keyOf(settings)}::`,
  });
  process.stdout.write(`${command} of ${subjectOf(settings).join(" ") || "a change of another job"}\n`);
  return 0;
};

/** Whether a job may apply the reviewed change. This step has the token, and runs no part of the program. */
const approval: Step = async ({ host, job, settings, command }) => {
  if (command !== "apply") return 0;
  const token = process.env.IRM_CI_TOKEN ?? "";
  if (settings.apply === "approved") {
    const unseen = await host.forge(token).unseenApproval();
    if (unseen === undefined) return 0;
    host.annotate("notice", unseen);
    printNotice("irm ci approval", unseen);
    return 0;
  }
  if (!token) throw new RefusedJob(`${host.words.token} is not set, so the review of what was merged cannot be found`);
  const forge = host.forge(token);
  const { run, change } = await mergedReview(forge, job.commit, host.words);
  if (forge.fileOf) {
    const folder = mergedFolderOf(settings);
    makeFolder(folder);
    writeFileSync(join(folder, CHANGE), await forge.fileOf(run, CHANGE));
  }
  host.setOutputs({ run: String(run) });
  process.stdout.write(`${host.words.change} ${change.number}, reviewed by ${run}\n`);
  return 0;
};

/** Runs the command, and leaves its report in files. */
const run: Step = async ({ host, job, settings, command, folder }) => {
  makeFolder(folder);
  try {
    process.chdir(settings.workDir);
  } catch (error) {
    const problem = `cannot enter ${JSON.stringify(settings.workDir)}: ${(error as Error).message}`;
    throw new UsageError(`work-dir: ${problem}`);
  }
  const { runCommand } = await import("./ci-run.ts");
  const { code, files, summary, digest } = await host.withoutCommands(() => runCommand(job, settings, command, folder));
  writeFiles(folder, files, code);
  const paths = { json: REPORT_JSON, markdown: REPORT, page: pageOf(settings), change: CHANGE };
  const written = Object.entries(paths).filter(([, name]) => files[name] !== undefined);
  host.setOutputs({
    "exit-code": String(code),
    ...(digest !== undefined && { digest }),
    ...Object.fromEntries(written.map(([output, name]) => [output, join(folder, name)])),
  });
  if (summary !== undefined) host.summarize(summary);
  if (code === 0) return 0;
  const isDelivered = code === FOUND && command === "drift" && settings.issue;
  host.annotate(isDelivered ? "warning" : "error", code === FOUND ? FOUND_TEXT[command] : `${command} failed`);
  // The issue reports the drift: a job that fails each night would add nothing.
  return isDelivered ? 0 : code;
};

const FOUND_TEXT: Readonly<Record<Command, string>> = {
  preview: "findings of denied rules, or failed tests of access: the review has them",
  drift: "access differs from the program",
  apply: "the change is not the one that was reviewed, or not all of it was applied: the log says why",
  up: "up failed",
};

/** Writes the comment or the issue. This step has the token for it; the step that runs the program lacks it. */
const report: Step = async ({ host, job, settings, command, folder }) => {
  const made = readReport(folder);
  const proposed = "change" in job.about ? job.about.change : undefined;
  const change = proposed?.number;
  const isComment = command === "preview" && settings.comment && change !== undefined;
  const isIssue = command === "drift" && settings.issue && made !== undefined;
  if (!isComment && !isIssue) return 0;
  const token = process.env.IRM_CI_TOKEN;
  if (!token) {
    printError("irm ci report", `no ${isComment ? "comment" : "issue"}: ${host.words.token} is not set`);
    return isIssue ? made.code : 0;
  }
  const forge = host.forge(token);
  const marker: Marker = {
    kind: isComment ? "review" : "drift",
    subject: keyOf(settings),
    run: job.run.id,
    head: proposed?.head,
  };
  if (isComment) {
    const text = made ? reviewComment(made.text, job, host, pageOf(settings)) : noReviewComment(job, host);
    const written = await replaceComment(forge, change, marker, text);
    if (written === undefined) process.stdout.write("not written: a newer run has commented already\n");
    else host.setOutputs({ "comment-url": written.url });
    return 0;
  }
  const title = `Access differs from the program: ${subjectOf(settings).join(" ")}`;
  const written =
    made?.code === FOUND
      ? await keepIssue(forge, marker, title, `${made.text}\n<sub>[The run](${job.run.url})</sub>\n`)
      : await closeIssue(forge, marker, `Nothing differs any more: [the run](${job.run.url}).`);
  if (written !== undefined) host.setOutputs({ "issue-url": written.url });
  return 0;
};

const inJob = async (act: (context: Context) => number | Promise<number>) => {
  const { env } = process;
  const gitlab = env.GITLAB_CI === "true" ? gitlabHost(env) : undefined;
  const host = env.GITHUB_ACTIONS === "true" ? githubHost(env) : gitlab;
  if (host === undefined)
    throw new UsageError(
      "this is not a job of GitHub Actions or GitLab; elsewhere, use npx pulumi-irm review, pulumi up and npx pulumi-irm drift",
    );
  try {
    const job = host.job();
    const { settings, problems } = readSettings(env);
    const command = problems.some((one) => one.startsWith("command:")) ? undefined : commandOf(job, settings);
    if (command !== undefined) problems.push(...problemsOf(settings, command, env));
    if (command === undefined || problems.length > 0) throw new UsageError(problems.join("\n"));
    return await act({ host, job, settings, command, folder: resolve(settings.folder ?? ".irm-ci") });
  } catch (error) {
    if (error instanceof RefusedJob) host.summarize(`**Not run:** ${error.message}.`);
    if (error instanceof UserError || error instanceof UsageError) host.annotate("error", error.message);
    throw error;
  }
};
