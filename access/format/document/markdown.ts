// A document as Markdown, for a comment or an issue: at most 60,000 bytes. Where it has no room for all, every section has its fixed part,
// which ends with the least dangerous, and what is left out is counted. Texts of others stand in code, where they are neither markup nor
// mention.
import { COMMENT_BYTES_MAX, code, codeWithMarks, docsAddress, htmlCode, pathOfRule } from "../markdown-text.ts";
import { countText } from "../words.ts";
import { type Document, type Item, type Line, type Part, type Section, shortened } from "./document.ts";

const VALUE_MAX = 500;
/** Most bytes of a line that counts what is left out. */
const OMITTED_BYTES = 100;

export const documentAsMarkdown = ({ title, facts, sections: all, foot }: Document): string => {
  const shownFacts = facts.map(({ name, value }) => `${name} ${code(value)}`).join(" · ");
  const head = `## ${textOf(title)}\n\n${shownFacts && `${shownFacts}\n\n`}`;
  const end = foot && `\n<sub>${foot}</sub>\n`;
  const room = COMMENT_BYTES_MAX - bytes(head + end);
  const sections = all.filter(({ items }) => items.length > 0);
  const whole = sections.map((section) => sectionText(section, room));
  const text = whole.map((one) => one.text).join("\n");
  if (bytes(text) <= room && whole.every(({ isCut }) => !isCut)) return head + text + end;
  const unit = room / sections.reduce((sum, { share = 1 }) => sum + share, 0);
  return head + sections.map((one) => sectionText(one, unit * (one.share ?? 1) - 1).text).join("\n") + end;
};

const bytes = (text: string): number => Buffer.byteLength(text);

interface Cut {
  text: string;
  isCut: boolean;
}

/** The first texts that fit; `omitted` counts the others. */
const cut = <T>(
  all: readonly T[],
  room: number,
  textOf: (one: T, left: number) => Cut,
  omitted: (n: number) => string,
): Cut => {
  const texts: string[] = [];
  let left = room - OMITTED_BYTES;
  let isCut = false;
  for (const one of all) {
    const own = textOf(one, left);
    left -= bytes(own.text);
    if (left < 0) break;
    isCut ||= own.isCut;
    texts.push(own.text);
  }
  const rest = all.length - texts.length;
  return { text: texts.join("") + (rest > 0 ? omitted(rest) : ""), isCut: isCut || rest > 0 };
};

/** Of at most `room` bytes. */
const sectionText = ({ title, items, isBlocks, isMain, isFolded }: Section, room: number): Cut => {
  const named = `${title} (${items.length})`;
  const head = isMain ? "" : isFolded ? `<details><summary>${named}</summary>\n\n` : `### ${named}\n\n`;
  const end = isFolded ? "\n</details>\n" : "";
  const own = room - bytes(head + end);
  // One item must not push out the others.
  const most = items.length === 1 ? own - OMITTED_BYTES : own / 2;
  const { text, isCut } = cut(
    items,
    own,
    (item, left) => itemText(item, isBlocks === true, Math.min(left, most)),
    (count) => `\n${countText(count, "entry", "entries")} left out here; \`--format json\` has all.\n`,
  );
  return { text: head + text + end, isCut };
};

/** Its lines are cut. */
const itemText = ({ parts, lines = [], isOpen, summary }: Item, isBlock: boolean, room: number): Cut => {
  const [head, end, indent] = isBlock
    ? [
        `<details${isOpen ? " open" : ""}><summary>${textOf(parts, htmlCode)}${summary === undefined ? "" : `: ${summary}`}</summary>\n\n`,
        "\n</details>\n",
        "",
      ]
    : [`- ${textOf(parts)}\n`, "", "  "];
  const { text, isCut } = cut(
    lines.filter(({ isDetail }) => !isDetail),
    room - bytes(head + end),
    (one) => ({ text: lineText(one, indent), isCut: false }),
    (count) => `${indent}- ${countText(count, "line")} left out here\n`,
  );
  return { text: head + text + end, isCut };
};

const lineText = ({ parts, sign, lines = [] }: Line, indent: string): string =>
  `${indent}- ${sign ? `**${sign}** ` : ""}${textOf(parts)}\n${lines.map((one) => lineText(one, `${indent}  `)).join("")}`;

const textOf = (parts: readonly Part[], show = code): string => {
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
