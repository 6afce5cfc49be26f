// `irm rehearse`: the program's update against a copy of the organization, or the writes of a change that was made there before, in one of the
// formats. It changes nothing.
import { ChangeError, lifeFrom } from "../access/change/change.ts";
import { rehearsalAsHtml } from "../access/format/html/rehearsal.ts";
import { rehearsalAsJson } from "../access/format/rehearsal/json.ts";
import { rehearsalAsMarkdown } from "../access/format/rehearsal/markdown.ts";
import { rehearsalAsText } from "../access/format/rehearsal/terminal.ts";
import type { Preview } from "../access/preview/shape.ts";
import type { Rehearsal } from "../access/rehearsal/report.ts";
import type { Origin } from "../access/review/report.ts";
import { joinProposals } from "../access/review/services.ts";
import { checkChangeFile, readChange, writeChange } from "./change.ts";
import { systemConfig } from "./client.ts";
import { engineArguments } from "./engine-arguments.ts";
import type { Format } from "./format.ts";
import { originOf } from "./origin.ts";
import { printDocument } from "./print-document.ts";
import { type RehearsalFlags, rehearsalCode, rehearsalOptions, rehearseHere } from "./rehearse/here.ts";
import type { RunChange } from "./rehearse/rehearse.ts";
import { isAsRecorded, replayHere } from "./rehearse/replayed.ts";
import { proposerOf, reviewErrorText } from "./review.ts";
import { clientsOf, firstOf, readServices, servicesFrom } from "./services.ts";
import { print, printError, printStyled, stdoutStyle } from "./terminal.ts";
import { UsageError } from "./usage.ts";

export interface RehearseFlags extends RehearsalFlags {
  stack?: string;
  service?: readonly string[];
  /** the file for the change */
  out?: string;
  format: Format;
  /** words after `--` */
  engine?: readonly string[];
}

/** `file` is a change, or the first word after `--`; absent: the program of this folder runs. */
export const rehearse = async (file: string | undefined, own: RehearseFlags): Promise<number> => {
  const isWord = file?.startsWith("-") === true;
  const flags = isWord ? { ...own, engine: [file, ...(own.engine ?? [])] } : own;
  try {
    if (file !== undefined && !isWord) return await rehearseChange(file, flags);
    const { origin, rehearsal } = await makeRehearsal(flags);
    printIn[flags.format](rehearsal, origin);
    return rehearsalCode(rehearsal);
  } catch (error) {
    const text = error instanceof ChangeError ? error.message : reviewErrorText(error);
    if (text === undefined) throw error;
    printError("irm rehearse", text);
    return 1;
  }
};

const DIFFERS = 3;

const rehearseChange = async (file: string, flags: RehearseFlags): Promise<number> => {
  const idle = (["stack", "as", "rights", "rateLimit", "out"] as const).find((name) => flags[name] !== undefined);
  if (idle)
    throw new UsageError(`--${idle === "rateLimit" ? "rate-limit" : idle} is for a program, and ${file} is a change`);
  if (flags.engine?.length) throw new UsageError(`${flags.engine.join(" ")}: ${file} is a change, and no engine runs`);
  const services = servicesFrom(flags.service ?? [], process.env);
  const change = readChange(file);
  const { report, document } = await replayHere(change, file, clientsOf(systemConfig(), services));
  printDocument(document, report, flags.format);
  return isAsRecorded(report) ? 0 : DIFFERS;
};

const printIn: Record<Format, (rehearsal: Rehearsal, origin: Origin) => void> = {
  terminal: (rehearsal, origin) => printStyled(rehearsalAsText(rehearsal, origin, stdoutStyle())),
  markdown: (rehearsal, origin) => print(rehearsalAsMarkdown(rehearsal, origin)),
  json: (rehearsal, origin) => print(rehearsalAsJson({ origin, ...rehearsal })),
  html: (rehearsal, origin) => print(rehearsalAsHtml(rehearsal, origin)),
};

const makeRehearsal = async (flags: RehearseFlags): Promise<{ origin: Origin; rehearsal: Rehearsal }> => {
  const { stack, service = [], out } = flags;
  if (out !== undefined) checkChangeFile(out);
  const engine = engineArguments(flags.engine ?? []);
  const options = rehearsalOptions(flags);
  const services = servicesFrom(service, process.env);
  const { proposeBy, preview, clients, stack: name } = await proposerOf({ stack, engine }, services);
  if (!preview || !proposeBy) throw new TypeError("a program has a preview");
  const lives = await readServices(clients);
  const proposalOf = async (own: Preview) => joinProposals([...(await proposeBy(own, lives)).values()]);
  const proposal = await proposalOf(preview);
  const made: RunChange[] = [];
  const onChange = (change: RunChange): void => void made.push(change);
  const given = { ...options, stack, arguments: engine, preview, proposal, proposalOf, clients };
  const rehearsal = await rehearseHere({ ...given, ...(out !== undefined && { onChange }) });
  const place = { stack: name, service: [...clients.keys()].join(", "), folder: process.cwd() };
  const origin = originOf({ ...place, nowMs: firstOf(clients).clock.today() });
  for (const change of made) {
    const commit = origin.isModified ? {} : { ...(origin.commit !== undefined && { commit: origin.commit }) };
    const life = lifeFrom(await firstOf(clients).serviceNow());
    const head = { version: 1, operation: "up", stack: name ?? "", ...commit, ...life } as const;
    writeChange(out as string, { ...head, arguments: engine, ...change });
  }
  return { origin, rehearsal };
};
