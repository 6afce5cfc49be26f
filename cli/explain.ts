// `irm explain`: what to do about the errors on stdin, from docs/recovery.md.
import { text as textOf } from "node:stream/consumers";
import { styleText } from "node:util";
import { sectionsIn } from "./explain/find.ts";
import { type Section, sectionOf } from "./explain/page.ts";
import type { Format } from "./format.ts";
import { print, printError, printStyled } from "./terminal.ts";

export interface ExplainFlags {
  format: Exclude<Format, "html" | "markdown">;
}

const NOTHING_FOUND = 3;

const EMPTY = "stdin is empty; give it the output of the command that failed: npx pulumi-irm explain < up.log";
const NONE =
  "docs/recovery.md treats no error in this text; an error without an address says itself what to do, so read it to its end. " +
  "If the text is a part of the output, give all of it: npx pulumi-irm explain < up.log";

export const explain = async ({ format }: ExplainFlags): Promise<number> => {
  if (process.stdin.isTTY) process.stderr.write("paste the error, then ^D\n");
  const output = await textOf(process.stdin);
  const sections = sectionsIn(output).map(sectionOf);
  if (format === "json") print(`${JSON.stringify({ sections }, undefined, 2)}\n`);
  else if (sections.length > 0) printStyled(sections.map(sectionText).join("\n\n"));
  else printError("irm explain", output.trim() === "" ? EMPTY : NONE);
  return sections.length > 0 ? 0 : NOTHING_FOUND;
};

const sectionText = ({ title, address, text }: Section): string =>
  `${styleText("bold", title, { stream: process.stdout })}  ${address}\n\n${text}\n`;
