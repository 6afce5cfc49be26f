// `irm access`: the access by the API's bindings, as an answer in one of the formats, or the part of it that nobody needs.

import { answerAsHtml, answerDocument, answerJson } from "../../access/format/answer.ts";
import { pullTokensDocument } from "../../access/format/pull-token.ts";
import { unusedDocument, unusedJson } from "../../access/format/unused.ts";
import { countText, HIDES, hiddenLines } from "../../access/format/words.ts";
import { readLive } from "../../access/graph/live.ts";
import { removalOf } from "../../access/policy/edit/entries.ts";
import { applyEdit, openPolicy } from "../../access/policy/edit/open.ts";
import { answerOf, roleReader } from "../../access/query/answer.ts";
import { pullTokensIn } from "../../access/query/pull-tokens.ts";
import { capabilityViolation, type QuestionText } from "../../access/query/question.ts";
import { unusedEntries, unusedIn } from "../../access/query/unused.ts";
import { systemClient } from "../client.ts";
import { type IrmCommand, UsageError } from "../irm-command.ts";
import { printDocument } from "../print-document.ts";
import { type Format, print, warn } from "../terminal.ts";
import { definePaths } from "./access-paths.ts";
import { defineWhoAmI } from "./access-whoami.ts";

interface AccessFlags extends QuestionText {
  format: Format;
  unused?: string;
  write?: string;
  pullTokens?: true;
}

export const defineCommand = (command: IrmCommand): void => {
  command
    .description(
      "Prints what groups, identities, roles and bindings grant. Combine flags, such as an identity and a group. Without flags, prints all access.",
    )
    .option("--identity <UID|NAME>", "where this identity can act")
    .option("--group <UID|PATH>", "who can act at this group, including through bindings above; / is the organization")
    .option("--capability <NAME>", "who has this capability, such as groups.list")
    .option(
      "--unused <DAYSd>",
      "identities unused for this time, such as 90d; role bindings that another one covers; roles that nobody has",
    )
    .option("--write <FILE>", "with --unused: remove the results from this policy")
    .option(
      "--pull-tokens",
      "the credentials of container and package clients, with role, group, age, last use and expiration",
    )
    .formats("terminal", "markdown", "json", "html")
    .example("access --capability tag.create --group platform")
    .runs(access);
  defineWhoAmI(command.command("whoami"));
  definePaths(command.command("paths"));
};

const access = async ({ format, unused, write, pullTokens, ...question }: AccessFlags): Promise<number> => {
  const days = unused === undefined ? undefined : parseDays(unused);
  if (days === undefined && write !== undefined) throw new UsageError("--write is for --unused");
  if (days !== undefined) {
    checkAlone("unused", { ...(pullTokens && { "pull-tokens": pullTokens }), ...question });
    if (format !== "terminal" && format !== "json")
      throw new UsageError(`--unused prints terminal or json, not ${format}`);
  }
  if (pullTokens) checkAlone("pull-tokens", question);
  const violation = question.capability === undefined ? undefined : capabilityViolation(question.capability);
  if (violation !== undefined) throw new UsageError(`--capability: ${violation}`);
  if (days !== undefined) {
    await printUnused(days, format, write);
    return 0;
  }
  const client = systemClient();
  const live = await readLive(client);
  if (pullTokens) {
    const tokens = pullTokensIn(live, await client.serviceNow());
    printDocument(pullTokensDocument(live, tokens), { pullTokens: tokens, notVisible: live.notVisible }, format);
  } else {
    const answer = answerOf(live, question, client.clock.today());
    if (format === "html") print(answerAsHtml(answer));
    else printDocument(answerDocument(answer), answerJson(answer), format);
  }
  return 0;
};

const checkAlone = (flag: string, others: object) => {
  const [other] = Object.keys(others);
  if (other !== undefined) throw new UsageError(`--${flag} and --${other} cannot be combined`);
};

// `irm access --unused 90d`: access that nobody needs, and its removal from a policy.

const DAY_MS = 24 * 60 * 60 * 1000;
/** The service's clock shows whole seconds, rounded down. */
const ROUNDED_MS = 1000;

const parseDays = (text: string) => {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? [];
  if (days === undefined)
    throw new UsageError(`--unused takes a number of days such as 90d, not ${JSON.stringify(text)}`);
  return Number(days);
};

const printUnused = async (days: number, format: Format, policy: string | undefined): Promise<void> => {
  const client = systemClient();
  // Mistakes of the policy are errors before any request.
  const opened = policy === undefined ? undefined : openPolicy(policy);
  const live = await readLive(client);
  const unused = unusedIn(live, (await client.serviceNow()) + ROUNDED_MS - days * DAY_MS);
  const hidden = live.notVisible.filter(({ kind }) => HIDES.includes(kind));
  const lines = hiddenLines(live.graph, hidden);
  if (lines.length > 0) warn(`not visible to you, so this may be incomplete: ${lines.join("; ")}`);
  const show = () => printDocument(unusedDocument(unused, days), unusedJson(unused), format);
  if (opened === undefined) return show();
  const { removal, notes } = unusedEntries(opened, unused, roleReader(live.graph, live.notVisible));
  const edit = removalOf(opened, removal);
  applyEdit(edit);
  show();
  const done = `removed ${countText(edit.entries.length, "entry")} from ${opened.file}`;
  warn([[done, ...edit.entries].join("\n  "), ...notes].join("\n"));
};
