// `irm access --unused 90d`: access that nobody needs, and its removal from a policy.
import { unusedDocument, unusedJson } from "../access/format/unused.ts";
import { countText, HIDES, hiddenLines } from "../access/format/words.ts";
import { type Live, readLive } from "../access/graph/live.ts";
import { removalOf } from "../access/policy/edit/entries.ts";
import { applyEdit, openPolicy } from "../access/policy/edit/open.ts";
import { roleReader } from "../access/query/answer.ts";
import { type Unused, unusedEntries, unusedIn } from "../access/query/unused.ts";
import { systemClient } from "./client.ts";
import type { Format } from "./format.ts";
import { printDocument } from "./print-document.ts";
import { warn } from "./terminal.ts";
import { UsageError } from "./usage.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** The service's clock shows whole seconds, rounded down. */
const ROUNDED_MS = 1000;

export const parseDays = (text: string): number => {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? [];
  if (days === undefined)
    throw new UsageError(`--unused takes a number of days such as 90d, not ${JSON.stringify(text)}`);
  return Number(days);
};

export const printUnused = async (days: number, format: Format, policy: string | undefined): Promise<void> => {
  const client = systemClient();
  // A policy with mistakes is reported before any request.
  const opened = policy === undefined ? undefined : openPolicy(policy);
  const live = await readLive(client);
  const unused = unusedIn(live, (await client.serviceNow()) + ROUNDED_MS - days * DAY_MS);
  warnOfHidden(live);
  if (opened === undefined) return printIn(format, unused, days);
  const { removal, notes } = unusedEntries(opened, unused, roleReader(live.graph, live.notVisible));
  const edit = removalOf(opened, removal);
  applyEdit(edit);
  printIn(format, unused, days);
  const done = `removed ${countText(edit.entries.length, "entry", "entries")} from ${opened.file}`;
  warn([[done, ...edit.entries].join("\n  "), ...notes].join("\n"));
};

const printIn = (format: Format, unused: Unused, days: number): void =>
  printDocument(unusedDocument(unused, days), unusedJson(unused), format);

const warnOfHidden = ({ graph, notVisible }: Live): void => {
  const lines = hiddenLines(
    graph,
    notVisible.filter(({ kind }) => HIDES.includes(kind)),
  );
  if (lines.length > 0) warn(`not visible to you, so this may be incomplete: ${lines.join("; ")}`);
};
