// Where the items of a YAML collection stand in the text, and which characters go with them: an item of a block goes with its lines, one
// of a flow collection with one comma. A comment goes only with the line of an item that goes.
import { isCollection, isMap, isPair, type Node, type Pair, type YAMLMap, type YAMLSeq } from "yaml";

/** Characters that go. */
export interface Cut {
  start: number;
  end: number;
  /** what is there then; default: nothing */
  instead?: string;
}

/** The text with the cuts. They do not overlap; of several at one place, the order counts. */
export const changed = (text: string, cuts: readonly Cut[]): string => {
  let [kept, from] = ["", 0];
  for (const { start, end, instead = "" } of cuts.toSorted((a, b) => a.start - b.start)) {
    kept += text.slice(from, start) + instead;
    from = end;
  }
  return kept + text.slice(from);
};

/** An item shares its characters with what stays. */
export class LayoutError extends Error {
  override readonly name = "LayoutError";
  readonly node: Node;

  constructor(node: Node) {
    super(
      "holds an entry that cannot be taken out without a comment or a neighbour; write the entry on a line of its own",
    );
    this.node = node;
  }
}

export interface Layout {
  /** The cuts of the items that `goes` names; some stay. */
  cutItems(collection: YAMLMap | YAMLSeq, goes: readonly boolean[]): Cut[];
  /** Leaves the collection empty. */
  cutAll(collection: YAMLMap | YAMLSeq): Cut[];
  itemOf(item: Node | Pair<Node, Node | null>): Item;
  endOf(node: Node): number;
  /** Where the line after an item begins; undefined where more than a comma and a comment follows it on its line. */
  lineAfter(end: number): number | undefined;
}

export interface Item {
  start: number;
  end: number;
  node: Node;
}

const BEFORE_BLOCK_KEY = /^[ \t]*$/;
const BEFORE_BLOCK_ITEM = /^[ \t]*-[ \t]+$/;
const REST_OF_LINE = /[ \t]*,?[ \t]*(?:#[^\r\n]*)?(?:\r?\n|$)/y;
const SEPARATOR = /^\s*,\s*$/;

export const layoutOf = (text: string): Layout => {
  const endOfText = (end: number): number => {
    let last = end;
    while (last > 0 && /\s/.test(text.charAt(last - 1))) last -= 1;
    return last;
  };

  // The library counts the comments below a block as its own.
  const endOf = (node: Node): number => {
    const last = isCollection(node) && !node.flow ? node.items.at(-1) : undefined;
    return last === undefined ? endOfText(node.range?.[1] ?? 0) : itemOf(last as Node | Pair<Node, Node | null>).end;
  };

  const itemOf = (item: Node | Pair<Node, Node | null>): Item => {
    if (!isPair(item)) return { start: startOf(item), end: endOf(item), node: item };
    const { key, value } = item as Pair<Node, Node | null>;
    return { start: startOf(key), end: value === null ? endOf(key) : Math.max(endOf(key), endOf(value)), node: key };
  };

  const lineAfter = (end: number): number | undefined => {
    REST_OF_LINE.lastIndex = end;
    return REST_OF_LINE.test(text) ? REST_OF_LINE.lastIndex : undefined;
  };

  /** The lines of an item that stands on lines of its own. */
  const linesOf = ({ start, end }: Item, before: RegExp): Cut | undefined => {
    const lineStart = text.lastIndexOf("\n", start - 1) + 1;
    const rest = lineAfter(end);
    return rest !== undefined && before.test(text.slice(lineStart, start))
      ? { start: lineStart, end: rest }
      : undefined;
  };

  const ownLines = (item: Item, before: RegExp): Cut => {
    const lines = linesOf(item, before);
    if (lines === undefined) throw new LayoutError(item.node);
    return lines;
  };

  const isSeparated = (one: Item | undefined, next: Item | undefined): boolean =>
    one !== undefined && next !== undefined && SEPARATOR.test(text.slice(one.end, next.start));

  /** Neighbours of a flow collection that go together, with the comma after them; the last ones with the comma before. */
  const cutRun = (items: readonly Item[], from: number, to: number): Cut[] => {
    const run = items.slice(from, to) as [Item, ...Item[]];
    const [before, after] = [items[from - 1], items[to]];
    const isWhole = run.every((item, i) => i === 0 || isSeparated(run[i - 1], item));
    const last = run.at(-1) as Item;
    if (isWhole && isSeparated(last, after)) return [{ start: run[0].start, end: (after as Item).start }];
    if (isWhole && after === undefined && isSeparated(before, run[0]))
      return [{ start: (before as Item).end, end: last.end }];
    return run.map((item) => ownLines(item, BEFORE_BLOCK_KEY));
  };

  const cutFlow = (items: readonly Item[], goes: readonly boolean[]): Cut[] => {
    const cuts: Cut[] = [];
    for (let from = goes.indexOf(true); from >= 0; from = goes.indexOf(true, from)) {
      const stays = goes.indexOf(false, from);
      const to = stays < 0 ? goes.length : stays;
      cuts.push(...cutRun(items, from, to));
      from = to;
    }
    return cuts;
  };

  const cutItems: Layout["cutItems"] = (collection, goes) => {
    const items = (collection.items as (Node | Pair<Node, Node | null>)[]).map(itemOf);
    if (collection.flow) return cutFlow(items, goes);
    const before = isMap(collection) ? BEFORE_BLOCK_KEY : BEFORE_BLOCK_ITEM;
    return items.filter((_, i) => goes[i]).map((item) => ownLines(item, before));
  };

  const cutAll: Layout["cutAll"] = (collection) => {
    const goes = collection.items.map(() => true);
    if (!collection.flow) return cutItems(collection, goes);
    const items = (collection.items as (Node | Pair<Node, Node | null>)[]).map(itemOf) as [Item, ...Item[]];
    const [start, end] = collection.range as [number, number, number];
    const last = items.at(-1) as Item;
    const isBare =
      items.every((item, i) => i === 0 || isSeparated(items[i - 1], item)) &&
      text.slice(start + 1, items[0].start).trim() === "" &&
      /^\s*,?\s*$/.test(text.slice(last.end, end - 1));
    if (!isBare) throw new LayoutError(items[0].node);
    return [{ start, end, instead: isMap(collection) ? "{}" : "[]" }];
  };
  return { cutItems, cutAll, itemOf, endOf, lineAfter };
};

const startOf = (node: Node): number => node.range?.[0] ?? 0;
