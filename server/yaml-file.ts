// A YAML file that an operator wrote: its value, and what is wrong with it, by line and column, all at once.
import { type Document, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";

export interface Problem {
  path: PropertyKey[];
  text: string;
}

export interface YamlFile {
  value: unknown;
  /** one line for each problem: `file:line:column: path: text` */
  tell(problems: readonly Problem[]): string;
}

type Failure = new (message: string, options?: ErrorOptions) => Error;

/** Throws a `Failure` where the text is no YAML. */
export const readYaml = (text: string, file: string, Failure: Failure): YamlFile => {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  if (document.errors.length > 0)
    throw new Failure(document.errors.map((error) => `${at(error.pos[0])}: ${error.message}`).join("\n"));

  // The nearest node that exists on the way to a path: a missing field is told where its record begins.
  const place = (path: PropertyKey[]): string => {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = document.getIn(path.slice(0, length), true) as { range?: [number, number, number] } | undefined;
      if (node?.range) return at(node.range[0]);
    }
    return `${file}:1:1`;
  };
  return {
    value: valueIn(document, file, Failure),
    tell: (problems) =>
      problems.map(({ path, text: told }) => `${place(path)}: ${path.map(String).join(".")}: ${told}`).join("\n"),
  };
};

export const shapeProblem = ({ path, message }: z.core.$ZodIssue): Problem => ({ path, text: message });

// Aliases are followed here, and so many of them refused.
const valueIn = (document: Document, file: string, Failure: Failure): unknown => {
  try {
    return document.toJS();
  } catch (error) {
    throw new Failure(`${file}:1:1: ${(error as Error).message}`, { cause: error });
  }
};
