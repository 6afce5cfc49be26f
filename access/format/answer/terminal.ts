// An answer for a terminal.
import { styleText } from "node:util";
import { printable } from "../../../schema/index.ts";
import type { Answer } from "../../query/answer.ts";
import {
  type HeldBy,
  hiddenLines,
  holdingsIn,
  NO_GRANTS,
  NO_VISIBLE_GRANTS,
  NOT_READABLE,
  titleOf,
  totalsOf,
  whoText,
} from "./rows.ts";

export interface TerminalOptions {
  color: boolean;
  /** columns */
  width: number;
}

// A built-in role has up to two hundred.
const CAPABILITIES_SHOWN = 24;

export const answerAsText = (answer: Answer, { color, width }: TerminalOptions): string => {
  const style = (format: "bold" | "dim" | "yellow", text: string): string =>
    color ? styleText(format, printable(text), { validateStream: false }) : printable(text);
  const held = holdingsIn(answer);
  const blocks = held.map((one) => blockOf(one, answer.question.capability !== undefined, width, style));
  const hidden = hiddenLines(answer.graph, answer.notVisible);
  const none = hidden.length === 0 ? NO_GRANTS : NO_VISIBLE_GRANTS;
  return [
    style("bold", titleOf(answer)),
    "",
    ...(held.length === 0 ? [none] : blocks.flatMap((block) => [...block, ""])),
    ...(held.length === 0 ? [] : [totalsOf(held)]),
    ...(hidden.length === 0 ? [] : ["", style("yellow", "Not visible to you, so access may be missing here:")]),
    ...hidden.map((line) => `  ${printable(line)}`),
    "",
  ].join("\n");
};

type Style = (format: "bold" | "dim" | "yellow", text: string) => string;

const blockOf = (held: HeldBy, isOneCapability: boolean, width: number, style: Style): string[] => {
  const { name, uid, path, places } = held;
  return [
    [style("bold", name), path && style("dim", `in ${path}`), uid && style("dim", uid)].filter(Boolean).join("  "),
    ...wrapWords(whoText(held).split(" "), width, "  ", "      "),
    ...places.flatMap(({ path, role, capabilities }) => [
      `  ${printable(path)}  through ${style("bold", role)}${capabilities.length === 0 ? `  (${NOT_READABLE})` : ""}`,
      ...(isOneCapability ? [] : wrapWords(capabilityWords(capabilities), width)),
    ]),
  ];
};

const INDENT = "      ";

const capabilityWords = (capabilities: readonly string[]): string[] => {
  const rest = capabilities.length - CAPABILITIES_SHOWN;
  const words = capabilities
    .slice(0, CAPABILITIES_SHOWN)
    .map((one, i) => (i + 1 < capabilities.length ? `${one},` : one));
  return rest > 0 ? [...words, `and ${rest} more (--format json has all)`] : words;
};

const wrapWords = (words: readonly string[], width: number, first = INDENT, indent = INDENT): string[] => {
  const rows: string[] = [];
  for (const word of words.map(printable)) {
    const last = rows.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) rows[rows.length - 1] = `${last} ${word}`;
    else rows.push((rows.length === 0 ? first : indent) + word);
  }
  return rows;
};
