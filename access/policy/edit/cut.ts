// Takes entries out of one YAML file. The document's nodes say where an entry begins and ends, and only these characters go: comments,
// quotes and the order of everything else stay as they are.
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  type Node,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { pathText } from "../source.ts";
import { type Fail, isMergeKey, nameOf, openDocument, type Targets, type YamlPair } from "./document.ts";
import { type Cut, changed as changedText, type Layout, LayoutError, layoutOf } from "./layout.ts";

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
  const { document, targets, fail } = openDocument(text, file);
  const prune = prunerOf(targets, layoutOf(text), isGone, fail);
  const sections = isMap(document.contents) ? (document.contents.items as YamlPair[]) : [];
  for (const { key, value } of sections) {
    const name = nameOf(key) as keyof typeof LEVELS;
    if (Object.hasOwn(LEVELS, name)) prune.section(value, name);
  }
  checkAnchors(document, targets, prune, fail);
  return { text: changedText(text, prune.cuts), found: prune.found };
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
type Entry = Node | YamlPair;

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
