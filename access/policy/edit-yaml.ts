// Takes entries out of one YAML file. The document's nodes say where an entry begins and ends, and only these characters go: comments,
// quotes and the order of everything else stay as they are.
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { type Cut, type Layout, LayoutError, layoutOf } from "./edit-layout.ts";
import { pathText } from "./source.ts";

/** Why a policy cannot be edited, in a sentence for each reason. */
export class PolicyEditError extends Error {
  override readonly name = "PolicyEditError";
}

export type EditPath = readonly string[];

/** The sections that entries are taken out of, and how many levels below each an entry is. */
const LEVELS = { access: 3, identities: 1, roles: 1 } as const;

export interface CutFile {
  /** the text without the entries */
  text: string;
  /** as `JSON.stringify` writes the paths of the entries that went */
  found: ReadonlySet<string>;
}

/** `isGone` is asked about `["access", group, role, identity]`, `["identities", key]` and `["roles", key]`. */
export const cutFromYaml = (text: string, file: string, isGone: (path: EditPath) => boolean): CutFile => {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const fail = (node: Node, why: string): never => {
    const { line, col } = lines.linePos(node.range?.[0] ?? 0);
    throw new PolicyEditError(`${file}:${line}:${Math.max(col, 1)}: ${why}`);
  };
  const targets = targetsIn(document);
  const prune = prunerOf(targets, layoutOf(text), isGone, fail);
  const sections = isMap(document.contents) ? (document.contents.items as Pair<Node, Node | null>[]) : [];
  for (const { key, value } of sections) {
    const name = nameOf(key) as keyof typeof LEVELS;
    if (Object.hasOwn(LEVELS, name)) prune.section(value, name);
  }
  checkAnchors(document, targets, prune, fail);
  return { text: without(text, prune.cuts), found: prune.found };
};

type Fail = (node: Node, why: string) => never;
/** What each alias stands for: the last anchor of its name above it. */
type Targets = ReadonlyMap<Node, Node>;

const targetsIn = (document: Document): Targets => {
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  visit(document, {
    Node: (_, node) => {
      const target = isAlias(node) ? anchors.get(node.source) : undefined;
      if (target) targets.set(node, target);
      if (!isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
};

/** What becomes of an entry: it stays, it loses something, or all of it goes. */
type Fate = "stays" | "changes" | "goes";

interface Pruner {
  section(node: Node | null, name: keyof typeof LEVELS): void;
  cuts: Cut[];
  /** collections that lose something */
  changed: Node[];
  /** aliases that stand for such a collection, and lose the same */
  shared: Map<Node, EditPath>;
  found: Set<string>;
}

const prunerOf = (targets: Targets, layout: Layout, isGone: (path: EditPath) => boolean, fail: Fail): Pruner => {
  const { cuts, changed, shared, found }: Omit<Pruner, "section"> = {
    cuts: [],
    changed: [],
    shared: new Map(),
    found: new Set(),
  };

  const cut = (node: Collection, path: EditPath, cutsOf: () => Cut[]): void => {
    try {
      cuts.push(...cutsOf());
      changed.push(node);
    } catch (error) {
      if (!(error instanceof LayoutError)) throw error;
      fail(error.node, `${pathText(path)} ${error.message}`);
    }
  };

  /** `isShared`: the node is reached through an alias, so it cannot be changed here. */
  const fateOf = (node: Node | null, path: EditPath, levels: number, isShared = false): Fate => {
    if (levels === 0) {
      if (!isGone(path)) return "stays";
      found.add(JSON.stringify(path));
      return "goes";
    }
    if (isAlias(node)) {
      const fate = fateOf(targets.get(node) ?? null, path, levels, true);
      if (fate === "changes") shared.set(node, path);
      return fate;
    }
    if (!isCollection(node)) return "stays";
    const fates = (node.items as Entry[]).map((entry): Fate => {
      const [key, value] = isPair(entry) ? [entry.key, entry.value] : [targets.get(entry) ?? entry, entry];
      if (isPair(entry) && isMergeKey(key)) return "stays";
      return fateOf(value, [...path, nameOf(key)], levels - 1, isShared);
    });
    if (fates.every((fate) => fate === "stays")) return "stays";
    if (fates.every((fate) => fate === "goes")) return "goes";
    const goes = fates.map((fate) => fate === "goes");
    if (!isShared) cut(node as Collection, path, () => layout.cutItems(node as Collection, goes));
    return "changes";
  };

  const section: Pruner["section"] = (node, name) => {
    if (fateOf(node, [name], LEVELS[name]) !== "goes") return;
    if (isAlias(node)) fail(node, `${name} is the alias *${node.source}; write it out`);
    cut(node as Collection, [name], () => layout.cutAll(node as Collection));
  };
  return { section, cuts, changed, shared, found };
};

type Collection = YAMLMap | YAMLSeq;
type Entry = Node | Pair<Node, Node | null>;

const isMergeKey = (key: Node): boolean => isScalar(key) && key.type === Scalar.PLAIN && key.value === "<<";

// A key is a text: what looks like a number stays as it is written.
const nameOf = (node: unknown): string => {
  if (!isScalar(node)) return "";
  return typeof node.value === "string" ? node.value : (node.source ?? String(node.value));
};

/** An anchor that changes also changes what its aliases stand for: each of them has to lose the same. */
const checkAnchors = (document: Document, targets: Targets, { cuts, changed, shared }: Pruner, fail: Fail): void => {
  const isCut = (node: Node): boolean => {
    const at = node.range?.[0] ?? 0;
    return cuts.some(({ start, end }) => start <= at && at < end);
  };
  for (const [alias, path] of shared)
    if (!changed.includes(targets.get(alias) as Node)) fail(alias, `${pathText(path)} is an alias; write it out`);
  visit(document, {
    Alias: (_, alias) => {
      const target = targets.get(alias);
      if (target === undefined || shared.has(alias) || isCut(alias)) return;
      if (changed.includes(target) || isCut(target))
        fail(alias, `the alias *${alias.source} stands for something that would change; write it out here`);
    },
  });
};

const without = (text: string, cuts: readonly Cut[]): string => {
  let [kept, from] = ["", 0];
  for (const { start, end, instead = "" } of cuts.toSorted((a, b) => a.start - b.start)) {
    kept += text.slice(from, start) + instead;
    from = end;
  }
  return kept + text.slice(from);
};
