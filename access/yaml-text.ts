// YAML in which a reader sees each character, and no text is anything but a text. The engine reads it too, and takes `1_000` for a number,
// `<<` for a merge and a date for a time, as YAML 1.1 does.
import { Document, isMap, isScalar, isSeq, Scalar, visit } from "yaml";
import { printable, printableLines } from "../schema/index.ts";

/** What is between the brackets of a list, or the braces of a map, on one line. A text there needs more quotes than in a block. */
export const yamlItem = (value: readonly unknown[] | ReadonlyMap<string, unknown>): string => {
  const yaml = documentOf(value);
  visit(yaml, {
    Collection: (_, node) => {
      node.flow = true;
    },
  });
  return textOf(yaml).trim().slice(2, -2);
};

/** `isFlow`: whether the map under this key is written on one line. Lists of scalars are, unless `isLong`. */
export const yamlText = (value: unknown, isFlow: (key: string) => boolean = () => false, isLong = false): string => {
  const yaml = documentOf(value);
  visit(yaml, {
    Pair: (_, { key, value: held }) => {
      const isShort = isScalar(key) && isFlow(String(key.value));
      if ((isMap(held) && isShort) || (isSeq(held) && !isLong && held.items.every(isScalar))) held.flow = true;
    },
  });
  return textOf(yaml);
};

const documentOf = (value: unknown): Document => {
  const yaml = new Document(value, { compat: "yaml-1.1" });
  visit(yaml, {
    Scalar: (_, node) => {
      // The escapes below are read in double quotes only.
      const isPlain =
        typeof node.value !== "string" || (escaped(node.value) === node.value && !/[\r\n]/.test(node.value));
      if (!isPlain) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return yaml;
};

const textOf = (yaml: Document): string => escaped(yaml.toString({ lineWidth: 0 }));

// Not as two units of UTF-16, which the engine does not read; nor does it read these two characters as they are.
const escaped = (text: string): string =>
  printableLines(
    text
      .replace(/[\ufffe\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16)}`)
      .replace(/[\u{10000}-\u{10ffff}]/gu, (one) =>
        printable(one) === one ? one : `\\U${one.codePointAt(0)?.toString(16).padStart(8, "0")}`,
      ),
  );
