// `irm rehearse`: the program's update against a copy of the organization, in one of the formats. It changes nothing.
import { rehearsalAsHtml } from "../access/format/html/rehearsal.ts";
import { rehearsalAsJson } from "../access/format/rehearsal/json.ts";
import { rehearsalAsMarkdown } from "../access/format/rehearsal/markdown.ts";
import { rehearsalAsText } from "../access/format/rehearsal/terminal.ts";
import type { Preview } from "../access/preview/shape.ts";
import type { Rehearsal } from "../access/rehearsal/report.ts";
import type { Origin } from "../access/review/report.ts";
import { joinProposals } from "../access/review/services.ts";
import { engineArguments } from "./engine-arguments.ts";
import type { Format } from "./format.ts";
import { originOf } from "./origin.ts";
import { type RehearsalFlags, rehearsalCode, rehearsalOptions, rehearseHere } from "./rehearse/here.ts";
import { proposerOf, reviewErrorText } from "./review.ts";
import { firstOf, readServices, servicesFrom } from "./services.ts";
import { print, printError, printStyled, stdoutStyle } from "./terminal.ts";

export interface RehearseFlags extends RehearsalFlags {
  stack?: string;
  service?: readonly string[];
  format: Format;
  /** words after `--` */
  engine?: readonly string[];
}

export const rehearse = async (flags: RehearseFlags): Promise<number> => {
  try {
    const { origin, rehearsal } = await makeRehearsal(flags);
    printIn[flags.format](rehearsal, origin);
    return rehearsalCode(rehearsal);
  } catch (error) {
    const text = reviewErrorText(error);
    if (text === undefined) throw error;
    printError("irm rehearse", text);
    return 1;
  }
};

const printIn: Record<Format, (rehearsal: Rehearsal, origin: Origin) => void> = {
  terminal: (rehearsal, origin) => printStyled(rehearsalAsText(rehearsal, origin, stdoutStyle())),
  markdown: (rehearsal, origin) => print(rehearsalAsMarkdown(rehearsal, origin)),
  json: (rehearsal, origin) => print(rehearsalAsJson({ origin, ...rehearsal })),
  html: (rehearsal, origin) => print(rehearsalAsHtml(rehearsal, origin)),
};

const makeRehearsal = async (flags: RehearseFlags): Promise<{ origin: Origin; rehearsal: Rehearsal }> => {
  const { stack, service = [] } = flags;
  const engine = engineArguments(flags.engine ?? []);
  const options = rehearsalOptions(flags);
  const services = servicesFrom(service, process.env);
  const { proposeBy, preview, clients, stack: name } = await proposerOf({ stack, engine }, services);
  if (!preview || !proposeBy) throw new TypeError("a program has a preview");
  const lives = await readServices(clients);
  const proposalOf = async (own: Preview) => joinProposals([...(await proposeBy(own, lives)).values()]);
  const proposal = await proposalOf(preview);
  const rehearsal = await rehearseHere({
    ...options,
    stack,
    arguments: engine,
    preview,
    proposal,
    proposalOf,
    clients,
  });
  const place = { stack: name, service: [...clients.keys()].join(", "), folder: process.cwd() };
  return { origin: originOf({ ...place, nowMs: firstOf(clients).clock.today() }), rehearsal };
};
