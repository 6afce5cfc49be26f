// One YAML file of a policy as the library's nodes, which say where in the text they are.
import {
  type Document,
  isAlias,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
  visit,
} from "yaml";

/** Why a policy cannot be edited, in a sentence for each reason. */
export class PolicyEditError extends Error {
  override readonly name = "PolicyEditError";
}

/** Throws a PolicyEditError with the place of the node. */
export type Fail = (node: Node, why: string) => never;
/** What each alias stands for: the last anchor of its name above it. */
export type Targets = ReadonlyMap<Node, Node>;
export type YamlPair = Pair<Node, Node | null>;

export interface OpenDocument {
  document: Document;
  targets: Targets;
  fail: Fail;
}

/** `file` is for messages. */
export const openDocument = (text: string, file: string): OpenDocument => {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const fail: Fail = (node, why) => {
    const { line, col } = lines.linePos(node.range?.[0] ?? 0);
    throw new PolicyEditError(`${file}:${line}:${Math.max(col, 1)}: ${why}`);
  };
  return { document, targets: targetsIn(document), fail };
};

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

export const isMergeKey = (key: Node): boolean => isScalar(key) && key.type === Scalar.PLAIN && key.value === "<<";

// A key is a text: what looks like a number stays as it is written.
export const nameOf = (node: unknown): string => {
  if (!isScalar(node)) return "";
  return typeof node.value === "string" ? node.value : (node.source ?? String(node.value));
};
