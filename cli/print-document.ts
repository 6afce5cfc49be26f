// Prints a report that is a document, in each of the formats.
import { type Document, jsonText } from "../access/format/document/document.ts";
import { documentAsHtml, type PageExtras } from "../access/format/document/html.ts";
import { documentAsMarkdown } from "../access/format/document/markdown.ts";
import { documentAsText } from "../access/format/document/terminal.ts";
import { type Format, print, printStyled, stdoutStyle } from "./terminal.ts";

/** `report`: the content of the JSON. */
export const printDocument = (document: Document, report: object, format: Format, page?: PageExtras): void => {
  if (format === "terminal") printStyled(documentAsText(document, stdoutStyle()));
  else if (format === "markdown") print(documentAsMarkdown(document));
  else print(format === "json" ? jsonText(report) : documentAsHtml(document, page));
};
