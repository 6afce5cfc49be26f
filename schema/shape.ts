// Problems with the shape of a value that people write, in plain words instead of zod's messages.
import type { z } from "zod";

export interface Problem {
  path: PropertyKey[];
  text: string;
}

export const shapeError = (issue: z.core.$ZodRawIssue): string | undefined => {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${issue.values.map(String).join(" or ")}`;
    case "too_small":
      return issue.origin === "string" ? "is required" : `must be at least ${issue.minimum}`;
    case "too_big":
      return `must be at most ${issue.maximum}${issue.origin === "string" ? " characters" : ""}`;
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

/** The problems that a schema found. Each unknown key is a problem at its own path. */
export const shapeProblems = (issues: readonly z.core.$ZodIssue[]): Problem[] =>
  issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => ({ path: [...issue.path, key], text: "there is no such field here" }))
      : [{ path: issue.path, text: issue.message }],
  );
