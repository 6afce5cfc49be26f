// YAML in which a reader sees each character, and no text is anything but a text. The engine reads it too, and takes `1_000` for a number,
// `<<` for a merge and a date for a time, as YAML 1.1 does.
import { Document, isMap, isScalar, isSeq, type Node, Scalar, type ScalarTag, type Tags, visit } from "yaml";
import { printable, printableLines } from "../schema/index.ts";

/** `isFlow`: whether the map under this key is written on one line. Lists of scalars are, unless `isLong`. */
export const yamlText = (value: unknown, isFlow?: (key: string) => boolean, isLong?: boolean): string => {
  const yaml = new Document(undefined, YAML_OPTIONS);
  yaml.contents = yamlNode(yaml, value, isFlow, isLong);
  return yaml.toString({ lineWidth: 0 });
};

/** A value as a node of a document that has `YAML_OPTIONS`. */
export const yamlNode = (
  document: Document.Parsed | Document,
  value: unknown,
  isFlow: (key: string) => boolean = () => false,
  isLong = false,
): Node => {
  const root = document.createNode(value) as Node;
  visit(root, {
    Scalar: (_, node) => {
      if (typeof node.value === "string" && (escaped(node.value) !== node.value || /[\r\n]/.test(node.value)))
        node.format = ESCAPED;
    },
    Pair: (_, { key, value: held }) => {
      const isShort = isScalar(key) && isFlow(String(key.value));
      if ((isMap(held) && isShort) || (isSeq(held) && !isLong && held.items.every(isScalar))) held.flow = true;
    },
  });
  return root;
};

const ESCAPED = "ESCAPED";
const AS_IT_IS = "AS_IT_IS";

const textWith = (format: string, stringify: (scalar: Scalar) => string): ScalarTag => ({
  tag: "tag:yaml.org,2002:str",
  default: true,
  format,
  identify: (value) => typeof value === "string",
  resolve: (text) => text,
  stringify,
});

export const YAML_OPTIONS = {
  compat: "yaml-1.1",
  customTags: (tags: Tags) => [
    ...tags,
    // Escapes are read in double quotes only.
    textWith(ESCAPED, ({ value }) => escaped(JSON.stringify(value))),
    textWith(AS_IT_IS, ({ source = "" }) => source),
  ],
} as const;

/** Keeps a text without quotes that was read: YAML 1.1 may read something else in it, and the file has it so. */
export const keepAsItIs = (scalar: Scalar): void => {
  if (scalar.type === Scalar.PLAIN && typeof scalar.value === "string" && !scalar.source?.includes("\n"))
    scalar.format = AS_IT_IS;
};

// Not as two units of UTF-16, which the engine does not read; nor does it read these two characters as they are.
const escaped = (text: string): string =>
  printableLines(
    text
      .replace(/[\ufffe\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16)}`)
      .replace(/[\u{10000}-\u{10ffff}]/gu, (one) =>
        printable(one) === one ? one : `\\U${one.codePointAt(0)?.toString(16).padStart(8, "0")}`,
      ),
  );
