// The Pulumi.yaml of the program, as far as this package reads it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A member of the project's file; undefined where there is no file, or it has no such member. `folder` is the program's. */
export const projectMember = (folder: string, name: "backend" | "runtime"): unknown => {
  const text = projectFile(folder);
  if (!text.includes(name)) return undefined;
  try {
    // Loaded only where it is needed: few projects name a backend.
    const { parse } = require("yaml") as typeof import("yaml");
    return (parse(text) as Record<string, unknown> | null)?.[name];
  } catch {
    // The engine has read the file, or there would be no run.
    return undefined;
  }
};

const projectFile = (folder: string): string => {
  for (let at = folder; ; at = dirname(at)) {
    for (const name of ["Pulumi.yaml", "Pulumi.yml"]) {
      const text = textOf(join(at, name));
      if (text !== "") return text;
    }
    if (at === dirname(at)) return "";
  }
};

const require = createRequire(import.meta.url);

/** "" where the file cannot be read. */
export const textOf = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
};
