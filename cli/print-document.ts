// Prints a report that is a document, in each of the formats.
import type { Document } from "../access/format/document/document.ts";
import { documentAsHtml } from "../access/format/document/html.ts";
import { documentAsMarkdown } from "../access/format/document/markdown.ts";
import { documentAsText } from "../access/format/document/terminal.ts";
import type { Format } from "./format.ts";
import { print, printStyled, stdoutStyle } from "./terminal.ts";

/** `report` is what JSON has. */
export const printDocument = (document: Document, report: object, format: Format): void =>
  printIn[format](document, report);

const printIn: Record<Format, (document: Document, report: object) => void> = {
  terminal: (document) => printStyled(documentAsText(document, stdoutStyle())),
  markdown: (document) => print(documentAsMarkdown(document)),
  html: (document) => print(documentAsHtml(document)),
  json: (_, report) => print(`${JSON.stringify(report, undefined, 2)}\n`),
};
