// A document as Markdown, for a comment or an issue: at most 60,000 bytes. Every section has a fixed part of them. Beyond that, the least
// dangerous items are omitted and counted. Texts of others are in code, where they are neither markup nor mention.
import { COMMENT_BYTES_MAX, code, codeWithMarks, docsAddress, htmlCode, pathOfRule } from "../markdown-text.ts";
import { countText } from "../words.ts";
import { type Document, type Item, type Line, type Part, type Section, shortened } from "./document.ts";

const VALUE_MAX = 500;
/** Maximum bytes of a line that counts the omitted items. */
const OMITTED_BYTES = 100;

export const documentAsMarkdown = ({ title, facts, sections, foot }: Document): string => {
  const shownFacts = facts.map(({ name, value }) => `${name} ${code(value)}`).join(" · ");
  const head = `## ${partsText(title)}\n\n${shownFacts && `${shownFacts}\n\n`}`;
  const end = foot && `\n<sub>${foot}</sub>\n`;
  const shares = sections.reduce((sum, { share = 1 }) => sum + share, 0);
  const bytesOfShare = (COMMENT_BYTES_MAX - bytesOf(head + end)) / shares;
  const shown = sections.filter(({ items }) => items.length > 0);
  return head + shown.map((one) => sectionText(one, bytesOfShare * (one.share ?? 1) - 1)).join("\n") + end;
};

const bytesOf = (text: string) => Buffer.byteLength(text);

/** The first texts that fit into the given bytes; `omitted` describes the number of the others. */
const firstThatFit = <T>(
  all: readonly T[],
  room: number,
  describe: (one: T) => string,
  omitted: (n: number) => string,
): string => {
  const texts: string[] = [];
  let left = room - OMITTED_BYTES;
  for (const one of all) {
    const text = describe(one);
    left -= bytesOf(text);
    if (left < 0) break;
    texts.push(text);
  }
  const rest = all.length - texts.length;
  return texts.join("") + (rest > 0 ? omitted(rest) : "");
};

const sectionText = ({ title, items, isBlocks = false, isMain, isFolded }: Section, room: number): string => {
  const named = `${title} (${items.length})`;
  const head = isMain ? "" : isFolded ? `<details><summary>${named}</summary>\n\n` : `### ${named}\n\n`;
  const end = isFolded ? "\n</details>\n" : "";
  const own = room - bytesOf(head + end);
  // One item must not push out the others.
  const most = items.length === 1 ? own - OMITTED_BYTES : own / 2;
  const text = firstThatFit(
    items,
    own,
    (item) => itemText(item, isBlocks, most),
    (count) => `\n${countText(count, "entry")} left out here; \`--format json\` has all.\n`,
  );
  return head + text + end;
};

/** Its lines are truncated. */
const itemText = ({ parts, lines = [], isOpen, summary }: Item, isBlock: boolean, room: number): string => {
  const [head, end, indent] = isBlock
    ? [
        `<details${isOpen ? " open" : ""}><summary>${partsText(parts, htmlCode)}${summary === undefined ? "" : `: ${summary}`}</summary>\n\n`,
        "\n</details>\n",
        "",
      ]
    : [`- ${partsText(parts)}\n`, "", "  "];
  const text = firstThatFit(
    lines.filter(({ isDetail }) => !isDetail),
    room - bytesOf(head + end),
    (one) => lineText(one, indent),
    (count) => `${indent}- ${countText(count, "line")} left out here\n`,
  );
  return head + text + end;
};

const lineText = ({ parts, sign, lines = [] }: Line, indent: string): string =>
  `${indent}- ${sign ? `**${sign}** ` : ""}${partsText(parts)}\n${lines.map((one) => lineText(one, `${indent}  `)).join("")}`;

const partsText = (parts: readonly Part[], show = code): string => {
  const last = parts.at(-1);
  const isList = typeof last === "object" && "capabilities" in last;
  return (isList ? [...shortened(parts.slice(0, -1)), ": ", ...shortened([last])] : shortened(parts))
    .map((part) => {
      if (typeof part === "string") return part;
      if ("quoted" in part) return show(part.quoted, VALUE_MAX);
      if ("name" in part) return show(part.name);
      if ("differs" in part) return codeWithMarks(part.differs, VALUE_MAX);
      if ("tag" in part) return part.tag;
      if ("rule" in part) return `[\`${part.rule}\`](${docsAddress(pathOfRule(part.rule))})`;
      return "mark" in part ? MARKS[part.mark] : "";
    })
    .join("");
};

const MARKS = { denied: ":no_entry: denied", allowed: "allowed", open: ":warning:" };
