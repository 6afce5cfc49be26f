// The commands of `irm ci run`: a review, an update, or a report of drift. Each runs the engine once, and leaves its report in all formats.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Document, jsonText } from "../../access/format/document/document.ts";
import { documentAsMarkdown } from "../../access/format/document/markdown.ts";
import { documentAsText } from "../../access/format/document/terminal.ts";
import { driftDocument } from "../../access/format/drift.ts";
import { reviewAsHtml } from "../../access/format/html/review.ts";
import { reportAsJson, reviewDocument } from "../../access/format/review/document.ts";
import { CHANGE, DIGEST_ENV, fetchBase, mergedFolderOf, pageOf, REPORT, REPORT_JSON } from "../../ci/files.ts";
import { furtherRows, updateSummary } from "../../ci/post.ts";
import { type Command, type Job, RefusedJob, runsEngine, type Settings } from "../../ci/settings.ts";
import { EngineStateError } from "../../pulumi/state.ts";
import { printableLines, UserError } from "../../schema/index.ts";
import { ENGINE } from "../engine-command.ts";
import { printFailure } from "../failure.ts";
import { readChange } from "../files.ts";
import { hasPendingCreates } from "../left-behind.ts";
import { ownCommand } from "../own-command.ts";
import { printError, printStyled, SIGNALS, stdoutStyle } from "../terminal.ts";
import { driftCode, findDrift } from "./drift.ts";
import { recover } from "./recover.ts";
import { makeReview, reviewCode } from "./review.ts";

interface Outcome {
  code: number;
  /** by name; empty without a report */
  files: Readonly<Record<string, string>>;
  /** Markdown */
  summary?: string;
  /** of the change that another job may apply; absent: none may */
  digest?: string;
}

/** In the folder of the program. `folder`: of the job's files. */
export const runCommand = async (job: Job, settings: Settings, command: Command, folder: string): Promise<Outcome> => {
  const { env } = process;
  const identity = settings.identities[command];
  if (identity !== undefined) env.IRM_IDENTITY = identity;
  if (settings.cloudUrl !== undefined) env.PULUMI_BACKEND_URL = settings.cloudUrl;
  // The program must not print it by accident.
  delete env.IRM_CI_TOKEN;
  const given = command === "preview" ? { ...settings, branch: fetchedBase(settings, job) } : settings;
  try {
    // Of a policy, the review installs the packages of the base.
    const installsOwn = command === "preview" && settings.policy !== undefined;
    // With the lock file beside the program. Users of another package manager install them before.
    const isLocked = ["package-lock.json", "npm-shrinkwrap.json"].some(existsSync);
    if (runsEngine(settings, command) && !installsOwn && isLocked && !existsSync("node_modules")) {
      const { code } = await passOn("npm", ["ci", "--no-audit", "--no-fund"]);
      if (code !== 0) throw new UserError(`npm ci ended with ${code}; its messages are above`);
    }
    return await RUN[command](given, folder);
  } catch (error) {
    return { code: printFailure("irm ci run", error), files: {} };
  }
};

/** Fetches the branch with the rules and tests of a review. A push and a run by hand need it as well: their branch may be their author's own. */
const fetchedBase = ({ branch }: Settings, { event, mainBranch }: Job): string => {
  const main = branch ?? mainBranch;
  if (main === undefined)
    throw new RefusedJob(
      `this job of ${event} does not name the default branch, which rules and tests come from: give the input branch`,
    );
  fetchBase(main, process.cwd());
  return main;
};

const preview = async (settings: Settings, folder: string): Promise<Outcome> => {
  const { change, stack, policy, rules, tests, deny, allow, services, branch, identities } = settings;
  const judged = { rules, tests, branch, deny, allow, service: services };
  const as = change === undefined ? identities.up : undefined;
  const out = as === undefined ? undefined : join(folder, CHANGE);
  const made = await makeReview(change, change === undefined ? { ...judged, stack, policy, as, out } : judged);
  const summary = printReport(reviewDocument(made.report));
  const code = reviewCode(made);
  // The reviewed change also replaces a change of another job.
  const file = change ?? out;
  const digest = code === 0 && file !== undefined ? made.report.digest : undefined;
  const files = {
    ...{ [REPORT]: summary, [REPORT_JSON]: reportAsJson(made.report), [pageOf(settings)]: reviewAsHtml(made) },
    ...(file !== undefined && { [CHANGE]: readFileSync(file, "utf8") }),
    ...(digest !== undefined && { [DIGEST_ENV]: `IRM_CI_DIGEST=${digest}\n` }),
  };
  return { code, files, summary, digest };
};

const drift = async ({ stack, services, driftAllow: allow }: Settings): Promise<Outcome> => {
  const found = await findDrift({ stack, service: services, allow });
  const summary = printReport(driftDocument(found));
  return { code: driftCode(found), files: { [REPORT]: summary, [REPORT_JSON]: jsonText(found) }, summary };
};

/** Returns the report as Markdown. */
const printReport = (report: Document) => {
  printStyled(documentAsText(report, stdoutStyle()));
  return documentAsMarkdown(report);
};

/** Sends the requests of the reviewed change and no others: docs/change.md#apply. */
const apply = async ({ stack = "", digest = "", services, ...settings }: Settings): Promise<Outcome> => {
  const file = join(settings.changeFolder ?? "", CHANGE);
  const further =
    settings.apply === "merged"
      ? furtherRows(readChange(file), readChange(join(mergedFolderOf(settings), CHANGE)))
      : [];
  if (further.length > 0) {
    const rows = further.map((row) => `${JSON.stringify(row)}\n`).join("");
    const text = `The change gives or takes access that the review of the merged change did not show:\n${rows}`;
    process.stdout.write(printableLines(text));
    return { code: 3, files: {}, summary: updateSummary(stack, "is not what was merged", printableLines(text)) };
  }
  const [command, ...main] = ownCommand("main");
  const args = ["apply", file, "--stack", stack, "--digest", digest, ...services.flatMap((one) => ["--service", one])];
  const { code, output } = await passOn(command, [...main, ...args, "--yes"]);
  const how = code === 0 ? "succeeded" : code === 3 ? "is not all of what was reviewed" : "failed";
  return { code, files: {}, summary: updateSummary(stack, how, printableLines(output)) };
};

/** Refreshes, as the preview of the review did: otherwise the update would keep changes by hand that the review showed. */
const up = async ({ stack = "" }: Settings): Promise<Outcome> => {
  const args = ["up", "--yes", "--refresh", "--non-interactive", "--color", "never", "--stack", stack];
  const { code, output } = await passOn(ENGINE[0], args);
  const summary = updateSummary(stack, code === 0 ? "succeeded" : "failed", printableLines(output));
  if (code !== 0) return { code: 1, files: {}, summary };
  return { code: (await recoverLost(stack)) ? 0 : 1, files: {}, summary };
};

/**
 * Deletes records that a killed job created on a lost machine, unless the applied program declares them. Otherwise only the engine's state
 * would know of them. Prints doubts. Returns whether nothing failed.
 */
const recoverLost = async (stack: string): Promise<boolean> => {
  try {
    if (!(await hasPendingCreates(stack))) return true;
  } catch (error) {
    if (!(error instanceof EngineStateError)) throw error;
    printError("irm ci run", `what a killed job may have left is not known: ${error.message}`);
    return true;
  }
  const recovering = recover({ stack, yes: true, format: "terminal" });
  return (await recovering.catch((error) => printFailure("irm recover", error))) !== 1;
};

const RUN: Readonly<Record<Command, (settings: Settings, folder: string) => Promise<Outcome>>> = {
  preview,
  apply,
  up,
  drift,
};

const OUTPUT_MAX = 20_000;

/** Runs a program, shows its output, and keeps the end of it. Signals to this process go to the program. */
const passOn = async (program: string, args: readonly string[]): Promise<{ code: number; output: string }> => {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const forward = (signal: NodeJS.Signals) => void child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, forward);
  let output = "";
  // An engine that cannot begin gives the reason on stderr alone.
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      process[stream].write(text);
      output = (output + text).slice(-OUTPUT_MAX);
    });
  try {
    const [code] = await once(child, "close").catch((error: Error) => {
      throw new UserError(`cannot run ${program}: ${error.message}`);
    });
    return { code: code ?? 1, output };
  } finally {
    for (const signal of SIGNALS) process.off(signal, forward);
  }
};
