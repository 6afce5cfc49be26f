// `irm access`: what the API's bindings grant, as an answer in one of the formats, or what of it nobody needs.
import { answerDocument } from "../access/format/answer/document.ts";
import { answerAsHtml } from "../access/format/answer/html.ts";
import { answerJson } from "../access/format/answer/json.ts";
import { pullTokensDocument } from "../access/format/pull-token.ts";
import { type Live, readLive } from "../access/graph/live.ts";
import { answerOf } from "../access/query/answer.ts";
import { type PullToken, pullTokensIn } from "../access/query/pull-tokens.ts";
import { capabilityViolation, type QuestionText } from "../access/query/question.ts";
import { systemClient } from "./client.ts";
import type { Format } from "./format.ts";
import { printDocument } from "./print-document.ts";
import { print } from "./terminal.ts";
import { parseDays, printUnused } from "./unused.ts";
import { UsageError } from "./usage.ts";

export interface AccessFlags extends QuestionText {
  format: Format;
  unused?: string;
  write?: string;
  pullTokens?: true;
}

export const access = async ({ format, unused, write, pullTokens, ...question }: AccessFlags): Promise<number> => {
  const days = unused === undefined ? undefined : parseDays(unused);
  if (days === undefined && write !== undefined) throw new UsageError("--write is for --unused");
  if (days !== undefined) checkUnusedFlags(format, { ...(pullTokens && { "pull-tokens": pullTokens }), ...question });
  if (pullTokens) checkAlone("pull-tokens", question);
  const violation = question.capability === undefined ? undefined : capabilityViolation(question.capability);
  if (violation !== undefined) throw new UsageError(`--capability: ${violation}`);
  if (days !== undefined) {
    await printUnused(days, format, write);
    return 0;
  }
  const client = systemClient();
  const live = await readLive(client);
  if (pullTokens) printTokens(live, pullTokensIn(live, await client.serviceNow()), format);
  else {
    const answer = answerOf(live, question, client.clock.today());
    if (format === "html") print(answerAsHtml(answer));
    else printDocument(answerDocument(answer), answerJson(answer), format);
  }
  return 0;
};

const checkAlone = (flag: string, others: object): void => {
  const [other] = Object.keys(others);
  if (other !== undefined) throw new UsageError(`--${flag} and --${other} cannot be combined`);
};

const checkUnusedFlags = (format: Format, others: object): void => {
  checkAlone("unused", others);
  if (format !== "terminal" && format !== "json")
    throw new UsageError(`--unused prints terminal or json, not ${format}`);
};

const printTokens = (live: Live, tokens: readonly PullToken[], format: Format): void =>
  printDocument(pullTokensDocument(live, tokens), { pullTokens: tokens, notVisible: live.notVisible }, format);
