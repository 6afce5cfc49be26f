// Blocks of a text that has room for so much and no more. Every block keeps a share, so that none of them can push out another; what
// the shares leave is for the most dangerous. What is cut is cut from the harmless end, and counted.

export interface Line {
  /** 0 is the worst */
  danger: number;
  /** Read only where there may be room: a review may have hundreds of thousands of lines. */
  readonly text: string;
}

export class LazyLine implements Line {
  readonly danger: number;
  readonly #make: () => string;
  #text: string | undefined;

  constructor(danger: number, make: () => string) {
    this.danger = danger;
    this.#make = make;
  }

  get text(): string {
    this.#text ??= this.#make();
    return this.#text;
  }
}

/** One entry, such as an identity; its lines may be left out one by one. */
export interface Item {
  /** of the entry itself */
  danger: number;
  head: string;
  lines: readonly Line[];
  foot: string;
  /** a line that counts those that are left out */
  omittedText(lines: readonly Line[]): string;
}

export interface Block {
  head: string;
  items: readonly Item[];
  foot: string;
  /** of the room, relative to the shares of the other blocks */
  share: number;
  /** a line that counts the entries that are left out */
  omittedText(items: readonly Item[]): string;
}

/** An entry that is shown whole or not at all. */
export const plainItem = (danger: number, head: string): Item => ({
  danger,
  head,
  lines: [],
  foot: "",
  omittedText: () => "",
});

/** Most bytes of a line that counts what is left out. */
export const OMITTED_MAX = 250;

/** After so many that do not fit, the room counts as used. */
const MISSES_MAX = 200;

const bytes = (text: string): number => Buffer.byteLength(text);

/** The blocks whole; undefined where they need more than `room` bytes. */
export const whole = (blocks: readonly Block[], room: number): string | undefined => {
  const texts: string[] = [];
  let left = room;
  for (const text of textsOf(blocks)) {
    left -= bytes(text);
    if (left < 0) return undefined;
    texts.push(text);
  }
  return texts.join("");
};

function* textsOf(blocks: readonly Block[]): Generator<string> {
  for (const [i, { head, items, foot }] of blocks.entries()) {
    yield i > 0 ? `\n${head}` : head;
    for (const item of items) {
      yield item.head;
      for (const { text } of item.lines) yield text;
      yield item.foot;
    }
    yield foot;
  }
}

/** An entry's head, or one of its lines. */
interface Atom {
  block: number;
  item: Item;
  line?: Line;
  danger: number;
  order: number;
}

export const fitBlocks = (blocks: readonly Block[], room: number): string => {
  const fixed = blocks.reduce((sum, { head, foot }) => sum + bytes(head + foot) + OMITTED_MAX + 1, 0);
  let left = room - fixed;
  const shown = new Map<Item, Set<Line>>();
  const shares = blocks.reduce((sum, { share }) => sum + share, 0);
  const atoms = atomsOf(blocks);

  // Returns what it costs; the place for counting an entry's lines is kept until the last of them is shown.
  const cost = ({ item, line }: Atom): number => {
    const lines = shown.get(item);
    const isLast = line !== undefined && (lines?.size ?? 0) + 1 === item.lines.length;
    const opened = lines ? 0 : bytes(item.head + item.foot) + (item.lines.length > 0 ? OMITTED_MAX : 0);
    return opened + (line ? bytes(line.text) : 0) - (isLast ? OMITTED_MAX : 0);
  };
  const take = (atom: Atom, most: number): number | undefined => {
    const size = cost(atom);
    if (size > most) return undefined;
    const lines = shown.get(atom.item) ?? new Set<Line>();
    if (atom.line) lines.add(atom.line);
    shown.set(atom.item, lines);
    return size;
  };

  const later: Atom[] = [];
  const budgets = blocks.map(({ share }) => ({ bytes: Math.floor((left * share) / shares), misses: 0 }));
  for (const atom of atoms) {
    const budget = budgets[atom.block] as (typeof budgets)[number];
    const spent = budget.misses < MISSES_MAX ? take(atom, Math.min(budget.bytes, left)) : undefined;
    if (spent === undefined) {
      budget.misses += 1;
      later.push(atom);
    } else {
      budget.bytes -= spent;
      left -= spent;
    }
  }
  let misses = 0;
  for (const atom of later) {
    if (misses === MISSES_MAX) break;
    const spent = take(atom, left);
    if (spent === undefined) misses += 1;
    else left -= spent;
  }
  return blocks.map((block) => blockText(block, shown)).join("\n");
};

const atomsOf = (blocks: readonly Block[]): Atom[] => {
  const atoms: Atom[] = [];
  blocks.forEach(({ items }, block) => {
    for (const item of items) {
      const danger = item.lines.reduce((worst, line) => Math.min(worst, line.danger), item.danger);
      atoms.push({ block, item, danger, order: atoms.length });
      for (const line of item.lines) atoms.push({ block, item, line, danger: line.danger, order: atoms.length });
    }
  });
  return atoms.sort((a, b) => a.danger - b.danger || a.order - b.order);
};

const blockText = ({ head, items, foot, omittedText }: Block, shown: ReadonlyMap<Item, ReadonlySet<Line>>): string => {
  const texts = items.map((item) => {
    const lines = shown.get(item);
    if (!lines) return "";
    const omitted = item.lines.filter((line) => !lines.has(line));
    const kept = item.lines.filter((line) => lines.has(line)).map(({ text }) => text);
    return item.head + kept.join("") + (omitted.length > 0 ? item.omittedText(omitted) : "") + item.foot;
  });
  const omitted = items.filter((item) => !shown.has(item));
  return head + texts.join("") + (omitted.length > 0 ? omittedText(omitted) : "") + foot;
};
