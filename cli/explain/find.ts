// Finds the sections of docs/recovery.md in the output of a run: by the addresses that errors end with, by the messages that the page
// names, and where an error of the API has neither, by its code. Terminals wrap lines, cut them and colour them, so white space and
// colours do not count.
import { stripVTControlCharacters } from "node:util";
import { PAGE, RECOVERY, type RecoverySection, SECTION_OF_CODE } from "../../client/recovery.ts";
import { type Code, operations } from "../../schema/index.ts";

interface Hit {
  section: RecoverySection;
  /** in the text without white space */
  start: number;
  end: number;
}

/** Each section once, in the order of the text. */
export const sectionsIn = (output: string): RecoverySection[] => {
  const text = compact(output);
  const errorOf = errorsIn(text);
  const addresses = addressesIn(text);
  const lastAddress = new Map(addresses.map(({ start }) => [errorOf(start), start]));
  // The address of an error wins over the messages that it quotes.
  const isAddressed = ({ start }: Hit): boolean => start < (lastAddress.get(errorOf(start)) ?? -1);
  const found = [...addresses, ...outermost(messagesIn(output, text)).filter((hit) => !isAddressed(hit))];
  const explained = new Set(found.map(({ start }) => errorOf(start)));
  const all = [...found, ...codesIn(text).filter(({ start }) => !explained.has(errorOf(start)))];
  const sections = all.sort((a, b) => a.start - b.start).map(({ section }) => section);
  return [...new Set(sections.length > 0 ? sections : sectionsOfExcerpt(output))];
};

/** Of a line that begins with the code of its error: the method in front of it was not copied. */
const sectionsOfExcerpt = (output: string): RecoverySection[] =>
  [...stripVTControlCharacters(output).matchAll(EXCERPT)].flatMap(([, code]) => SECTION_OF_CODE[code as Code] ?? []);

const EXCERPT = new RegExp(`^\\s*(?:error:\\s*)?(${Object.keys(SECTION_OF_CODE).join("|")})\\b`, "gm");

/** The messages that the text has in full, and those that a line has cut. */
const messagesIn = (output: string, text: string): Hit[] => {
  const whole = messages.flatMap((one) => hitsOf(one, text));
  const starts = new Set(whole.map(({ start }) => start));
  return [...whole, ...cutHits(output).filter(({ start }) => !starts.has(start))];
};

/** Without those inside a longer one: `a run was interrupted while creating this` is not the engine's `interrupted while creating`. */
const outermost = (hits: readonly Hit[]): Hit[] => {
  let around: Pick<Hit, "start" | "end"> = { start: -1, end: -1 };
  return hits
    .toSorted((a, b) => a.start - b.start || b.end - a.end)
    .filter((hit) => {
      const isInside = hit.end <= around.end && (hit.start !== around.start || hit.end !== around.end);
      if (hit.end > around.end) around = hit;
      return !isInside;
    });
};

const compact = (text: string): string => stripVTControlCharacters(text).replace(/\s+/g, "");

/** By position, the error that the text there belongs to. */
const errorsIn = (text: string): ((at: number) => number) => {
  const starts = [...text.matchAll(ERROR)].map(({ index }) => index);
  return (at) => {
    let [low, high] = [0, starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] as number) <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
};

/** Where the engine, or a command, begins to print an error. */
const ERROR = /(?:error|warning|failed):|irm[a-z]+:/g;

/** Errors of the API, such as `CreateGroup group "team" in …: PERMISSION_DENIED: …`, and of the token exchange. */
const codesIn = (text: string): Hit[] =>
  [...text.matchAll(API_ERROR)].flatMap(({ 0: whole, 1: code, index }) => {
    const section = code === undefined ? "sign-in" : SECTION_OF_CODE[code as Code];
    return section === undefined ? [] : [{ section, start: index, end: index + whole.length }];
  });

/** Most characters between a method and the code of its error: the record and its group. */
const SUBJECT_MAX = 400;

const API_ERROR = new RegExp(
  `(?:irm[a-z]+:|(?:${Object.keys(operations).join("|")})(?:(?!error:|failed:).){0,${SUBJECT_MAX}}?:)(${Object.keys(SECTION_OF_CODE).join("|")}):|exchangingthetokenof`,
  "g",
);

interface Message {
  section: RecoverySection;
  /** the parts between what differs, without white space */
  parts: readonly string[];
}

const SECTIONS = Object.keys(RECOVERY) as RecoverySection[];

const messages: readonly Message[] = SECTIONS.flatMap((section) =>
  RECOVERY[section].map((text) => ({ section, parts: text.split("…").map(compact).filter(Boolean) })),
);

const addressesIn = (text: string): Hit[] =>
  [...text.matchAll(ADDRESS)].flatMap(({ 0: whole, 1: anchor, index }) => {
    // The next error may follow without white space.
    const section = SECTIONS.filter((one) => anchor?.startsWith(one)).sort((a, b) => b.length - a.length)[0];
    return section === undefined ? [] : [{ section, start: index, end: index + whole.length }];
  });

const ADDRESS = new RegExp(`${PAGE.replaceAll(".", "\\.")}#([a-z-]+)`, "g");

/** Most characters between two parts of a message: a path, a name, a reason. */
const GAP_MAX = 600;

const hitsOf = ({ section, parts }: Message, text: string): Hit[] => {
  const [first = "", ...others] = parts;
  const hits: Hit[] = [];
  for (let start = text.indexOf(first); start >= 0; start = text.indexOf(first, start + 1)) {
    const end = endOf(others, text, start + first.length);
    if (end !== undefined) hits.push({ section, start, end });
  }
  return hits;
};

const endOf = (parts: readonly string[], text: string, from: number): number | undefined => {
  let end = from;
  for (const part of parts) {
    const at = text.slice(end, end + GAP_MAX + part.length).indexOf(part);
    if (at < 0) return undefined;
    end += at + part.length;
  }
  return end;
};

/** Fewest characters of a message that a cut line must show. */
const SHOWN_MIN = 18;

/** Messages whose line ends before they do. Of those that begin at one place, the ones of which the line shows most. */
const cutHits = (output: string): Hit[] => {
  let offset = 0;
  const hits: Hit[] = [];
  for (const line of output.split("\n")) {
    const text = compact(line);
    const end = text.replace(/(?:…|\.{3})$/, "").length;
    for (const message of messages) hits.push(...cutHitsIn(message, text.slice(0, end), offset));
    offset += text.length;
  }
  const most = Map.groupBy(hits, ({ start }) => start);
  return [...most.values()].flatMap((some) => {
    const longest = Math.max(...some.map((one) => one.end));
    return some.filter(({ end }) => end === longest);
  });
};

const cutHitsIn = ({ section, parts }: Message, line: string, offset: number): Hit[] => {
  const [first = ""] = parts;
  if (!line.includes(first.slice(0, SHOWN_MIN))) return [];
  for (let shown = first.length; shown >= SHOWN_MIN; shown -= 1) {
    const start = line.lastIndexOf(first.slice(0, shown));
    if (start < 0) continue;
    // All of the first part, and whatever the line still has; or the line ends within it.
    if (shown < first.length && start + shown !== line.length) continue;
    const end = shown < first.length ? line.length : cutEnd(parts.slice(1), line, start + shown);
    return end === undefined ? [] : [{ section, start: offset + start, end: offset + end }];
  }
  return [];
};

/** How far the other parts go until the line ends; undefined where another message follows. */
const cutEnd = (parts: readonly string[], line: string, from: number): number | undefined => {
  let end = from;
  for (const part of parts) {
    const rest = line.slice(end);
    const at = rest.indexOf(part);
    if (at >= 0 && at <= GAP_MAX) end += at + part.length;
    else if (rest.length > GAP_MAX) return undefined;
    else return beginOf(part, rest) + end;
  }
  return end;
};

/** The end of the text, as far as the part begins there. */
const beginOf = (part: string, text: string): number => {
  for (let shown = part.length - 1; shown > 0; shown -= 1) if (text.endsWith(part.slice(0, shown))) return text.length;
  return 0;
};
