// A document as Markdown, for an issue: at most 60,000 bytes, and what is left out is counted. Texts of the API and of the preview
// stand in code, where they are neither markup nor mention.
import { COMMENT_BYTES_MAX, code } from "../markdown-text.ts";
import { originFacts } from "../review/blocks.ts";
import { type Block, type Item as FitItem, fitBlocks, whole } from "../review/fit.ts";
import { countText } from "../words.ts";
import type { Document, Item, Part, Section } from "./document.ts";

const VALUE_MAX = 500;

export const documentAsMarkdown = ({ title, origin, sections, foot: footText }: Document): string => {
  const facts = (origin ? originFacts(origin) : []).map(({ name, value }) => `${name} ${code(value)}`);
  const head = `## ${lineOf(title)}\n\n${facts.length > 0 ? `${facts.join(" · ")}\n\n` : ""}`;
  const blocks = sections.filter(({ items }) => items.length > 0).map(blockOf);
  const foot = blocks.length > 0 ? `\n<sub>${footText}</sub>\n` : "";
  const room = COMMENT_BYTES_MAX - Buffer.byteLength(head + foot);
  return head + (whole(blocks, room) ?? fitBlocks(blocks, room)) + foot;
};

const blockOf = ({ title, items }: Section): Block => ({
  head: `### ${title} (${items.length})\n\n`,
  items: items.map(itemOf),
  foot: "",
  share: 1,
  omittedText: (left) => omissionLine(countText(left.length, "entry", "entries")),
});

const omissionLine = (count: string): string => `\n${count} left out here; \`--format json\` has all.\n`;

const itemOf = ({ parts, lines, isExcused }: Item): FitItem => ({
  danger: isExcused ? 1 : 0,
  head: `- ${lineOf(parts)}\n`,
  lines: lines.map((line) => ({ danger: 1, text: `  - ${lineOf(line)}\n` })),
  foot: "",
  omittedText: (left) => `  - ${countText(left.length, "line")} left out here\n`,
});

const lineOf = (parts: readonly Part[]): string =>
  parts.map((part) => (typeof part === "string" ? part : code(part.quoted, VALUE_MAX))).join("");
