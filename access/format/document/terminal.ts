// A document for a terminal.
import { styleText } from "node:util";
import { printable } from "../../../schema/index.ts";
import { withArrows } from "../differences.ts";
import { pathOfRule } from "../markdown-text.ts";
import { type Document, type Item, type Line, type Part, type Section, shortened } from "./document.ts";

interface TerminalOptions {
  color: boolean;
  /** columns; default: lines are not wrapped */
  width?: number;
}

type Format = "bold" | "dim" | "red" | "yellow";

/** Limit for a list that may be long. */
const ITEMS_SHOWN = 20;

export const documentAsText = (
  { title, facts, sections, foot, isWrapped }: Document,
  { color, width = Number.POSITIVE_INFINITY }: TerminalOptions,
): string => {
  const style: Style = (format, text) => (color ? styleText(format, text, { validateStream: false }) : text);
  const most = isWrapped ? width : Number.POSITIVE_INFINITY;
  const wrapped = (format: Format, text: string) => wrap(text, "", "", most).map((one) => style(format, one));

  const lineTexts = ({ parts, sign, lines = [], isDetail, isWhole }: Line, indent: string): string[] => {
    if (isDetail) return [];
    const signed = sign === undefined ? "" : `${sign} `;
    const last = parts.at(-1);
    const list = typeof last === "object" && "capabilities" in last ? last : undefined;
    const text = partsText(list ? parts.slice(0, -1) : parts);
    const below = `${indent}    `;
    return [
      ...wrap(signed + text, indent, `${indent}  `, isWhole ? Number.POSITIVE_INFINITY : most).map((one) =>
        sign === undefined ? one : style(sign === "+" ? "yellow" : "dim", one),
      ),
      ...(list ? wrap(partsText([list]), below, below, width) : []),
      ...lines.flatMap((one) => lineTexts(one, below)),
    ];
  };

  const itemTexts = ({ parts, lines = [], isExcused }: Item, isBlock: boolean): string[] => {
    const [first, plain] = [isBlock ? "" : "- ", partsText(parts)];
    // Styled text must be on one line.
    const isStyled = parts.some((part) => typeof part === "object" && ("name" in part || "mark" in part));
    const head = isStyled ? [first + partsText(parts, style)] : wrap(plain, first, "  ", most);
    return [
      ...(parts.length === 0 ? [] : isExcused ? head.map((one) => style("dim", one)) : head),
      ...lines.flatMap((one) => lineTexts(one, isBlock ? "  " : "    ")),
      ...parts.flatMap((part) =>
        typeof part === "object" && "rule" in part ? style("dim", `    ${pathOfRule(part.rule)}`) : [],
      ),
      ...(isBlock ? [""] : []),
    ];
  };

  const sectionTexts = ({ title: own, items, isBlocks = false, isMain, isLong }: Section) => {
    if (items.length === 0) return [];
    const shown = isLong ? items.slice(0, ITEMS_SHOWN) : items;
    const rest = items.length - shown.length;
    return [
      ...(isMain ? [] : [style("bold", own)]),
      ...shown.flatMap((item) => itemTexts(item, isBlocks)),
      ...(rest > 0 ? [`${isBlocks ? "" : "- "}and ${rest} more${HINT}`] : []),
      ...(isBlocks && rest <= 0 ? [] : [""]),
    ];
  };

  return [
    ...(title.length === 0 ? [] : wrapped("bold", partsText(title))),
    ...facts.map(({ name, value }) => style("dim", printable(`${name}: ${value}`))),
    ...(title.length === 0 ? [] : [""]),
    ...sections.flatMap(sectionTexts),
    ...(foot === "" ? [] : [...wrapped("dim", foot), ""]),
  ].join("\n");
};

const MARKS = {
  denied: { text: "DENIED", format: "red" },
  allowed: { text: "allowed", format: "dim" },
  open: { text: "!", format: "yellow" },
} as const;

const HINT = " (--format json lists all)";

type Style = (format: Format, text: string) => string;

const partsText = (parts: readonly Part[], style: Style = (_, text) => text) =>
  shortened(parts, HINT)
    .map((part) => {
      if (typeof part === "string") return part;
      if ("quoted" in part) return printable(part.quoted);
      if ("name" in part) return style("bold", printable(part.name));
      if ("differs" in part) return printable(withArrows(part.differs));
      if ("tag" in part) return style("yellow", part.tag);
      if ("rule" in part) return style("bold", part.rule);
      return "mark" in part ? style(MARKS[part.mark].format, MARKS[part.mark].text) : "";
    })
    .join("");

/** A word that is longer than a line has its own line. */
const wrap = (text: string, first: string, indent: string, width: number): string[] => {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.split(" ")) {
    if (!isEmpty && line.length + 1 + word.length > width) {
      lines.push(line.trimEnd());
      line = indent;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
};
