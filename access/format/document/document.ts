// A report in the parts that people read, equal in every format. Each report has one file that builds it; terminal, Markdown and HTML
// render any of them.
import type { Origin, RuleName } from "../../review/report.ts";
import type { Segment } from "../differences.ts";

/** `open`: a finding that no one excuses, and no rule denies */
export type Mark = "denied" | "allowed" | "open";

export type Part =
  /** our own words */
  | string
  /** a text of others, which a format marks as such */
  | { quoted: string }
  /** the subject of an entry; `to`: id of the item of a page with more about it */
  | { name: string; to?: string | undefined }
  /** a text of others, with the parts marked that differ from another text */
  | { differs: readonly Segment[] }
  /** the worst first; a page lists all of them, the other formats the first */
  | { capabilities: readonly string[]; role: string }
  | { list: readonly Part[][] }
  | { rule: RuleName }
  | { mark: Mark }
  | { tag: string }
  /** only a page shows it */
  | { json: object };

/** A line of an item. */
export interface Line {
  parts: readonly Part[];
  sign?: "+" | "-";
  lines?: readonly Line[];
  /** only a page shows it */
  isDetail?: true;
  /** a terminal does not wrap it, such as a request */
  isWhole?: true;
}

export interface Item extends Line {
  /** listed, but not a difference */
  isExcused?: boolean;
  /** unfolded even if items are folded */
  isOpen?: boolean;
  /** of its lines, on the line to which it is folded; a terminal folds nothing */
  summary?: string;
  /** a page draws it */
  path?: PathText;
}

/** A path: a page draws it, and every format describes it. */
export interface PathText {
  /** who starts it: the name of an identity, or a workload */
  from: string;
  /** equal to `byId` of the steps that the identity sends; two identities may share a name */
  fromId: string;
  assumes: "strict" | "cautious";
  /** the access that it leads to, by group */
  gains: { place: string; capabilities: string[] }[];
  steps: {
    by: string;
    /** uid, or `workload` */
    byId: string;
    request: string;
    body: string;
    why: string;
    target: string;
    targetId: string;
  }[];
  /** of a cautious path */
  assumptions: readonly string[];
  /** its outcome on a copy */
  proof?: string;
}

export interface Section {
  id: string;
  title: string;
  /** the worst first; a section without items is left out */
  items: readonly Item[];
  /** items of several lines, such as identities: they are folded */
  isBlocks?: boolean;
  /** the main part of the report: its title is only on a page */
  isMain?: boolean;
  /** of a comment, relative to another section, whether that is empty or not; default 1 */
  share?: number;
  /** a comment folds the list */
  isFolded?: boolean;
  /** a terminal shows the first */
  isLong?: boolean;
  /** the text of a page if there are no items; default: it has no such section */
  none?: string;
}

export const section = (id: string, title: string, items: readonly Item[], more?: Partial<Section>): Section => ({
  id,
  title,
  items,
  ...more,
});

export interface Fact {
  name: string;
  value: string;
}

export interface Document {
  /** may be empty */
  title: readonly Part[];
  facts: readonly Fact[];
  sections: readonly Section[];
  /** may be empty */
  foot: string;
  /** a terminal wraps its sentences; lists of capabilities are always wrapped */
  isWrapped?: true;
}

export const quote = (quoted: string | null): Part => ({ quoted: quoted ?? "(new)" });

/** In a sentence, a text is quoted as a text of others. A list of parts contains our own words. Undefined and false are left out. */
type Said = string | null | undefined | false | Exclude<Part, string> | readonly Part[];

/** A sentence in our words, which quotes the texts of others. */
export const say = (words: TemplateStringsArray, ...values: readonly Said[]): Part[] =>
  words.flatMap((own, i) => [own, ...saidParts(values[i])]).filter((part) => part !== "");

const saidParts = (value: Said) => {
  if (value === undefined || value === false) return [];
  if (typeof value === "string" || value === null) return [quote(value)];
  return "length" in value ? value : [value];
};

export const line = (...sentence: Parameters<typeof say>): Line => ({ parts: say(...sentence) });

/** An item for each text of others, with its further lines below. */
export const quotedItems = (texts: readonly string[]): Item[] => texts.map((text) => quotedItem(text));

export const quotedItem = (text: string, ...before: readonly Part[]): Item => {
  const [first = "", ...more] = text.trim().split(/\s*\n/);
  return { parts: [...before, quote(first)], lines: more.map((one) => line`${one}`) };
};

/** The place, the time and the stack of a report. */
export const originFacts = (origin: Origin | undefined): Fact[] => {
  if (origin === undefined) return [];
  const { stack, service, commit, isModified, time } = origin;
  const revision = isModified ? `${commit}, with changes that are not committed` : commit;
  const facts = { Stack: stack, Service: service, Commit: commit && revision, Time: time };
  return Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
};

// A built-in role has up to two hundred capabilities.
const CAPABILITIES_SHOWN = 24;
const LIST_SHOWN = 20;

/** The first capabilities or items of a list, and the number of the others, as plain parts. */
export const shortened = (parts: readonly Part[], hint = ""): Part[] =>
  parts.flatMap((part): Part[] => {
    if (typeof part === "string" || !("list" in part || "capabilities" in part)) return [part];
    const all = "list" in part ? part.list : part.capabilities.map((one) => [quote(one)]);
    const most = "list" in part ? LIST_SHOWN : CAPABILITIES_SHOWN;
    const rest = all.length > most ? ` and ${all.length - most} more` : "";
    return [
      ...all.slice(0, most).flatMap((one, i) => (i === 0 ? one : [", ", ...one])),
      rest !== "" && "capabilities" in part ? rest + hint : rest,
    ];
  });

/** A report as JSON, identical for equal reports. */
export const jsonText = (report: object): string => `${JSON.stringify(report, undefined, 2)}\n`;
