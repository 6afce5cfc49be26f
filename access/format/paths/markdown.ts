// Paths to more access as Markdown, for a comment: at most 60,000 bytes, and what is left out is counted.
import type { AccessGraph } from "../../graph/graph.ts";
import type { NotVisible } from "../../graph/live.ts";
import type { Paths } from "../../paths/path.ts";
import type { Proofs } from "../../paths/proof.ts";
import { hiddenLines } from "../answer/rows.ts";
import { COMMENT_BYTES_MAX, code } from "../markdown-text.ts";
import { countText } from "../words.ts";
import { NOT_SEARCHED, NOT_VISIBLE, type PathText, pathTexts, titleOf, totalsOf } from "./rows.ts";

/** The totals and the lists take this room. */
const BYTES_RESERVED = 10_000;
const LINE_MAX = 500;
const CAPABILITIES_SHOWN = 12;

export const pathsAsMarkdown = (
  graph: AccessGraph,
  found: Paths,
  notVisible: readonly NotVisible[],
  proofs?: Proofs,
): string => {
  const head = `## ${titleOf(graph, code)}\n\n${totalsOf(found)}\n`;
  let left = COMMENT_BYTES_MAX - BYTES_RESERVED - Buffer.byteLength(head);
  const blocks = pathTexts(graph, found.paths, proofs).map(pathMarkdown);
  const kept = blocks.filter((text) => {
    left -= Buffer.byteLength(text);
    return left > 0;
  });
  const omitted = blocks.length - kept.length;
  return [
    head,
    ...kept,
    omitted === 0 ? "" : `\n${countText(omitted, "path")} left out here; \`--format json\` has all.\n`,
    ...listOf(NOT_VISIBLE, hiddenLines(graph, notVisible)),
    ...listOf(NOT_SEARCHED, found.notSearched),
  ].join("");
};

const listOf = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`\n${title}\n\n`, ...lines.slice(0, 20).map((line) => `- ${code(line, LINE_MAX)}\n`)];

export const pathMarkdown = ({ from, assumes, gains, steps, assumptions, proof }: PathText): string =>
  [
    `\n**${code(from)}** could come to hold (${assumes}):\n\n`,
    ...gains.map(({ place, capabilities }) => {
      const rest = capabilities.length - CAPABILITIES_SHOWN;
      const shown = capabilities.slice(0, CAPABILITIES_SHOWN).map((one) => code(one));
      return `- at ${code(place)} and below: ${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}\n`;
    }),
    "\n",
    ...steps.map(({ by, request, body, why }, i) => {
      const sent = [code(request, LINE_MAX), ...(body === "" ? [] : [code(body, LINE_MAX)])].join(" ");
      return `${i + 1}. as ${code(by)}: ${sent}<br>${code(why, LINE_MAX)}\n`;
    }),
    ...(assumptions.length === 0 ? [] : ["\n"]),
    ...assumptions.map((text) => `If ${code(text, LINE_MAX)}.\n`),
    ...(proof === undefined ? [] : [`\n${code(proof, LINE_MAX)}\n`]),
  ].join("");
