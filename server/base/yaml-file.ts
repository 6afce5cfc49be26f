// A YAML file that an operator wrote: its value, and the positions of its problems.
import { LineCounter, parseDocument } from "yaml";
import type { Problem } from "../../schema/json.ts";

export type YamlFile = ReturnType<typeof readYaml>;

type Failure = new (message: string, options?: ErrorOptions) => Error;

/** Throws a `Failure` with every error if the text is not YAML. */
export const readYaml = (text: string, file: string, Failure: Failure) => {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const errors = document.errors.map(({ code, message, pos }) => {
    // The library's own text is for programs.
    const text = code === "MULTIPLE_DOCS" ? "a second document begins here; the file may hold one" : message;
    return `${at(pos[0])}: ${text}`;
  });
  if (errors.length > 0) throw new Failure(errors.join("\n"));

  // Follows aliases. Throws if they multiply beyond the library's limit.
  const read = (): unknown => {
    try {
      return document.toJS();
    } catch (error) {
      throw new Failure(`${file}:1:1: ${(error as Error).message}`, { cause: error });
    }
  };
  // The nearest node on the way to a path: a missing field gets the position of its record.
  const place = (path: PropertyKey[]) => {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = document.getIn(path.slice(0, length), true) as { range?: [number, number, number] } | undefined;
      if (node?.range) return node.range[0];
    }
    return 0;
  };
  return {
    value: read(),
    /** One line for each problem, in the order of the file: `file:line:column: path: text`. */
    describe: (problems: readonly Problem[]) =>
      problems
        .map((problem) => ({ ...problem, offset: place(problem.path) }))
        .sort((a, b) => a.offset - b.offset)
        .map(({ path, text: problem, offset }) =>
          [at(offset), ...(path.length > 0 ? [path.join(".")] : []), problem].join(": "),
        )
        .join("\n"),
  };
};
