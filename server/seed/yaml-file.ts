// A YAML file that an operator wrote: its value, and what is wrong with it, by line and column, all at once.
import { type Document, LineCounter, parseDocument, type YAMLError } from "yaml";
import type { z } from "zod";

export interface Problem {
  path: PropertyKey[];
  text: string;
}

export interface YamlFile {
  value: unknown;
  /** one line for each problem, in the order of the file: `file:line:column: path: text` */
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
    throw new Failure(document.errors.map((error) => `${at(error.pos[0])}: ${textOf(error)}`).join("\n"));

  // The nearest node that exists on the way to a path: a missing field is told where its record begins.
  const place = (path: PropertyKey[]): number => {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = document.getIn(path.slice(0, length), true) as { range?: [number, number, number] } | undefined;
      if (node?.range) return node.range[0];
    }
    return 0;
  };
  return {
    value: valueIn(document, file, Failure),
    tell: (problems) =>
      problems
        .map((problem) => ({ ...problem, offset: place(problem.path) }))
        .sort((a, b) => a.offset - b.offset)
        .map(({ path, text: told, offset }) =>
          [at(offset), ...(path.length > 0 ? [path.join(".")] : []), told].join(": "),
        )
        .join("\n"),
  };
};

// The library's text of this one is for programs.
const textOf = ({ code, message }: YAMLError): string =>
  code === "MULTIPLE_DOCS" ? "a second document begins here; the file may hold one" : message;

/** In our words, where the schema of a file says nothing itself. */
export const shapeError = (issue: z.core.$ZodRawIssue): string | undefined => {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${issue.values.map(String).join(" or ")}`;
    case "too_small":
      return `must be at least ${issue.minimum}`;
    case "too_big":
      return `must be at most ${issue.maximum}`;
  }
  return undefined;
};

const KINDS: Record<string, string> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a map",
  record: "a map",
};

/** What a schema found wrong; of keys that there are not, each where it stands. */
export const shapeProblems = (issues: readonly z.core.$ZodIssue[]): Problem[] =>
  issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => ({ path: [...issue.path, key], text: "there is no such field here" }))
      : [{ path: issue.path, text: issue.message }],
  );

// Aliases are followed here, and so many of them refused.
const valueIn = (document: Document, file: string, Failure: Failure): unknown => {
  try {
    return document.toJS();
  } catch (error) {
    throw new Failure(`${file}:1:1: ${(error as Error).message}`, { cause: error });
  }
};
