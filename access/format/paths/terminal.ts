// Paths to more access for a terminal.
import { styleText } from "node:util";
import { printable } from "../../../schema/index.ts";
import type { AccessGraph } from "../../graph/graph.ts";
import type { NotVisible } from "../../graph/live.ts";
import type { Paths } from "../../paths/path.ts";
import type { Proofs } from "../../paths/proof.ts";
import { hiddenLines } from "../answer/rows.ts";
import type { TerminalOptions } from "../answer/terminal.ts";
import { capabilityWords, wrapWords } from "../wrap.ts";
import { NOT_SEARCHED, NOT_VISIBLE, type PathText, pathTexts, titleOf, totalsOf } from "./rows.ts";

type Style = (format: "bold" | "dim" | "yellow", text: string) => string;

export const pathsAsText = (
  graph: AccessGraph,
  found: Paths,
  notVisible: readonly NotVisible[],
  { color, width }: TerminalOptions,
  proofs?: Proofs,
): string => {
  const style: Style = (format, text) =>
    color ? styleText(format, printable(text), { validateStream: false }) : printable(text);
  const list = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ["", style("yellow", title), ...lines.map((line) => `  ${printable(line)}`)];
  return [
    style("bold", titleOf(graph)),
    "",
    ...pathTexts(graph, found.paths, proofs).flatMap((path) => [...pathLines(path, width, style), ""]),
    totalsOf(found),
    ...list(NOT_VISIBLE, hiddenLines(graph, notVisible)),
    ...list(NOT_SEARCHED, found.notSearched),
    "",
  ].join("\n");
};

export const pathLines = (
  { from, assumes, gains, steps, assumptions, proof }: PathText,
  width: number,
  style: Style,
): string[] => [
  `${style("bold", from)} could come to hold  ${style(assumes === "strict" ? "yellow" : "dim", assumes)}`,
  ...gains.flatMap(({ place, capabilities }) => [
    `  at ${printable(place)} and below`,
    ...wrapWords(capabilityWords(capabilities), width),
  ]),
  ...steps.flatMap(({ by, request, body, why }, i) => [
    `  ${i + 1}. ${printable(request)}`,
    ...(body === "" ? [] : [`     ${printable(shorten(body))}`]),
    ...wrapWords(`as ${by}: ${why}`.split(" "), width, "     ", "     "),
  ]),
  ...assumptions.flatMap((text) => wrapWords(`if ${text}`.split(" "), width, "  ", "    ")),
  ...(proof === undefined ? [] : wrapWords(proof.split(" "), width, "  ", "    ")),
];

const BODY_MAX = 300;

const shorten = (body: string): string => (body.length <= BODY_MAX ? body : `${body.slice(0, BODY_MAX)}…`);
