// Checks the references in docs and comments: links and anchors of Markdown, paths of the repository. Reports names of
// documents that the repository does not contain.
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { type Page, pageFrom } from "./base/markdown.ts";
import { filesOfClone, root } from "./base/project.mjs";

interface DeadReference {
  file: string;
  /** counted from 1 */
  line: number;
  text: string;
}
type Problem = Omit<DeadReference, "file">;

/** The dead references in a repository of these files: path to text. */
export const deadReferences = (files: ReadonlyMap<string, string>): DeadReference[] => {
  const pages = new Map<string, Page>();
  for (const [file, text] of files) if (file.endsWith(".md")) pages.set(file, pageFrom(text));
  const repository = repositoryOf([...files.keys()], pages);

  return [...files]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([file, text]) => {
      const page = pages.get(file);
      const problems = page ? pageProblems(file, page, repository) : [];
      // A file that cites this page may use its fault numbers.
      const citesFaults =
        file === "docs/internals/faults.md" || /(docs\/internals\/|\]\((?:[\w.-]+\/)*)faults\.md/.test(text);
      for (const [index, written] of (page?.prose ?? commentsIn(file, text)).entries()) {
        const line = written.replaceAll(/\b[a-z]+:\/\/\S+/g, " ");
        const texts = [...wordProblems(file, line, repository), ...namesOfDocuments(line, citesFaults)];
        problems.push(...texts.map((problem) => ({ line: index + 1, text: problem })));
      }
      return problems.toSorted((a, b) => a.line - b.line).map((problem) => ({ file, ...problem }));
    });
};

type Repository = ReturnType<typeof repositoryOf>;

const repositoryOf = (files: readonly string[], pages: ReadonlyMap<string, Page>) => {
  const folders = new Set(files.flatMap(foldersOf));
  const paths = new Set([".", ...folders, ...files]);
  const ends = new Set(
    files.flatMap((file) => [file, ...foldersOf(file).map((folder) => file.slice(folder.length + 1))]),
  );
  const dead = (path: string) => {
    if (path.includes("*")) return `no file is a ${path}`;
    const name = posix.basename(path);
    const alike = files.filter((file) => posix.basename(file) === name || posix.basename(file).startsWith(`${name}.`));
    return `${path} does not exist${alike.length > 0 ? `: write ${alike.slice(0, 3).join(" or ")}` : ""}`;
  };
  return {
    /** undefined when a file or folder has this path, otherwise the problem */
    pathProblem: (path: string) => {
      const isGlobOfSome = path.includes("*") && files.some((file) => posix.matchesGlob(file, path));
      return paths.has(path) || isGlobOfSome ? undefined : dead(path);
    },
    /** the same for a path that may lack its first folders */
    endProblem: (path: string) => (ends.has(path) ? undefined : dead(path)),
    anchorProblem: (path: string, anchor: string | undefined) => {
      const page = anchor ? pages.get(path) : undefined;
      return page && !page.anchors.some(({ name }) => name === anchor) ? `${path} has no anchor #${anchor}` : undefined;
    },
    isTopFolder: (name: string) => folders.has(name),
  };
};

const foldersOf = (file: string) => {
  const parts = file.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
};

const pageProblems = (file: string, { links, anchors }: Page, repository: Repository): Problem[] => {
  const problems: Problem[] = [];
  for (const { target, line } of links) {
    if (/^[a-z]+:|^\/\//.test(target)) continue;
    const [to, anchor] = target.split("#");
    const path = to ? posix.join(posix.dirname(file), to).replace(/\/$/, "") : file;
    const text = repository.pathProblem(path) ?? repository.anchorProblem(path, anchor);
    if (text) problems.push({ line, text });
  }
  for (const [index, { name, line }] of anchors.entries())
    if (anchors.findIndex((other) => other.name === name) < index)
      problems.push({ line, text: `the anchor #${name} is defined twice` });
  return problems;
};

// Not after an @: package paths start with a scope.
const WORD = /(?<![\w/.@#$:%~-])(?:[\w.*-]+\/)*[\w.*-]*[\w*](?:#[\w-]+)?/g;
const SOURCE = /\.(ts|mjs|sql)$/;

/** Documents that a command writes for its user. */
const WRITTEN = ["handover.md"];

/** Problems of paths in the words of a line. */
const wordProblems = (file: string, line: string, repository: Repository) =>
  (line.replaceAll("**", " ").match(WORD) ?? []).flatMap((word) => {
    const [written, anchor] = word.split("#") as [string, string?];
    const path = written.replace(/^(\.\.?\/)+/, "");
    if (path.startsWith(".") && !path.includes("/")) return [];
    const [top] = path.split("/", 1) as [string];
    if (WRITTEN.includes(path)) return [];
    if (path.endsWith(".md")) {
      const beside = posix.join(posix.dirname(file), path);
      const here = file.endsWith(".md") && !repository.pathProblem(beside) ? beside : path;
      return repository.pathProblem(here) ?? repository.anchorProblem(here, anchor) ?? [];
    }
    if (path.includes("/") && repository.isTopFolder(top)) return repository.pathProblem(path) ?? [];
    return SOURCE.test(path) && !path.includes("*") ? (repository.endProblem(path) ?? []) : [];
  });

/** Finds names of documents that the repository does not contain. */
const namesOfDocuments = (line: string, citesFaults: boolean) => [
  ...[...line.matchAll(/\bdecisions? (\d+)/gi)].map(
    ([name, number]) => `"${name}" has no address: write docs/internals/contract.md#d${number}`,
  ),
  ...[...line.matchAll(/\bcontract,? (?:section \d+|\d+\.\d+)/gi)].map(
    ([name]) => `"${name}" is not in this repository: write a section of docs/internals/contract.md`,
  ),
  ...[...line.matchAll(/\borganisations?\b/gi)].map(([name]) => `"${name}" is spelled organization, as in the API`),
  ...[...line.matchAll(/\bissue \d+/gi)].map(([name]) => `"${name}" is not in this repository: write what it says`),
  ...[...(citesFaults ? [] : line.matchAll(/\bF(\d\d?)\b/g))].map(
    ([name, number]) => `"${name}" has no address: write docs/internals/faults.md#f${number}`,
  ),
];

const COMMENT: Record<string, RegExp> = {
  ts: /(?:(?:^|\s)(?:\/\/|\/\*+)|^\s*\*(?!\/))(?:\s.*|$)/,
  sql: /--\s.*/,
  yaml: /(?:^|\s)#.*/,
};
const TEST_NAME = /^\s*(?:\]\)|(?:test|it|describe)\b[^("]*)\(".*?"/;

/** The comments of each line, and the names of tests. */
const commentsIn = (file: string, text: string) => {
  const pattern = COMMENT[languageOf(file) ?? ""];
  if (!pattern) return [];
  return text.split("\n").map((line) => (TEST_NAME.exec(line) ?? pattern.exec(line) ?? [""])[0]);
};

const languageOf = (file: string): string | undefined => {
  if (/(^|\/)(generated|fixtures)\//.test(file)) return undefined;
  if (file === ".ci/run" || /\.ya?ml$/.test(file)) return "yaml";
  return /\.(ts|mjs|js|css)$/.test(file) ? "ts" : /\.sql$/.exec(file) ? "sql" : undefined;
};

if (import.meta.main) {
  const texts = filesOfClone().map((path): [string, string] => {
    const isRead = path.endsWith(".md") || languageOf(path) !== undefined;
    return [path, isRead ? readFileSync(join(root, path), "utf8") : ""];
  });
  const dead = deadReferences(new Map(texts));
  for (const { file, line, text } of dead) console.log(`${file}:${line}: ${text}`);
  if (dead.length > 0) process.exitCode = 1;
}
