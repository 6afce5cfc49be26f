// Adds entries to one YAML file. They go after the last entry of their collection, in its style: lines of a block, or items between the
// brackets of a flow collection. Every other character stays.
import { isAlias, isMap, isScalar, isSeq, type Node, type YAMLMap, type YAMLSeq } from "yaml";
import { presets } from "../../preset/presets.ts";
import { quote } from "../../quote.ts";
import { yamlItem, yamlText } from "../../yaml-text.ts";
import { pathText } from "../source.ts";
import { isMergeKey, nameOf, openDocument, type YamlPair } from "./document.ts";
import { type Cut, changed, layoutOf } from "./layout.ts";

/** What a file gets. Maps are Maps: their keys are chosen by others. */
export type Added = string | number | boolean | readonly Added[] | AddedMap;
export type AddedMap = ReadonlyMap<string, Added>;

/** The text with these entries. A map or list that is in the file gets those of the map or list that is added. */
export const insertIntoYaml = (text: string, file: string, added: AddedMap): string => {
  const { document, fail } = openDocument(text, file);
  const { cuts, addTo } = inserterOf(text, file.endsWith(".json"), fail);
  addTo(document.contents as YAMLMap, added, []);
  return changed(text, cuts);
};

type Path = readonly string[];
/** Of a list, an item has no key. */
type Item = readonly [key: string | undefined, value: Added];

/** `isJson`: every text between brackets is in quotes. */
const inserterOf = (text: string, isJson: boolean, fail: ReturnType<typeof openDocument>["fail"]) => {
  const cuts: Cut[] = [];
  const layout = layoutOf(text);
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const insert = (at: number, instead: string): void => void cuts.push({ start: at, end: at, instead });
  const refuse = (node: Node, path: Path, why: string): never => fail(node, `${pathText(path) || "the policy"} ${why}`);

  const addTo = (map: YAMLMap, added: AddedMap, path: Path): void => {
    const fresh: Item[] = [];
    for (const [key, value] of added) {
      const pair = (map.items as YamlPair[]).find((one) => !isMergeKey(one.key) && nameOf(one.key) === key);
      if (pair === undefined) fresh.push([key, value]);
      else addToValue(map, pair, value, [...path, key]);
    }
    if (fresh.length > 0) addItems(map, fresh, path);
  };

  const addToValue = (map: YAMLMap, { key, value }: YamlPair, added: Added, path: Path): void => {
    if (added instanceof Map && added.size === 0) return;
    if (value === null || (isScalar(value) && value.value === null) || canOpen(map, value))
      setValue(map, key, added, path);
    else if (isAlias(value)) refuse(value, path, "is an alias; write it out");
    else if (isMap(value) && added instanceof Map) addTo(value as YAMLMap, added, path);
    else if (isSeq(value) && Array.isArray(added)) addItems(value as YAMLSeq, added.map(asItem), path);
    else refuse(value, path, WRITE_OUT);
  };

  /** The value of a key that has none, or an empty map in a block. */
  const setValue = (map: YAMLMap, key: Node, added: Added, path: Path): void => {
    const end = layout.endOf(key);
    const found = (map.flow ? NO_VALUE : NO_VALUE_IN_BLOCK).exec(text.slice(end));
    const [line = "", colon = "", nothing = ""] = found ?? refuse(key, path, WRITE_OUT);
    const at = end + colon.length;
    const instead = map.flow ? `${colon === "" ? ":" : ""} ${itemText([undefined, added], isJson)}` : "";
    cuts.push({ start: at, end: at + nothing.length, instead });
    if (!map.flow) insertLines(end + line.length, blockText(added, columnOf(key) + STEP));
  };

  const addItems = (collection: YAMLMap | YAMLSeq, items: readonly Item[], path: Path): void => {
    const last = collection.items.at(-1) as Node | YamlPair | undefined;
    const texts = items.map((one) => itemText(one, isJson));
    if (last === undefined) addToEmpty(collection, texts);
    else if (collection.flow) addToFlow(collection, last, texts);
    else addToBlock(collection, last, items, path);
  };

  const addToBlock = (
    collection: YAMLMap | YAMLSeq,
    last: Node | YamlPair,
    items: readonly Item[],
    path: Path,
  ): void => {
    const { start, end, node } = layout.itemOf(last);
    const lineStart = lineStartOf(start);
    const head = (isMap(collection) ? BEFORE_KEY : BEFORE_ITEM).exec(text.slice(lineStart, start))?.[0];
    const next = layout.lineAfter(end);
    if (next === undefined || head === undefined) return void refuse(node, path, NO_ROOM);
    const block = items.map(([key, value]) =>
      key === undefined
        ? `${head}${itemText([key, value], isJson)}\n`
        : blockText(new Map([[key, value]]), start - lineStart),
    );
    insertLines(afterComments(next, start - lineStart), block.join(""));
  };

  const addToEmpty = ({ range }: YAMLMap | YAMLSeq, items: readonly string[]): void => {
    const [start, end] = range as [number, number, number];
    const isBare = text.slice(start + 1, end - 1).trim() === "";
    const [open, close] = [text.charAt(start), text.charAt(end - 1)];
    if (isBare) cuts.push({ start, end, instead: `${open} ${items.join(", ")} ${close}` });
    else insert(end - 1, `${items.join(", ")} `);
  };

  const addToFlow = ({ range }: YAMLMap | YAMLSeq, last: Node | YamlPair, items: readonly string[]): void => {
    const close = (range as [number, number, number])[1] - 1;
    const { start, end } = layout.itemOf(last);
    const comma = /^\s*,/.exec(text.slice(end, close))?.[0];
    const indent = text.slice(lineStartOf(start), start);
    const next = layout.lineAfter(end);
    if (next !== undefined && next <= close && BEFORE_KEY.test(indent)) {
      // Each item has a line of its own. JSON has no comma after the last one.
      if (comma === undefined) insert(end, ",");
      const separators = items.map((_, i) => (comma === undefined && i === items.length - 1 ? "" : ","));
      insertLines(next, items.map((one, i) => `${indent}${one}${separators[i]}\n`).join(""));
    } else if (comma === undefined) insert(end, items.map((one) => `, ${one}`).join(""));
    else insert(end + comma.length, items.map((one) => ` ${one},`).join(""));
  };

  /** After the lines of comments that are deeper than the column: they belong to the entry before. */
  const afterComments = (from: number, column: number): number => {
    let at = from;
    for (;;) {
      COMMENT_LINE.lastIndex = at;
      const [line, indent = ""] = COMMENT_LINE.exec(text) ?? [];
      if (line === undefined || line === "" || indent.length <= column) return at;
      at += line.length;
    }
  };

  /** Whole lines. After a last line without its end, that end comes first. */
  const insertLines = (at: number, block: string): void => {
    const isCut = at > 0 && text.charAt(at - 1) !== "\n";
    insert(at, (isCut ? `\n${block.replace(/\n$/, "")}` : block).replaceAll("\n", newline));
  };

  const lineStartOf = (at: number): number => text.lastIndexOf("\n", at - 1) + 1;
  const columnOf = ({ range }: Node): number => (range?.[0] ?? 0) - lineStartOf(range?.[0] ?? 0);
  return { cuts, addTo };
};

const WRITE_OUT = "cannot be added to; write it out";
const NO_ROOM = "holds an entry that no other can follow; write each entry on a line of its own";
const STEP = 2;
const BEFORE_KEY = /^[ \t]*$/;
const BEFORE_ITEM = /^[ \t]*-[ \t]+$/;
const COMMENT_LINE = /([ \t]*)#[^\r\n]*(?:\r?\n|$)/y;
const NOTHING = "~|null|Null|NULL";
const NO_VALUE = new RegExp(`^(\\s*:|)(\\s*(?:${NOTHING}))?`);
const NO_VALUE_IN_BLOCK = new RegExp(
  `^([ \\t]*:)([ \\t]*(?:${NOTHING}|\\{[ \\t]*\\}))?[ \\t]*(?:#[^\\r\\n]*)?(?:\\r?\\n|$)`,
);

const asItem = (value: Added): Item => [undefined, value];

/** An empty map becomes a block in a block. */
const canOpen = (map: YAMLMap, value: Node): boolean =>
  !map.flow && isMap(value) && value.items.length === 0 && value.anchor === undefined && value.tag === undefined;

/** Lines, each with its end. */
const blockText = (value: Added, column: number): string =>
  yamlText(value, (key) => Object.hasOwn(presets, key)).replace(/^(?=.)/gm, " ".repeat(column));

const itemText = ([key, value]: Item, isJson: boolean): string => {
  if (isJson) return key === undefined ? jsonText(value) : `${quote(key)}: ${jsonText(value)}`;
  return key === undefined ? yamlItem([value]) : yamlItem(new Map([[key, value]]));
};

const jsonText = (value: Added): string => {
  if (value instanceof Map) {
    const entries = [...value].map(([key, held]) => `${quote(key)}: ${jsonText(held)}`);
    return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
  }
  if (Array.isArray(value)) return `[${value.map(jsonText).join(", ")}]`;
  return typeof value === "string" ? quote(value) : String(value);
};
