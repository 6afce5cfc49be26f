// An answer for a terminal.
import { styleText } from "node:util";
import { printable } from "../../../schema/index.ts";
import type { Answer } from "../../query/answer.ts";
import { capabilityWords, wrapWords } from "../wrap.ts";
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
