// Shared by the generators of provider/program: imports of a file, doc comments, and types of scalars.
import type { z } from "zod";
import { toSnake } from "../../schema/index.ts";

export const HEAD = "// Generated from schema/ by `npm run generate`; not to be edited.";

/** `RoleBinding` to `role-binding`. */
export const fileOfType = (type: string): string => toSnake(type).slice(1).replaceAll("_", "-");

/** `an Identity`. */
export const article = (type: string): string => `${/^[AEIOU]/i.test(type) ? "an" : "a"} ${type}`;

export type Imports = ReturnType<typeof createImports>;

/** The imports of a file, and the types that it declares. Each function returns the name of a type in the file. */
export const createImports = (own: string) => {
  const files = new Map<string, Map<string, boolean>>();
  const declared = new Set<string>();
  const add = (name: string, file: string, isType: boolean): string => {
    const names = files.get(file) ?? new Map<string, boolean>();
    files.set(file, names);
    names.set(name, (names.get(name) ?? true) && isType);
    return name;
  };
  const type = (name: string, file: string) => add(name, file, true);
  return {
    type,
    value: (name: string, file: string) => add(name, file, false),
    /** a type of the file itself */
    declare: (name: string, text: string) => {
      declared.add(text);
      return name;
    },
    /** Returns and removes the declarations so far. */
    takeDeclared: () => {
      const texts = [...declared];
      declared.clear();
      return texts;
    },
    /** a class of another kind */
    resource: (name: string) => (name === own ? name : type(name, `./${fileOfType(name)}.ts`)),
    /** the API's message; its name in the file ends with `suffix` */
    message: (name: string, suffix = "Message"): string => {
      type(suffix === "" ? name : `${name} as ${name}${suffix}`, "../../../schema/public.ts");
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

/** The type of a scalar; of an enum or another text a string. */
export const scalarType = (inner: z.ZodType): string => {
  const { type } = inner.def;
  return type === "boolean" || type === "number" ? type : "string";
};

/** An enum with more values than this is a string in programs. */
export const OPEN_ENUM = 100;

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

export const wrapText = (text: string, width: number): string[] => {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last !== "" && last.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
};
