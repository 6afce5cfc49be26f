// A document for a terminal.
import { styleText } from "node:util";
import { printable } from "../../../schema/index.ts";
import { originFacts } from "../review/blocks.ts";
import type { Document, Part } from "./document.ts";

export interface TerminalOptions {
  color: boolean;
}

export const documentAsText = (
  { title: head, origin, sections: all, foot }: Document,
  { color }: TerminalOptions,
): string => {
  const style = (format: "bold" | "dim", text: string): string =>
    color ? styleText(format, text, { validateStream: false }) : text;
  const sections = all.filter(({ items }) => items.length > 0);
  return [
    style("bold", lineOf(head)),
    ...(origin ? originFacts(origin) : []).map(({ name, value }) => style("dim", printable(`${name}: ${value}`))),
    "",
    ...sections.flatMap(({ title, items }) => [
      style("bold", title),
      ...items.flatMap(({ parts, lines, isExcused }) => [
        style(isExcused ? "dim" : "bold", `- ${lineOf(parts)}`),
        ...lines.map((line) => `    ${lineOf(line)}`),
      ]),
      "",
    ]),
    ...(sections.length > 0 ? [style("dim", foot), ""] : []),
  ].join("\n");
};

const lineOf = (parts: readonly Part[]): string =>
  parts.map((part) => (typeof part === "string" ? part : printable(part.quoted))).join("");
