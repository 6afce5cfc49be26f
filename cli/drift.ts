// `irm drift`: what differs between the program of this folder and the service, in one of the formats. It changes nothing.
import { driftOf } from "../access/drift/index.ts";
import type { JournalEntry } from "../access/drift/pending.ts";
import { type DriftReport, driftDocument, hasDifferences, PULL_TOKENS } from "../access/format/drift.ts";
import type { Proposal } from "../access/review/proposal.ts";
import { noEntryText, recordedFor } from "../access/roles/lock.ts";
import { DRIFT_PREVIEW } from "../client/preview-marks.ts";
import { stackOfUrn } from "../pulumi/urn.ts";
import { isUidp } from "../schema/index.ts";
import { contentsOf, folderOf, isPending, journalsIn } from "./journal.ts";
import { previewHere } from "./preview.ts";
import { printDocument } from "./print-document.ts";
import { lockBeside } from "./roles.ts";
import { runOnTwins } from "./run/on-twins.ts";
import { proposalsOf, untilStopped } from "./run/proposal.ts";
import { firstOf, originOf, servicesFrom } from "./services.ts";
import type { Format } from "./terminal.ts";
import { UsageError } from "./usage.ts";

export interface DriftFlags {
  stack?: string;
  service?: readonly string[];
  allow?: readonly string[];
  format: Exclude<Format, "html">;
}

const DIFFERS = 3;

export const drift = async (flags: DriftFlags): Promise<number> => {
  const report = await findDrift(flags);
  printDocument(driftDocument(report), report, flags.format);
  return driftCode(report);
};

/** The exit code of a report. */
export const driftCode = (report: DriftReport): number => (hasDifferences(report) ? DIFFERS : 0);

/** Throws a UsageError for wrong flags, and UserErrors. */
export const findDrift = async ({
  stack,
  service = [],
  allow = [],
}: Omit<DriftFlags, "format">): Promise<DriftReport> => {
  const services = servicesFrom(service, process.env);
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
  const place = {
    stack: stackOfUrn(preview.steps[0]?.urn) ?? stack,
    service: [...clients.keys()].join(", "),
    folder: cwd,
  };
  return driftOf({
    ...{ origin: originOf({ ...place, nowMs }), run, preview },
    services: run.services.map(({ address, copy, before }, i) => ({
      ...{ address, copy, live: before, isFirst: i === 0 },
      proposal: proposals.get(address) as Proposal,
      isHere: hereAt(address),
      recorded: recordedFor(address, lock),
      missing: noEntryText(address, lock),
    })),
    entries: await openCreates(),
    callers: new Set(callers.filter(isUidp)),
    allowed: new Set(allow),
    nowMs,
  });
};

/** Those of all journals of this machine. */
const openCreates = async (): Promise<JournalEntry[]> => {
  const contents = await Promise.all(journalsIn(folderOf({})).map(contentsOf));
  return contents.flatMap(({ entries }) => entries.filter(isPending));
};
