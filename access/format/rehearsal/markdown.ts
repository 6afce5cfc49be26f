// A rehearsal as Markdown, for a comment on a pull request: at most 60,000 bytes, and what is left out is counted.
import type { Rehearsal } from "../../rehearsal/report.ts";
import type { Origin } from "../../review/report.ts";
import { COMMENT_BYTES_MAX, code } from "../markdown-text.ts";
import { originFacts } from "../review/blocks.ts";
import { fitBlocks, whole } from "../review/fit.ts";
import { sectionBlock } from "../review/markdown.ts";
import { FOOT, factsOf, rehearsalLimits, rehearsalSections, titleOf } from "./sections.ts";

export const rehearsalAsMarkdown = (rehearsal: Rehearsal, origin: Origin): string => {
  const facts = [...originFacts(origin), ...factsOf(rehearsal)].map(({ name, value }) => `${name} ${code(value)}`);
  const head = `## ${titleOf(rehearsal)}\n\n${facts.join(" · ")}\n\n`;
  const foot = `\n<sub>${FOOT}</sub>\n`;
  const room = COMMENT_BYTES_MAX - Buffer.byteLength(head + foot);
  const blocks = [
    ...rehearsalLimits(rehearsal).map((one) => sectionBlock(one, DANGER.limit, true)),
    ...rehearsalSections(rehearsal).map((one) => sectionBlock(one, DANGER.section)),
  ].filter(({ items }) => items.length > 0);
  return head + (whole(blocks, room) ?? fitBlocks(blocks, room)) + foot;
};

const DANGER = { limit: 0, section: 1 };
