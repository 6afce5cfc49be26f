// README and docs as tests read them: the programs in them, and where their links lead.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const documents = (folder: string): string[] => globSync(["*.md", "docs/*.md"], { cwd: folder }).toSorted();

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

/** What a link may name of a document: its headings, as they are shown on the web, and anchors of its own. */
export const anchorsOf = (folder: string, document: string): string[] => {
  const text = readFileSync(join(folder, document), "utf8");
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    (title as string)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s/g, "-"),
  );
  return [...headings, ...[...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, id]) => id as string)];
};

/** Relative links of a document, without those in code. */
export const linksOf = (folder: string, document: string): string[] => {
  const text = readFileSync(join(folder, document), "utf8").replace(/^ *```[\s\S]*?^ *```$|`[^`\n]*`/gm, "");
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target as string)
    .filter((target) => !/^[a-z]+:/.test(target));
};
