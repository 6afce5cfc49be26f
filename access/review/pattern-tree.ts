// A pattern as a tree, to derive texts from it. It reads the part of RE2 that people write for claims; for anything else there is no
// tree. What is derived is tested with the matcher itself (schema/pattern.ts), so that a misreading yields no wrong example.

export type PatternNode =
  | { kind: "text"; text: string }
  /** one character; `accepts` are some that it matches */
  | { kind: "any"; accepts: (character: string) => boolean }
  | { kind: "sequence"; parts: PatternNode[] }
  | { kind: "choice"; options: PatternNode[] }
  | { kind: "repeat"; of: PatternNode; least: number; most: number };

class Unreadable extends Error {}

/** undefined: a part of the syntax is not understood. */
export const patternTree = (pattern: string): PatternNode | undefined => {
  try {
    const reader = { text: pattern, at: 0 };
    const tree = choiceIn(reader);
    return reader.at === pattern.length ? tree : undefined;
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
};

interface Reader {
  text: string;
  at: number;
}

const choiceIn = (reader: Reader): PatternNode => {
  const options = [sequenceIn(reader)];
  while (reader.text[reader.at] === "|") {
    reader.at += 1;
    options.push(sequenceIn(reader));
  }
  return options.length === 1 ? (options[0] as PatternNode) : { kind: "choice", options };
};

const sequenceIn = (reader: Reader): PatternNode => {
  const parts: PatternNode[] = [];
  while (reader.at < reader.text.length && !"|)".includes(reader.text[reader.at] as string)) {
    const atom = atomIn(reader);
    if (atom) parts.push(repeatIn(reader, atom));
  }
  return { kind: "sequence", parts };
};

const QUANTIFIER = /[*+?]|\{(\d+)(,?)(\d*)\}/y;
const MANY = 3;

const repeatIn = (reader: Reader, of: PatternNode): PatternNode => {
  const [quantifier, count, comma, most] = matchIn(reader, QUANTIFIER) ?? [];
  if (quantifier === undefined) return of;
  matchIn(reader, /\?/y);
  if (quantifier === "*") return { kind: "repeat", of, least: 0, most: MANY };
  if (quantifier === "+") return { kind: "repeat", of, least: 1, most: MANY };
  if (quantifier === "?") return { kind: "repeat", of, least: 0, most: 1 };
  const least = Number(count);
  return { kind: "repeat", of, least, most: comma ? (most ? Number(most) : least + MANY) : least };
};

const CLASSES: Readonly<Record<string, RegExp>> = {
  d: /[0-9]/,
  D: /[^0-9]/,
  w: /\w/,
  W: /\W/,
  s: /[ \t]/,
  S: /[^ \t]/,
};

const atomIn = (reader: Reader): PatternNode | undefined => {
  // Anchors: the whole claim is matched anyway. (?s) and the like change nothing that is derived here.
  if (matchIn(reader, /[\^$]|\\[Azb]|\(\?[sU]*\)/y)) return undefined;
  const [quote, inside] = matchIn(reader, /\\Q([\s\S]*?)(?:\\E|$)/y) ?? [];
  if (quote !== undefined) return { kind: "text", text: inside ?? "" };
  if (matchIn(reader, /\((?:\?:|\?P?<\w+>)?(?!\?)/y)) {
    const inner = choiceIn(reader);
    if (!matchIn(reader, /\)/y)) throw new Unreadable();
    return inner;
  }
  if (matchIn(reader, /\./y)) return { kind: "any", accepts: () => true };
  const [set, not, members] = matchIn(reader, /\[(\^?)(\]?(?:\\.|[^\]\\])*)\]/y) ?? [];
  if (set !== undefined) return classOf(not === "^", members ?? "");
  const [named, letter] = matchIn(reader, /\\([dDwWsS])/y) ?? [];
  if (named !== undefined) return { kind: "any", accepts: (one) => (CLASSES[letter as string] as RegExp).test(one) };
  const [punctuation, escaped] = matchIn(reader, /\\([^A-Za-z0-9])/y) ?? [];
  if (punctuation !== undefined) return { kind: "text", text: escaped as string };
  const [plain] = matchIn(reader, /[^\\()[\]{}*+?|]/uy) ?? [];
  if (plain === undefined) throw new Unreadable();
  return { kind: "text", text: plain };
};

const classOf = (isNegated: boolean, members: string): PatternNode => {
  if (/\\[pPx]|\[:/.test(members)) throw new Unreadable();
  if (!isNegated && /^\\?[^\\\-A-Za-z0-9]$|^[A-Za-z0-9]$/.test(members))
    return { kind: "text", text: members.at(-1) as string };
  let own: RegExp;
  try {
    // Only to choose candidates: the matcher decides.
    own = new RegExp(`^[${members.replace(/^\]/, "\\]").replaceAll("[", "\\[")}]$`);
  } catch {
    throw new Unreadable();
  }
  return { kind: "any", accepts: (one) => own.test(one) !== isNegated };
};

const matchIn = (reader: Reader, expression: RegExp): RegExpExecArray | undefined => {
  expression.lastIndex = reader.at;
  const found = expression.exec(reader.text);
  if (!found) return undefined;
  reader.at += found[0].length;
  return found;
};
