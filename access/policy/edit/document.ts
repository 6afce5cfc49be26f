// One YAML file of a policy as the library's document: removes or adds entries among its nodes, and writes it again. Comments, quotes and
// order are kept; a file of JSON is written with its indentation.

import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { UserError } from "../../../schema/index.ts";
import { presets } from "../../preset/presets.ts";
import { keepAsItIs, YAML_OPTIONS, yamlNode } from "../../text.ts";
import { pathText } from "../source.ts";
import { isMergeKey, keyText } from "../yaml-source.ts";

/** Why a policy cannot be edited, one sentence for each reason. */
export class PolicyEditError extends UserError {
  override readonly name = "PolicyEditError";
}

export type EditPath = readonly string[];
type Entry = Pair<Scalar, Node | null>;
type Collection = YAMLMap<Scalar, Node | null> | YAMLSeq<Node>;

/** The sections that entries are removed from, and the level of an entry below each. */
const LEVELS = { access: 3, identities: 1, roles: 1 } as const;

/**
 * The text without the removed entries, and their paths as `JSON.stringify` writes them. `isGone` receives
 * `["access", group, role, identity]`, `["identities", key]` and `["roles", key]`. `file` is for messages.
 */
export const withoutEntries = (
  text: string,
  file: string,
  isGone: (path: EditPath) => boolean,
): { text: string; found: ReadonlySet<string> } => {
  const { document, fail } = openDocument(text, file);
  const found = new Set<string>();
  const cuts = new Map<Collection, readonly boolean[]>();
  /** aliases of collections that lose some items */
  const shared = new Map<Node, readonly [target: Collection, path: EditPath]>();

  /** Whether the whole node is removed. */
  const goes = (node: Node | null, path: EditPath, levels: number, isShared = false): boolean => {
    if (levels === 0) {
      if (isGone(path)) found.add(JSON.stringify(path));
      return isGone(path);
    }
    const held = targetOf(document, node);
    if (!isCollection(held)) return false;
    const inAlias = isShared || isAlias(node);
    const gone = (held.items as (Entry | Node)[]).map((item) => {
      if (isPair(item))
        return !isMergeKey(item.key) && goes(item.value, [...path, nameOf(item.key)], levels - 1, inAlias);
      return goes(item, [...path, nameOf(targetOf(document, item))], levels - 1, inAlias);
    });
    if (gone.every(Boolean)) return gone.length > 0;
    if (gone.some(Boolean) && !inAlias) cuts.set(held as Collection, gone);
    if (gone.some(Boolean) && isAlias(node)) shared.set(node, [held as Collection, path]);
    return false;
  };

  for (const { key, value } of entriesOf(document.contents)) {
    const section = nameOf(key) as keyof typeof LEVELS;
    if (!Object.hasOwn(LEVELS, section) || !goes(value, [section], LEVELS[section])) continue;
    if (isAlias(value)) fail(value, `${section} is an alias; write it out`);
    cuts.set(
      value as Collection,
      (value as Collection).items.map(() => true),
    );
  }
  for (const [alias, [target, path]] of shared)
    if (!cuts.has(target)) fail(alias, `${pathText(path)} is an alias; write it out`);
  for (const [collection, gone] of cuts) cut(collection, gone);
  return { text: cuts.size === 0 ? text : written(document, text, file), found };
};

/** A comment above a removed entry is kept: it may be about the entries below. */
const cut = (collection: Collection, gone: readonly boolean[]): void => {
  let comments = "";
  const items = (collection.items as (Entry | Node)[]).filter((item, i) => {
    const head = isPair(item) ? item.key : item;
    comments = [comments, head.commentBefore].filter(Boolean).join("\n");
    if (gone[i]) return false;
    head.commentBefore = comments;
    comments = "";
    return true;
  });
  collection.items = items as never;
  if (comments !== "") collection.comment = [comments, collection.comment].filter(Boolean).join("\n");
};

/** Additions to a file. Maps are Maps: others choose their keys. */
export type Added = string | number | boolean | readonly Added[] | AddedMap;
export type AddedMap = ReadonlyMap<string, Added>;

/** The text with these entries. A map or list in the file also gets the items of the added map or list. */
export const withEntries = (text: string, file: string, added: AddedMap): string => {
  const { document, fail } = openDocument(text, file);
  const nodeOf = (value: Added) => yamlNode(document, value, (key) => Object.hasOwn(presets, key));

  const addTo = (map: YAMLMap<Scalar, Node | null>, entries: AddedMap, path: EditPath) => {
    for (const [key, value] of entries) {
      const pair = map.items.find((one) => !isMergeKey(one.key) && nameOf(one.key) === key);
      if (pair) addToValue(pair, value, [...path, key]);
      else map.items.push(...entriesOf(nodeOf(new Map([[key, value]]))));
    }
  };

  const addToValue = (pair: Entry, value: Added, path: EditPath): void => {
    const { value: held } = pair;
    if (value instanceof Map && value.size === 0) return;
    if (held === null || (isScalar(held) && held.value === null)) {
      const node = nodeOf(value);
      node.commentBefore = held?.comment;
      pair.value = node;
    } else if (isMap<Scalar, Node | null>(held) && value instanceof Map) {
      // Additions to an empty map are written as a block, if possible.
      if (held.items.length === 0) held.flow = false;
      addTo(held, value, path);
    } else if (isSeq<Node>(held) && Array.isArray(value)) held.items.push(...(nodeOf(value) as YAMLSeq<Node>).items);
    else fail(held, `${pathText(path)} ${isAlias(held) ? "is an alias" : "cannot be added to"}; write it out`);
  };

  addTo(document.contents as unknown as YAMLMap<Scalar, Node | null>, added, []);
  return written(document, text, file);
};

const openDocument = (text: string, file: string) => {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...YAML_OPTIONS, lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const fail = (node: Node, why: string) => {
    const { line, col } = lines.linePos(node.range?.[0] ?? 0);
    throw new PolicyEditError(`${file}:${line}:${Math.max(col, 1)}: ${why}`);
  };
  // The library has one setting for the spaces within all brackets.
  visit(document, {
    Scalar: (_, node) => keepAsItIs(node),
    Collection: (_, node) => {
      const flowCollectionPadding = /\s/.test(text.charAt((node.range?.[0] ?? 0) + 1)) ? " " : "";
      const print = node.toString;
      if (node.flow && node.items.length > 0)
        node.toString = (context, ...rest) =>
          print.call(node, context && { ...context, flowCollectionPadding }, ...rest);
    },
  });
  return { document, fail };
};

const written = (document: Document.Parsed, before: string, file: string) => {
  const indent = /^ +/m.exec(before)?.[0].length;
  if (file.endsWith(".json"))
    return `${JSON.stringify(document.toJS(), undefined, /\n./.test(before) ? (indent ?? 2) : undefined)}\n`;
  try {
    const text = document.toString({ lineWidth: 0, indentSeq: !/^( *)[^\s#-][^\n]*:\s*\n\1- /m.test(before) });
    return before.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text;
  } catch (error) {
    // The library refuses only an alias without its anchor.
    throw new PolicyEditError(`${file}: an alias stands for an entry that would go; write it out`, { cause: error });
  }
};

const entriesOf = (node: Node | null) => (isMap<Scalar, Node | null>(node) ? node.items : []);

const targetOf = (document: Document.Parsed, node: Node | null) => (isAlias(node) ? node.resolve(document) : node);

const nameOf = (node: unknown) => (isScalar(node) ? keyText(node) : "");

// Replaces text files. Each keeps its old text or gets its new one, whatever happens meanwhile; if one cannot be written, none is replaced.

export interface ChangedFile {
  /** for messages */
  name: string;
  /** without links */
  real: string;
  /** undefined: the file does not exist yet */
  before: string | undefined;
  after: string;
}

/** A reader of UTF-8 drops it from the text. */
const BYTE_ORDER_MARK = Buffer.from("\ufeff");

export const replaceFiles = (files: readonly ChangedFile[]): void => {
  const written: { file: ChangedFile; temporary: string }[] = [];
  try {
    for (const file of files) {
      const temporary = join(dirname(file.real), `.${randomUUID()}.tmp`);
      written.push({ file, temporary });
      attempt(file, () => writeBeside(file, temporary));
    }
    for (const { file, temporary } of written) attempt(file, () => renameSync(temporary, file.real));
  } finally {
    for (const { temporary } of written) rmSync(temporary, { force: true });
  }
};

const writeBeside = ({ name, real, before, after }: ChangedFile, temporary: string): void => {
  const bytes = existsSync(real) ? readFileSync(real) : undefined;
  if ((bytes && new TextDecoder().decode(bytes)) !== before)
    throw new PolicyEditError(`${name} has changed meanwhile; run it again`);
  const hasMark = bytes?.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const descriptor = openSync(temporary, "wx", bytes ? 0o600 : 0o666);
  try {
    if (bytes) fchmodSync(descriptor, statSync(real).mode);
    writeFileSync(descriptor, hasMark ? `\ufeff${after}` : after);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

const attempt = ({ name }: ChangedFile, work: () => void) => {
  try {
    work();
  } catch (error) {
    if (error instanceof PolicyEditError) throw error;
    throw new PolicyEditError(`cannot write ${name}: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
};
