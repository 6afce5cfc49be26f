// `irm ci`: the steps of a pipeline's job, which action.yml and templates/gitlab.yml call. They plan what it may do, run it, and report it.
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
import { githubHost } from "../../ci/github.ts";
import { gitlabHost } from "../../ci/gitlab.ts";
import type { Host } from "../../ci/host.ts";
import { closeIssue, keepIssue, type Marker, mergedReview, replaceComment } from "../../ci/post.ts";
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
import { driftEnded, driftIssue, driftTitle, noReviewComment, reviewComment } from "../../ci/text.ts";
import { UserError } from "../../schema/index.ts";
import { isAccessible } from "../files.ts";
import type { IrmCommand } from "../irm-command.ts";
import { printError, printNotice } from "../terminal.ts";
import { UsageError } from "../usage.ts";
import { folderOf } from "./recover-journal.ts";

export const defineCommand = (command: IrmCommand): void => {
  command
    .usage("COMMAND")
    .description(
      "The steps that action.yml and templates/gitlab.yml call. Each takes the inputs of the action from variables, such as stack-name from IRM_CI_STACK_NAME.",
    )
    .helpCommand(false);
  const step = (name: string, description: string, act: () => Promise<number>): void =>
    void command.command(name).description(description).runs(act);
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
const FOLDER = ".irm-ci";

/** Decides before anything of a change is installed or run, and says what the next steps need. */
const plan = () =>
  inJob(({ host, settings, command }) => {
    const { env } = process;
    const needsEngine = runsEngine(settings, command);
    host.setOutputs({
      command,
      inputs: inputsText(env),
      folder: join(env.RUNNER_TEMP ?? "", `irm-ci-${randomUUID()}`),
      engine: String(needsEngine && !isOnPath("pulumi", env)),
      // A review leaves it, and an update takes it from there.
      change: changeNameOf(settings),
      "change-folder": join(env.RUNNER_TEMP ?? "", `irm-change-${randomUUID()}`),
      // A folder that is configured outlives the job by itself.
      journal: needsEngine && !env.IRM_JOURNAL ? folderOf({}) : "",
      // The key of one stack is no prefix of another one: `production:dev::` is for the stack dev in the folder production.
      "journal-key": `irm-journal:${keyOf(settings)}::`,
    });
    process.stdout.write(`${command} of ${subjectOf(settings).join(" ") || "a change of another job"}\n`);
    return 0;
  });

/** Whether the reviewed change may be applied. This step has the token, and runs nothing of the program. */
const approval = () =>
  inJob(async ({ host, job, settings, command }) => {
    if (command !== "apply") return 0;
    const token = process.env.IRM_CI_TOKEN ?? "";
    if (settings.apply === "approved") {
      const unseen = await host.forge(token).unseenApproval();
      if (unseen === undefined) return 0;
      host.annotate("notice", unseen);
      printNotice("irm ci approval", unseen);
      return 0;
    }
    if (!token)
      throw new RefusedJob(`${host.words.token} is not set, so the review of what was merged cannot be found`);
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
  });

/** Runs the command, and leaves its report in files. */
const run = () =>
  inJob(async (context) => {
    const { host, settings, command, folder } = context;
    makeFolder(folder);
    enter(settings.workDir);
    const { runCommand } = await import("./ci-run.ts");
    const { code, files, summary, digest } = await host.withoutCommands(() => runCommand(context));
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
    // The issue says so: a job that fails each night as well would say nothing more.
    return isDelivered ? 0 : code;
  });

const FOUND_TEXT: Readonly<Record<Command, string>> = {
  preview: "findings of denied rules, or failed tests of access: the review has them",
  drift: "access differs from the program",
  apply: "the change is not the one that was reviewed, or not all of it was applied: the log says why",
  up: "up failed",
};

/** Writes the comment or the issue. This step has the token for it, and the step that runs the program has not. */
const report = () =>
  inJob(async ({ host, job, settings, command, folder }) => {
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
    const written =
      made?.code === FOUND
        ? await keepIssue(forge, marker, driftTitle(subjectOf(settings)), driftIssue(made.text, job))
        : await closeIssue(forge, marker, driftEnded(job));
    if (written !== undefined) host.setOutputs({ "issue-url": written.url });
    return 0;
  });

const inJob = async (act: (context: Context) => number | Promise<number>): Promise<number> => {
  const host = hostOf(process.env);
  if (host === undefined)
    throw new UsageError(
      "this is not a job of GitHub Actions or GitLab; elsewhere, use npx pulumi-irm review, pulumi up and npx pulumi-irm drift",
    );
  try {
    const job = host.job();
    const { settings, problems } = readSettings(process.env);
    const command = problems.some((one) => one.startsWith("command:")) ? undefined : commandOf(job, settings);
    if (command !== undefined) problems.push(...problemsOf(settings, command, process.env));
    if (command === undefined || problems.length > 0) throw new UsageError(problems.join("\n"));
    return await act({ host, job, settings, command, folder: resolve(settings.folder ?? FOLDER) });
  } catch (error) {
    if (error instanceof RefusedJob) host.summarize(`**Not run:** ${error.message}.`);
    if (error instanceof UserError || error instanceof UsageError) host.annotate("error", error.message);
    throw error;
  }
};

const hostOf = (env: NodeJS.ProcessEnv) => {
  if (env.GITHUB_ACTIONS === "true") return githubHost(env);
  if (env.GITLAB_CI === "true") return gitlabHost(env);
  return undefined;
};

const enter = (folder: string) => {
  try {
    process.chdir(folder);
  } catch (error) {
    throw new UsageError(`work-dir: cannot enter ${JSON.stringify(folder)}: ${(error as Error).message}`);
  }
};

const isOnPath = (name: string, { PATH = "" }: NodeJS.ProcessEnv) =>
  PATH.split(delimiter).some((folder) => folder !== "" && isAccessible(join(folder, name), constants.X_OK));
