// Values as Python. Texts are ASCII, so that a name never becomes code, and a reader sees each character.
import { toSnake } from "../../../schema/index.ts";
import { type Entry, Fields, Reference, Secret, type Value } from "../value.ts";

const WIDTH = 112;

/** A text in double quotes. Python has the escapes of JSON, and another one beyond 16 bits. */
export const pythonText = (text: string): string =>
  `"${[...text].map((one) => (/^[ -~]$/.test(one) && one !== '"' && one !== "\\" ? one : escaped(one))).join("")}"`;

const escaped = (character: string): string => {
  const code = character.codePointAt(0) as number;
  if (character === '"' || character === "\\") return `\\${character}`;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
};

/** How a program spells what is not a literal. */
export interface Spelling {
  reference(entry: Entry): string;
  secret(secret: Secret): string;
}

export const pythonValue = (value: Value, spelling: Spelling, indent: string, column: number): string => {
  if (value instanceof Reference) return spelling.reference(value.entry);
  if (value instanceof Secret) return spelling.secret(value);
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return pythonText(value);
  if (typeof value === "number") return String(value);
  const items: Item[] =
    value instanceof Map
      ? [...value].map(([key, item]) => ({
          head: `${pythonText(value instanceof Fields ? toSnake(key) : key)}: `,
          value: item as Value,
        }))
      : (value as readonly Value[]).map((item) => ({ head: "", value: item }));
  const [open, close] = value instanceof Map ? ["{", "}"] : ["[", "]"];
  return block(open as string, items, close as string, spelling, indent, column);
};

export interface Item {
  /** before the value: `"key": `, or `name=` */
  head: string;
  /** absent: the head is all */
  value?: Value;
}

export const block = (
  open: string,
  items: readonly Item[],
  close: string,
  spelling: Spelling,
  indent: string,
  column: number,
): string => {
  const textOf = ({ head, value }: Item, at: string): string =>
    head + (value === undefined ? "" : pythonValue(value, spelling, at, at.length + head.length));
  const line = open + items.map((item) => textOf(item, indent)).join(", ") + close;
  if (column + line.length <= WIDTH && !line.includes("\n")) return line;
  const inner = `${indent}    `;
  return `${open}\n${items.map((item) => `${inner}${textOf(item, inner)},\n`).join("")}${indent}${close}`;
};
