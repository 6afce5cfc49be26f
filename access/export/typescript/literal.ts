// Values as TypeScript. Each text is JSON with everything that a reader cannot see escaped, so that a name never becomes code.
import { quote } from "../../quote.ts";
import { type Entry, Reference, Secret, type Value } from "../value.ts";

const WIDTH = 116;

/** How a program spells what is not a literal. */
export interface Spelling {
  reference(entry: Entry): string;
  secret(secret: Secret): string;
}

/** The value, after `column` characters of its line, whose block is indented by `indent`. */
export const valueText = (value: Value, spelling: Spelling, indent: string, column: number): string => {
  if (value instanceof Reference) return spelling.reference(value.entry);
  if (value instanceof Secret) return spelling.secret(value);
  if (Array.isArray(value)) return blockText(value.map(asMember), "[", "]", spelling, indent, column);
  if (value instanceof Map) return objectText(membersOf(value), spelling, indent, column);
  return typeof value === "string" ? quote(value) : String(value);
};

/** A member of an object, an item of a list, or, as a text, something that is spread. */
export type Member = { key?: string; value: Value } | string;

const asMember = (value: Value): Member => ({ value });

export const membersOf = (map: ReadonlyMap<string, Value>): Member[] =>
  [...map].map(([key, value]) => ({ key, value }));

export const objectText = (members: readonly Member[], spelling: Spelling, indent: string, column: number): string =>
  blockText(members, "{", "}", spelling, indent, column);

const blockText = (
  members: readonly Member[],
  open: "{" | "[",
  close: "}" | "]",
  spelling: Spelling,
  indent: string,
  column: number,
): string => {
  if (members.length === 0) return open + close;
  const inner = `${indent}  `;
  const textOf = (member: Member, lineIndent: string): string => {
    if (typeof member === "string") return member;
    const head = member.key === undefined ? "" : `${keyText(member.key)}: `;
    return head + valueText(member.value, spelling, lineIndent, lineIndent.length + head.length);
  };
  const space = open === "{" ? " " : "";
  const line = open + space + members.map((member) => textOf(member, indent)).join(", ") + space + close;
  if (column + line.length <= WIDTH && !line.includes("\n")) return line;
  return `${open}\n${members.map((member) => `${inner}${textOf(member, inner)},\n`).join("")}${indent}${close}`;
};

// Without the brackets, __proto__ sets the prototype of the object.
const keyText = (key: string): string => {
  if (key === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key);
};
