// YAML in which a reader sees each character, and no text is anything but a text.
import { Document, isMap, isScalar, isSeq, Scalar, visit } from "yaml";
import { printableLines } from "../../schema/index.ts";

/** `isFlow`: whether the map under this key is written on one line. Lists of scalars are. */
export const yamlText = (value: unknown, isFlow: (key: string) => boolean = () => false): string => {
  const yaml = new Document(value);
  visit(yaml, {
    Scalar: (_, node) => {
      // The escapes below are read in double quotes only.
      const isPlain =
        typeof node.value !== "string" || (printableLines(node.value) === node.value && !/[\r\n]/.test(node.value));
      if (!isPlain) node.type = Scalar.QUOTE_DOUBLE;
    },
    Pair: (_, { key, value: held }) => {
      const isShort = isScalar(key) && isFlow(String(key.value));
      if ((isMap(held) && isShort) || (isSeq(held) && held.items.every(isScalar))) held.flow = true;
    },
  });
  return printableLines(yaml.toString({ lineWidth: 0 }));
};
