// Values as the source text of a program: on one line if there is room, otherwise with a line for each member.

import { printable, resources } from "../../schema/index.ts";
import { quote } from "../text.ts";
import type { Export, LeftOut } from "./model.ts";
import { type Entry, entriesIn, Fields, Reference, Secret, type Value } from "./value.ts";

/** How a program spells values that are not literals. */
export interface Spelling {
  reference(entry: Entry): string;
  secret(secret: Secret): string;
}

/** How a language writes literals. */
export interface Language {
  /** maximum characters of a line */
  width: number;
  tab: string;
  /** within braces on one line */
  padding: string;
  text(value: string): string;
  boolean(value: boolean): string;
  /** `isField`: it is a field of the API, which a language may spell in its own style */
  key(key: string, isField: boolean): string;
}

export interface Item {
  /** before the value: `"key": `, or `name=` */
  head: string;
  /** absent: only the head */
  value?: Value;
}

/** `isBraced`: padding separates the items from the brackets. */
interface Brackets {
  open: string;
  close: string;
  isBraced?: boolean;
}

/** Writes values and blocks of items after `column` characters of a line, in a block that is indented by `indent`. */
export const writerOf = ({ width, tab, padding, text, boolean, key }: Language, spelling: Spelling) => {
  const valueText = (value: Value, indent: string, column: number) => {
    if (value instanceof Reference) return spelling.reference(value.entry);
    if (value instanceof Secret) return spelling.secret(value);
    if (typeof value === "boolean") return boolean(value);
    if (typeof value === "string") return text(value);
    if (value instanceof Map) return block(itemsOf(value), { open: "{", close: "}", isBraced: true }, indent, column);
    if (typeof value === "number") return String(value);
    const items = (value as readonly Value[]).map((item) => ({ head: "", value: item }));
    return block(items, { open: "[", close: "]" }, indent, column);
  };

  const itemsOf = (map: ReadonlyMap<string, Value>): Item[] =>
    [...map].map(([name, value]) => ({ head: `${key(name, map instanceof Fields)}: `, value }));

  const block = (
    items: readonly Item[],
    { open, close, isBraced }: Brackets,
    indent: string,
    column: number,
  ): string => {
    if (items.length === 0) return open + close;
    const itemText = ({ head, value }: Item, at: string) =>
      head + (value === undefined ? "" : valueText(value, at, at.length + head.length));
    const space = isBraced ? padding : "";
    const line = open + space + items.map((item) => itemText(item, indent)).join(", ") + space + close;
    if (column + line.length <= width && !line.includes("\n")) return line;
    const inner = indent + tab;
    return `${open}\n${items.map((item) => `${inner}${itemText(item, inner)},\n`).join("")}${indent}${close}`;
  };

  return { valueText, itemsOf, block };
};

/** Names of variables in a language. */
interface Variables {
  entry(entry: Entry): string;
  setting(setting: string): string;
}

/** The variables that a program needs to declare a record: its secret, and records that exist only with a secret. */
export const neededBy = (entry: Entry, { entry: variableOf, setting }: Variables): string[] => {
  const others = entry.isAdopted ? [] : entriesIn(entry).filter(({ secret }) => secret);
  return [...(entry.secret ? [setting(entry.secret.setting)] : []), ...others.map(variableOf)];
};

// The head of a program: its origin, and the records that it does not declare.

const ADOPTED = "The first `pulumi up` takes the records of adopt.json over and changes nothing.";

const CREATED =
  "`pulumi up` creates the same records on another service, beside an organization of the same name if there is one. After it, remove `allowDuplicate`.";

/** `mark` begins a comment of the language. */
export const commentText = (mark: string, lines: readonly string[]): string =>
  lines.map((line) => `${mark} ${line}`.trimEnd()).join("\n");

/** Lines of a comment. None contains a line break, whatever the names contain. */
export const headComment = (all: Export): string[] => [
  `What ${all.isPart ? "Terraform manages" : "exists"}${placeText(all)}, written by irm export.`,
  all.isAdopted ? ADOPTED : CREATED,
  ...section("The caller cannot see, so the program does not have:", all.notVisible.map(notVisibleText)),
  ...section("Others name, and no list had (gone meanwhile, or not visible):", all.notListed),
  ...section("The program does not declare:", all.leftOut.map(leftOutText)),
];

const placeText = ({ title, top }: Export) => (top === "" ? "" : ` below ${quote(title)} (${printable(top)})`);

const section = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  - ${line}`)];

/** `role bindings of this group cannot be listed: … (platform, 7209…)` */
export const notVisibleText = ({ message, group, path }: Export["notVisible"][number]): string =>
  printable(group === "" ? message : `${message} (${path}, ${group})`);

/** `role binding 7209…/a033… "name": why` */
export const leftOutText = ({ kind, uid, name, why }: LeftOut): string =>
  `${[resources[kind].word, printable(uid), name === "" ? "" : quote(name)].filter(Boolean).join(" ")}: ${why}`;
