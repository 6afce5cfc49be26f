// Reads one YAML file as a tree with places: its anchors, aliases and merge keys, its syntax errors, and duplicate keys.
import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  Scalar,
  type YAMLError,
  YAMLParseError,
} from "yaml";
import {
  DEPTH_MAX,
  type Entry,
  holdsNames,
  listOf,
  type Mistake,
  mapOf,
  NO_NAME,
  NODES_MAX,
  type Place,
  pathText,
  type Source,
  scalarOf,
} from "./source.ts";

const TOO_MANY = `has more than ${NODES_MAX.toLocaleString("en")} nodes, aliases included; divide the policy`;
const TOO_DEEP = `is nested more than ${DEPTH_MAX} levels deep`;
/** Maximum syntax errors that are shown: one slip may cause thousands. */
const ERRORS_MAX = 50;

export const sourceFromYaml = (text: string, file: string): { source?: Source; mistakes: Mistake[] } => {
  const start = { file, line: 1, column: 1 };
  const lines = new LineCounter();
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: Math.max(col, 1) };
  };
  const document = documentOf(text, lines);
  if (typeof document === "string") return { mistakes: [{ path: "", text: document, place: start }] };
  if (document.errors.length > 0) return { mistakes: syntaxMistakes(document, place) };
  const { source, mistakes } = treeOf(document, place);
  if (source.size > NODES_MAX) return { mistakes: [{ path: "", text: TOO_MANY, place: start }] };
  return { source, mistakes };
};

// Each scalar, alias, bracket, anchor and tag is a separate token, so a file with more tokens has more nodes. They are counted before they
// are parsed, which takes most of the time and memory. The first character is the library's own sign of a plain scalar.
const STARTS_NODE = new Set(["\u001f", '"', "'", "*", "[", "{", "&", "!"]);

/** The document, or why the text is refused: the library would need minutes for it. */
const documentOf = (text: string, lines: LineCounter): Document | string => {
  let refusal: string | undefined;
  function* tokens() {
    const parser = new Parser(lines.addNewLine);
    lines.addNewLine(0);
    let count = 0;
    let depth = 0;
    for (const token of new Lexer().lex(text)) {
      const first = token.charAt(0);
      if (STARTS_NODE.has(first)) count += 1;
      if (first === "[" || first === "{") depth += 1;
      if (first === "]" || first === "}") depth -= 1;
      if (count > NODES_MAX) refusal = TOO_MANY;
      else if (depth > DEPTH_MAX) refusal = TOO_DEEP;
      if (refusal) return;
      yield* parser.next(token);
    }
    yield* parser.end();
  }
  // The library compares each key of a map with every other one; `treeOf` needs one pass.
  const composer = new Composer({ lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const [document, second] = composer.compose(tokens(), true, text.length);
  if (refusal) return refusal;
  if (second)
    document?.errors.push(new YAMLParseError(second.range.slice(0, 2) as [number, number], "MULTIPLE_DOCS", ""));
  return document as Document;
};

// The library's own text is for programmers.
const syntaxText = ({ code, message }: YAMLError) => {
  if (code === "MULTIPLE_DOCS") return "a second document begins here; the file may hold one";
  // Block sequences on one line nest without brackets: the library runs out of stack.
  return code === "RESOURCE_EXHAUSTION" ? TOO_DEEP : `is not YAML: ${message}`;
};

const syntaxMistakes = ({ errors }: Document, place: (offset: number) => Place): Mistake[] => {
  const mistakes = errors.slice(0, ERRORS_MAX).map((error) => ({
    path: "",
    text: syntaxText(error),
    place: place(error.pos[0]),
  }));
  const [last] = errors.slice(ERRORS_MAX);
  if (last)
    mistakes.push({
      path: "",
      text: `is not YAML: ${errors.length - ERRORS_MAX} more errors from here on`,
      place: place(last.pos[0]),
    });
  return mistakes;
};

type Path = readonly PropertyKey[];

const treeOf = (document: Document, place: (offset: number) => Place) => {
  const mistakes: Mistake[] = [];
  /** the target of an anchor; null while it is read */
  const anchors = new Map<string, Source | null>();

  const placeAt = (node: Node | null | undefined): Place => place(node?.range?.[0] ?? 0);
  const mistake = (node: Node | null | undefined, path: Path, text: string) =>
    mistakes.push({ path: pathText(path), text, place: placeAt(node) });

  const read = (node: Node | null | undefined, path: Path): Source => {
    const anchor = node && "anchor" in node ? node.anchor : undefined;
    if (anchor !== undefined) anchors.set(anchor, null);
    const source = readNode(node, path);
    if (anchor !== undefined) anchors.set(anchor, source);
    return source;
  };

  const readNode = (node: Node | null | undefined, path: Path): Source => {
    if (path.length > DEPTH_MAX) {
      mistake(node, [], TOO_DEEP);
      return scalarOf(null, placeAt(node));
    }
    if (isAlias(node)) return readAlias(node, path);
    if (isMap(node)) return readMap(node.items as Pair<Node, Node | null>[], node, path);
    if (isSeq(node)) {
      const items = (node.items as Node[]).map((item, i) => read(item, [...path, i]));
      return listOf(items, placeAt(node));
    }
    return isScalar(node) ? scalarOf(node.value, placeAt(node), node.source) : scalarOf(null, placeAt(node));
  };

  const readAlias = (node: Node & { source: string }, path: Path): Source => {
    const target = anchors.get(node.source);
    if (target) return target;
    mistake(
      node,
      path,
      target === null
        ? `the alias *${node.source} is within its own anchor, so it has no end; write it out`
        : `the alias *${node.source} has no anchor &${node.source} above it`,
    );
    return scalarOf(null, placeAt(node));
  };

  const readMap = (pairs: readonly Pair<Node, Node | null>[], node: Node, path: Path): Source => {
    const entries = new Map<string, Entry>();
    const merged: Source[] = [];
    for (const { key, value } of pairs) {
      const name = isScalar(key) ? keyText(key) : "";
      const entryPath = [...path, name];
      const source = read(value, entryPath);
      if (isMergeKey(key)) merged.push(...mergedMaps(source, key, path));
      else if (!isScalar(key) || key.value === null) mistake(key ?? node, path, "a key must be a string");
      else {
        const first = entries.get(name)?.key;
        if (name === "__proto__" && !holdsNames(path)) mistake(key, path, NO_NAME);
        else if (first) mistake(key, entryPath, `is here twice; the first is at ${first.line}:${first.column}`);
        else entries.set(name, { key: placeAt(key), value: source });
      }
    }
    // The map's own entries win, then the first map's (https://yaml.org/type/merge.html).
    for (const map of merged)
      if ("entries" in map) for (const [name, entry] of map.entries) if (!entries.has(name)) entries.set(name, entry);
    return mapOf(entries, placeAt(node));
  };

  const mergedMaps = (source: Source, key: Node, path: Path): Source[] => {
    const maps = "items" in source ? source.items : [source];
    if (maps.every((map) => "entries" in map)) return maps;
    mistake(key, path, "<< takes a map, or a list of maps");
    return [];
  };

  return { source: read(document.contents as Node | null, []), mistakes };
};

// A key is a text: one that looks like a number keeps its spelling.
export const keyText = ({ value, source }: Scalar): string =>
  typeof value === "string" ? value : (source ?? String(value));

export const isMergeKey = (key: Node): key is Scalar =>
  isScalar(key) && key.type === Scalar.PLAIN && key.value === "<<";
