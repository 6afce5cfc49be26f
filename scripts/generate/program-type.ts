// What the generators of provider/program share: imports of a file, doc comments, and what an output may lack.
import { toSnake } from "../../schema/index.ts";

export const HEAD = "// Generated from schema/ by `npm run generate`; not to be edited.";

/** `RoleBinding` to `role-binding`. */
export const fileOfType = (type: string): string => toSnake(type).slice(1).replaceAll("_", "-");

/** `an Identity`. */
export const article = (type: string): string => `${/^[AEIOU]/i.test(type) ? "an" : "a"} ${type}`;

export interface Imports {
  /** a type, from a file; returns its name */
  type(name: string, file: string): string;
  value(name: string, file: string): string;
  /** a class of another kind */
  resource(type: string): string;
  /** the API's message; its name in the file ends with `suffix` */
  message(name: string, suffix?: string): string;
  lines(): string[];
}

export const createImports = (own: string): Imports => {
  const files = new Map<string, Map<string, boolean>>();
  const add = (name: string, file: string, isType: boolean): void => {
    const names = files.get(file) ?? new Map<string, boolean>();
    files.set(file, names);
    names.set(name, (names.get(name) ?? true) && isType);
  };
  const type = (name: string, file: string): string => {
    add(name, file, true);
    return name;
  };
  return {
    type,
    value: (name, file) => {
      add(name, file, false);
      return name;
    },
    resource: (name) => (name === own ? name : type(name, `./${fileOfType(name)}.ts`)),
    message: (name, suffix = "Message") => {
      add(suffix === "" ? name : `${name} as ${name}${suffix}`, "../../../schema/public.ts", true);
      return name + suffix;
    },
    lines: () => [
      'import type * as pulumi from "@pulumi/pulumi";',
      ...[...files]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([file, names]) => {
          const sorted = [...names].toSorted(([a], [b]) => (a < b ? -1 : 1));
          const isType = sorted.every(([, only]) => only);
          const shown = sorted.map(([name, only]) => (only && !isType ? `type ${name}` : name));
          return `import ${isType ? "type " : ""}{ ${shown.join(", ")} } from "${file}";`;
        }),
    ],
  };
};

const WIDTH = 116;

/** A doc comment; an empty text is an empty line. */
export const docLines = (indent: string, texts: readonly string[]): string[] => {
  const [only = ""] = texts;
  if (texts.length === 1 && indent.length + only.length + 7 <= WIDTH) return [`${indent}/** ${only} */`];
  let isCode = false;
  const lines = texts.flatMap((text) => {
    if (text.startsWith("```")) isCode = !isCode;
    return isCode || text === "" ? [text] : wrapText(text, WIDTH - indent.length - 3);
  });
  return [`${indent}/**`, ...lines.map((line) => `${indent} *${line && " "}${line}`), `${indent} */`];
};

/** A program, at the end of a doc comment. */
export const exampleLines = (program: string): string[] => ["@example", "```ts", ...program.split("\n"), "```"];

const wrapText = (text: string, width: number): string[] => {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last !== "" && last.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
};
