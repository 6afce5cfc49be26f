// `irm paths`: by which requests somebody could come to hold what they do not hold today.
import { pathsAsHtml } from "../access/format/paths/html.ts";
import { pathsAsJson } from "../access/format/paths/json.ts";
import { pathsAsMarkdown } from "../access/format/paths/markdown.ts";
import { pathsAsText } from "../access/format/paths/terminal.ts";
import { type LiveService, readLive } from "../access/graph/live.ts";
import { findPaths, type PathQuery, type Paths } from "../access/paths/path.ts";
import { mistakeText } from "../access/policy/index.ts";
import { workloadFromText } from "../access/policy/workload-text.ts";
import { isComplete } from "../access/query/answer.ts";
import { capabilityViolation, QuestionError, resolveQuestion } from "../access/query/question.ts";
import { clientErrorText, systemClient, systemConfig } from "./client.ts";
import type { Format } from "./format.ts";
import { print, printError, printStyled, stdoutStyle } from "./terminal.ts";
import { UsageError } from "./usage.ts";

export interface PathsFlags {
  from?: string;
  to?: string;
  at?: string;
  format: Format;
}

export const paths = async (flags: PathsFlags): Promise<number> => {
  const workload = workloadIn(flags.from);
  const violation =
    flags.to === undefined || flags.to === "owner" ? undefined : capabilityViolation(flags.to, ["owner"]);
  if (violation !== undefined) throw new UsageError(`--to: ${violation}`);
  try {
    const client = systemClient();
    const live = await readLive(client);
    const query = queryOf(live, flags, workload);
    const audience = systemConfig().baseUrl;
    const found = findPaths(live.graph, query, { notVisible: live.notVisible, audience, nowMs: client.clock.today() });
    printIn[flags.format](live, found);
    return 0;
  } catch (error) {
    const text = error instanceof QuestionError ? error.message : clientErrorText(error);
    if (text === undefined) throw error;
    printError("irm paths", text);
    return 1;
  }
};

/** A map in braces is a workload, as a test of access describes it. Anything else is an identity. */
const workloadIn = (text: string | undefined) => {
  if (text === undefined || !text.trimStart().startsWith("{")) return undefined;
  const { relationship, mistakes } = workloadFromText(text, "--from");
  if (relationship === undefined) throw new UsageError(mistakes.map(mistakeText).join("\n"));
  return relationship;
};

const queryOf = (
  { graph, notVisible }: LiveService,
  { from, to, at }: PathsFlags,
  relationship: ReturnType<typeof workloadIn>,
): PathQuery => {
  const question = resolveQuestion(
    graph,
    {
      ...(from !== undefined && relationship === undefined && { identity: from }),
      ...(at !== undefined && { group: at }),
      ...(to !== undefined && to !== "owner" && { capability: to }),
    },
    isComplete(notVisible),
  );
  return {
    ...(relationship && { from: { relationship } }),
    ...(question.identity && { from: { identity: question.identity.id } }),
    ...(question.group && { at: question.group.id }),
    ...(to !== undefined && { to: question.capability ?? to }),
  };
};

const printIn: Record<Format, (live: LiveService, found: Paths) => void> = {
  terminal: ({ graph, notVisible }, found) => printStyled(pathsAsText(graph, found, notVisible, stdoutStyle())),
  markdown: ({ graph, notVisible }, found) => print(pathsAsMarkdown(graph, found, notVisible)),
  json: ({ notVisible }, found) => print(pathsAsJson(found, notVisible)),
  html: ({ graph, notVisible }, found) => print(pathsAsHtml(graph, found, notVisible)),
};
