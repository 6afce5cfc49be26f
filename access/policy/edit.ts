// Small changes of a policy file that leave its comments, anchors, aliases, includes and order as they are.
import {
  type CollectionTag,
  type Document,
  isAlias,
  parseDocument,
  type ScalarTag,
  type Tags,
  type YAMLMap,
} from "yaml";

type Path = readonly (string | number)[];

export class PolicyEditError extends Error {
  override readonly name = "PolicyEditError";
}

export interface PolicyDocument {
  /** Creates or replaces what stands at the path, and the maps above it. */
  set(path: Path, value: unknown): void;
  /** Removes what stands at the path; nothing stands there: no change. */
  remove(path: Path): void;
  /** The file, changed where it was changed. */
  text(): string;
}

/** Throws a PolicyEditError where the text is not YAML. */
export const editPolicy = (text: string): PolicyDocument => {
  const document = parseDocument(text, { prettyErrors: false, customTags });
  const [error] = document.errors;
  if (error) throw new PolicyEditError(error.message);
  return {
    set: (path, value) => {
      refuseAlias(document, path.slice(0, -1));
      const present = document.getIn(path, true);
      if (isAlias(present)) document.deleteIn(path);
      document.setIn(path, document.createNode(value));
    },
    remove: (path) => {
      refuseAlias(document, path.slice(0, -1));
      if (document.hasIn(path)) document.deleteIn(path);
    },
    // A fold in the middle of a list would change lines that were not changed.
    text: () => document.toString({ lineWidth: 0 }),
  };
};

// The library pads maps and lists alike; people write { a: b } and [a, b].
const customTags = (tags: Tags): Tags =>
  tags.map((tag) => {
    if (typeof tag !== "object" || !isCollectionTag(tag)) return tag;
    const flowCollectionPadding = tag.collection === "map" ? " " : "";
    const stringify: Stringify = (item, context, ...hooks) =>
      (item as unknown as YAMLMap).toString({ ...context, flowCollectionPadding }, ...hooks);
    return { ...tag, stringify } as unknown as CollectionTag;
  });

type Stringify = NonNullable<ScalarTag["stringify"]>;

const isCollectionTag = (tag: CollectionTag | ScalarTag): tag is CollectionTag => tag.collection !== undefined;

// Whatever else uses the anchor would change with it.
const refuseAlias = (document: Document, path: Path): void => {
  for (let length = 1; length <= path.length; length += 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isAlias(node))
      throw new PolicyEditError(
        `${path.slice(0, length).join(".")} is the alias *${node.source}; change its anchor, or write it out first`,
      );
  }
};
