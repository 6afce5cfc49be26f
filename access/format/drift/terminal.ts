// A report of drift for a terminal.
import { styleText } from "node:util";
import { printable } from "../../../schema/index.ts";
import type { DriftReport } from "../../drift/report.ts";
import { originFacts } from "../review/blocks.ts";
import { FOOT, type Part, sectionsOf, titleOf } from "./rows.ts";

export interface TerminalOptions {
  color: boolean;
}

export const driftAsText = (report: DriftReport, { color }: TerminalOptions): string => {
  const style = (format: "bold" | "dim", text: string): string =>
    color ? styleText(format, text, { validateStream: false }) : text;
  const sections = sectionsOf(report).filter(({ items }) => items.length > 0);
  return [
    style("bold", titleOf(report)),
    ...(report.origin ? originFacts(report.origin) : []).map(({ name, value }) =>
      style("dim", printable(`${name}: ${value}`)),
    ),
    "",
    ...sections.flatMap(({ title, items }) => [
      style("bold", title),
      ...items.flatMap(({ parts, lines, isExcused }) => [
        style(isExcused ? "dim" : "bold", `- ${lineOf(parts)}`),
        ...lines.map((line) => `    ${lineOf(line)}`),
      ]),
      "",
    ]),
    ...(sections.length > 0 ? [style("dim", FOOT), ""] : []),
  ].join("\n");
};

const lineOf = (parts: readonly Part[]): string =>
  parts.map((part) => (typeof part === "string" ? part : printable(part.quoted))).join("");
