// `irm access`: what the API's bindings grant, as an answer in one of the formats.
import { answerAsHtml } from "../access/format/answer/html.ts";
import { answerAsJson } from "../access/format/answer/json.ts";
import { answerAsMarkdown } from "../access/format/answer/markdown.ts";
import { answerAsText } from "../access/format/answer/terminal.ts";
import { readLive } from "../access/graph/live.ts";
import { type Answer, answerOf } from "../access/query/answer.ts";
import { capabilityViolation, QuestionError, type QuestionText } from "../access/query/question.ts";
import { clientErrorText, systemClient } from "./client.ts";
import type { Format } from "./format.ts";
import { print, printError, printStyled, stdoutStyle } from "./terminal.ts";
import { UsageError } from "./usage.ts";

export interface AccessFlags extends QuestionText {
  format: Format;
}

export const access = async ({ format, ...question }: AccessFlags): Promise<number> => {
  const violation = question.capability === undefined ? undefined : capabilityViolation(question.capability);
  if (violation !== undefined) throw new UsageError(`--capability: ${violation}`);
  try {
    const client = systemClient();
    printIn[format](answerOf(await readLive(client), question, client.clock.today()));
    return 0;
  } catch (error) {
    const text = error instanceof QuestionError ? error.message : clientErrorText(error);
    if (text === undefined) throw error;
    printError("irm access", text);
    return 1;
  }
};

const printIn: Record<Format, (answer: Answer) => void> = {
  terminal: (answer) => printStyled(answerAsText(answer, stdoutStyle())),
  markdown: (answer) => print(answerAsMarkdown(answer)),
  json: (answer) => print(answerAsJson(answer)),
  html: (answer) => print(answerAsHtml(answer)),
};
