// `irm drift`: the differences between the program of this folder and the service, in one of the formats. It only reads.
import { digestOf } from "../../access/canonical.ts";
import { driftOf } from "../../access/drift/index.ts";
import { jsonText } from "../../access/format/document/document.ts";
import { documentAsText } from "../../access/format/document/terminal.ts";
import { type DriftReport, driftDocument, hasDifferences, PULL_TOKENS } from "../../access/format/drift.ts";
import { reviewDocument } from "../../access/format/review/document.ts";
import type { Proposal } from "../../access/review/proposal.ts";
import { noEntryText, recordedFor } from "../../access/roles/lock.ts";
import { DRIFT_PREVIEW } from "../../client/preview-marks.ts";
import { stackOfUrn } from "../../pulumi/urn.ts";
import { isUidp } from "../../schema/index.ts";
import { type IrmCommand, UsageError } from "../irm-command.ts";
import { printDocument } from "../print-document.ts";
import { runOnTwins } from "../run/on-twins.ts";
import { proposalsOf, untilStopped } from "../run/proposal.ts";
import { firstOf, originOf, previewHere, SERVICE_FLAG, servicesFrom } from "../services.ts";
import { ask, canAsk, type Format, print, printError, stdoutStyle } from "../terminal.ts";
import { applyChange } from "./apply.ts";
import { folderOf, pendingIn } from "./recover-journal.ts";
import { reviewCode, reviewProgram } from "./review.ts";
import { lockBeside } from "./roles.ts";

interface DriftFlags {
  stack?: string;
  service?: readonly string[];
  allow?: readonly string[];
  format: Exclude<Format, "html">;
}

const DIFFERS = 3;

export const defineCommand = (command: IrmCommand): void => {
  command
    .description(
      "Compares the service with an update of this folder's program on a copy. Exits with 3 if something differs or is not declared.",
    )
    .option("--stack <NAME>", "the stack to compare (default: the selected one)")
    .repeatable(...SERVICE_FLAG)
    .repeatable(
      "--allow <UID|pull-tokens>",
      "access that another program declares, given by the uid of a role binding or identity; pull-tokens allows every pull token that can only pull; repeatable",
    )
    .option("--repair", "review and apply the update of the unchanged program, which undoes manual changes")
    .option("-y, --yes", "with --repair: do not ask for confirmation")
    .formats("terminal", "markdown", "json")
    .example("drift --stack production")
    .runs(({ repair: isRepair, yes, ...flags }: DriftFlags & { repair?: boolean; yes?: boolean }) => {
      if (yes && !isRepair) throw new UsageError("--yes is for --repair");
      return isRepair ? repair({ ...flags, yes }) : drift(flags);
    });
};

const drift = async (flags: DriftFlags) => {
  const report = await findDrift(flags);
  printDocument(driftDocument(report), report, flags.format);
  return driftCode(report);
};

/** The exit code of a report. */
export const driftCode = (report: DriftReport): number => (hasDifferences(report) ? DIFFERS : 0);

/** Throws a UsageError for wrong flags, and UserErrors. */
export const findDrift = async ({ stack, service, allow = [] }: Omit<DriftFlags, "format">): Promise<DriftReport> => {
  const services = servicesFrom(service);
  const wrong = allow
    .filter((one) => one !== PULL_TOKENS && !isUidp(one))
    .map((one) => `--allow: ${JSON.stringify(one)} is neither a uid nor ${PULL_TOKENS}`);
  if (wrong.length > 0) throw new UsageError(wrong.join("\n"));
  const lock = lockBeside(undefined);
  const [cwd, env] = [process.cwd(), { ...process.env, [DRIFT_PREVIEW]: "1" }];
  const { previewed, run } = await untilStopped(async (signal) => {
    const previewed = await previewHere({ cwd, stack, services }, { env, signal });
    const { preview, clients } = previewed;
    return { previewed, run: await runOnTwins({ cwd, env, stack, preview, clients }, signal) };
  });
  const { preview, clients, hereAt } = previewed;
  const proposals = proposalsOf(run, previewed);
  const callers = await Promise.all([...clients.values()].map((one) => one.identity()));
  const nowMs = firstOf(clients).clock.today();
  return driftOf({
    origin: originOf(stackOfUrn(preview.steps[0]?.urn) ?? stack, [...clients.keys()].join(", "), nowMs),
    run,
    preview,
    services: run.services.map(({ address, copy, before }, i) => ({
      address,
      copy,
      live: before,
      isFirst: i === 0,
      proposal: proposals.get(address) as Proposal,
      isHere: hereAt(address),
      recorded: recordedFor(address, lock),
      missing: noEntryText(address, lock),
    })),
    entries: await pendingIn(folderOf({})),
    callers: new Set(callers.filter(isUidp)),
    allowed: new Set(allow),
    nowMs,
  });
};

/** `--repair`: reviews and applies the change that an update of the unchanged program would send. `yes`: without a question. */
const repair = async ({
  stack,
  service,
  allow,
  yes,
  format,
}: DriftFlags & { yes?: boolean | undefined }): Promise<number> => {
  if (allow !== undefined) throw new UsageError("--allow is not for --repair, which leaves what nothing declares");
  if (format === "markdown") throw new UsageError("--repair prints terminal or json");
  if (!yes && !canAsk()) throw new UsageError("there is no terminal to ask whether to go on; give --yes");
  const flags = { stack, service };
  const { made, content } = await reviewProgram(flags);
  // stdout has the report of the apply.
  process.stderr.write(documentAsText(reviewDocument(made.report), stdoutStyle()));
  const code = reviewCode(made);
  if (code !== 0) {
    printError("irm drift", "the review denies this change; nothing was applied");
    return code;
  }
  if (content.writes.length === 0) {
    const nothing = { applied: 0, refused: [], missing: 0, tokens: [], narrowed: true };
    print(format === "json" ? jsonText(nothing) : "there is nothing to repair\n");
    return 0;
  }
  if (!yes && !(await ask("Apply this change?"))) {
    printError("irm drift", "nothing was applied");
    return 1;
  }
  const change = { ...content, digest: digestOf(content) };
  return applyChange(change, { ...flags, file: "the change", yes: true, format });
};
