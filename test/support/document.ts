// README and docs as tests read them: the programs in them.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const documents = (folder: string): string[] => globSync(["*.md", "docs/**/*.md"], { cwd: folder }).toSorted();

export interface DocumentProgram {
  /** `docs/ci.md:27` */
  place: string;
  text: string;
}

/** The programs of a document: those of its ```ts fences that import this package. Each is a whole file. */
export const programsOf = (folder: string, document: string): DocumentProgram[] => {
  const text = readFileSync(join(folder, document), "utf8");
  return [...text.matchAll(/^( *)```ts\n([\s\S]*?)^\1```$/gm)]
    .map((found) => ({
      place: `${document}:${text.slice(0, found.index).split("\n").length}`,
      text: (found[2] as string).replaceAll(new RegExp(`^${found[1]}`, "gm"), ""),
    }))
    .filter((program) => /^import .* from "pulumi-irm/m.test(program.text));
};

/** The contents of the fences of a text, by their language; "" is none. */
export const fencesOf = (text: string, ...languages: string[]): string[] =>
  [...text.matchAll(/^( *)```(\w*)[^\n]*\n([\s\S]*?)^\1```$/gm)]
    .filter(([, , language = ""]) => languages.includes(language))
    .map(([, , , content = ""]) => content);

/** The commands in the fences of a text that have no language or a shell's, without comments. */
export const commandsOf = (text: string): string[] =>
  fencesOf(text, "", "sh").flatMap((fence) =>
    fence
      .split("\n")
      .map((line) => line.replace(/\s+# .*$/, "").trim())
      .filter((line) => /^(npx|irm|npm|pulumi|export|cd|mkdir) /.test(line)),
  );
