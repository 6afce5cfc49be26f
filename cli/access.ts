// `irm access`: what the API's bindings grant, as an answer in one of the formats, or what of it nobody needs.
import { answerAsHtml } from "../access/format/answer/html.ts";
import { answerAsJson } from "../access/format/answer/json.ts";
import { answerAsMarkdown } from "../access/format/answer/markdown.ts";
import { answerAsText } from "../access/format/answer/terminal.ts";
import { readLive } from "../access/graph/live.ts";
import { PolicyEditError } from "../access/policy/edit/document.ts";
import { type Answer, answerOf } from "../access/query/answer.ts";
import { capabilityViolation, QuestionError, type QuestionText } from "../access/query/question.ts";
import { clientErrorText, systemClient } from "./client.ts";
import type { Format } from "./format.ts";
import { print, printError, printStyled, stdoutStyle } from "./terminal.ts";
import { parseDays, printUnused } from "./unused.ts";
import { UsageError } from "./usage.ts";

export interface AccessFlags extends QuestionText {
  format: Format;
  unused?: string;
  write?: string;
}

export const access = async ({ format, unused, write, ...question }: AccessFlags): Promise<number> => {
  const days = unused === undefined ? undefined : parseDays(unused);
  if (days === undefined && write !== undefined) throw new UsageError("--write is for --unused");
  if (days !== undefined) checkUnusedFlags(format, question);
  const violation = question.capability === undefined ? undefined : capabilityViolation(question.capability);
  if (violation !== undefined) throw new UsageError(`--capability: ${violation}`);
  try {
    if (days !== undefined) {
      await printUnused(days, format, write);
      return 0;
    }
    const client = systemClient();
    printIn[format](answerOf(await readLive(client), question, client.clock.today()));
    return 0;
  } catch (error) {
    const isOurs = error instanceof QuestionError || error instanceof PolicyEditError;
    const text = isOurs ? error.message : clientErrorText(error);
    if (text === undefined) throw error;
    printError("irm access", text);
    return 1;
  }
};

const checkUnusedFlags = (format: Format, question: QuestionText): void => {
  const [flag] = Object.keys(question);
  if (flag !== undefined) throw new UsageError(`--unused and --${flag} cannot be combined`);
  if (format !== "terminal" && format !== "json")
    throw new UsageError(`--unused prints terminal or json, not ${format}`);
};

const printIn: Record<Format, (answer: Answer) => void> = {
  terminal: (answer) => printStyled(answerAsText(answer, stdoutStyle())),
  markdown: (answer) => print(answerAsMarkdown(answer)),
  json: (answer) => print(answerAsJson(answer)),
  html: (answer) => print(answerAsHtml(answer)),
};
