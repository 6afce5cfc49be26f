// How large the project is. A commit that needs more raises a limit here, and its body says why.
//
//   node scripts/measures.ts [COMMIT]   the measures of the work tree, or of a commit
//   node scripts/measures.ts --check    fails if one is above its limit
//
// Product is all code outside test, sdk, examples and docs that is not generated. Comments and formatting do not count. The parser counts all
// tokens. The scanner by itself skips code that follows a template with a value, so its count depends on where files begin.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import ts from "typescript";
import { once } from "../schema/once.ts";
import { filesOfClone, root } from "./base/project.mjs";

interface File {
  path: string;
  text: string;
}

interface Limits {
  before: number;
  limit: number;
  goal: number;
}

interface Measure extends Limits {
  name: string;
  value: number;
}

const git = (args: string[], input?: string): Buffer =>
  execFileSync("git", args, { cwd: root, ...(input !== undefined && { input }), maxBuffer: 2 ** 30 });

const filesOfCommit = (commit: string): File[] => {
  const paths = git(["ls-tree", "-r", "--name-only", commit]).toString().split("\n").filter(Boolean);
  const objects = git(["cat-file", "--batch"], paths.map((path) => `${commit}:${path}\n`).join(""));
  let at = 0;
  return paths.map((path) => {
    const end = objects.indexOf("\n", at);
    const size = Number(objects.toString("utf8", at, end).split(" ").at(-1));
    at = end + 1 + size + 1;
    return { path, text: objects.toString("utf8", end + 1, end + 1 + size) };
  });
};

const countLines = ({ text }: File) => text.split("\n").length - 1;

const HEAD_LINES = 5;
const isGenerated = ({ path, text }: File) =>
  /^sdk\/|\/generated\//.test(path) ||
  /generated (by|from)|do not edit/i.test(text.split("\n", HEAD_LINES).join("\n")) ||
  path === "package-lock.json";
const isTest = ({ path }: File) => path.startsWith("test/");
const isFixture = (file: File) => isTest(file) && /\/(fixtures|recorded)\//.test(file.path);
const isProduct = (file: File) =>
  /\.(ts|mjs|js)$/.test(file.path) && !/^(test|sdk|examples|docs)\//.test(file.path) && !isGenerated(file);

const parse = once(({ path, text }: File) =>
  ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS),
);

const scanTokens = ({ text }: File): number => {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, true, ts.LanguageVariant.Standard, text);
  let count = 0;
  while (scanner.scan() !== ts.SyntaxKind.EndOfFileToken) count += 1;
  return count;
};

/** The leaves of the syntax tree. */
const countTokens = (file: File): number => {
  const source = parse(file);
  const countIn = (node: ts.Node): number => {
    const children = node.getChildren(source).filter((child) => !ts.isJSDoc(child));
    if (children.length > 0) return children.reduce((total, child) => total + countIn(child), 0);
    return node.kind <= ts.SyntaxKind.LastToken && node.getWidth(source) > 0 ? 1 : 0;
  };
  return countIn(source);
};

/** A function that only returns a table does not count. */
const longestFunction = (files: readonly File[]): { lines: number; place: string } => {
  let longest = { lines: 0, place: "" };
  for (const file of files) {
    const source = parse(file);
    const visit = (node: ts.Node) => {
      if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined && !isTable(node.body as ts.Node)) {
        const [from, to] = [node.getStart(source), node.getEnd()].map(
          (at) => source.getLineAndCharacterOfPosition(at).line,
        );
        const lines = (to as number) - (from as number) + 1;
        if (lines > longest.lines) longest = { lines, place: `${file.path}:${(from as number) + 1}` };
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return longest;
};

const isTable = (body: ts.Node) => {
  if (ts.isBlock(body)) return false;
  const value = ts.isParenthesizedExpression(body) ? body.expression : body;
  return ts.isObjectLiteralExpression(value) || ts.isArrayLiteralExpression(value);
};

const SMALL_FILE = 40;

/** `limit` is the highest value for the work tree: lower it after each cut. `goal` ends the cutting. `before` is the value of 12c58a12. */
const measuresOf = (files: readonly File[]): Measure[] => {
  const product = files.filter(isProduct);
  const tests = files.filter((file) => isTest(file) && !isFixture(file));
  const longest = (isEngine: boolean) =>
    longestFunction(product.filter(({ path }) => path.startsWith("provider/engine/") === isEngine));
  const [engine, other] = [longest(true), longest(false)];
  const total = (name: string, chosen: readonly File[], count: (file: File) => number, limits: Limits): Measure => ({
    name,
    value: chosen.reduce((sum, file) => sum + count(file), 0),
    ...limits,
  });
  const one = () => 1;
  return [
    total("tokens of product, by the parser", product, countTokens, { before: 650_430, limit: 612_204, goal: 546_700 }),
    total("tokens of product, by the scanner", product, scanTokens, { before: 397_942, limit: 326_230, goal: 330_000 }),
    total("files of product", product, one, { before: 895, limit: 640, goal: 640 }),
    total(
      `files of product below ${SMALL_FILE} lines`,
      product.filter((file) => countLines(file) < SMALL_FILE),
      one,
      { before: 200, limit: 80, goal: 80 },
    ),
    total("lines of tests", tests, countLines, { before: 91_395, limit: 72_644, goal: 72_000 }),
    total("bytes of fixtures", files.filter(isFixture), ({ text }) => Buffer.byteLength(text), {
      before: 1_237_020,
      limit: 300_000,
      goal: 300_000,
    }),
    total("generated lines", files.filter(isGenerated), countLines, { before: 68_331, limit: 50_000, goal: 50_000 }),
    total(
      "lines of biome.json",
      files.filter(({ path }) => path === "biome.json"),
      countLines,
      { before: 1_064, limit: 200, goal: 200 },
    ),
    {
      name: `longest function of provider/engine (${engine.place})`,
      value: engine.lines,
      before: 247,
      limit: 80,
      goal: 80,
    },
    { name: `longest function elsewhere (${other.place})`, value: other.lines, before: 287, limit: 150, goal: 150 },
  ];
};

const { values: flags, positionals } = parseArgs({ options: { check: { type: "boolean" } }, allowPositionals: true });
const [commit] = positionals;
const files =
  commit === undefined
    ? filesOfClone().map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
    : filesOfCommit(commit);
const measures = measuresOf(files);
const row = (cells: readonly (number | string)[], name: string) =>
  `${cells.map((cell) => cell.toLocaleString("en").padStart(10)).join("")}  ${name}`;
console.log(row(["value", "limit", "goal", "12c58a12"], "measure"));
for (const { name, value, limit, goal, before } of measures) console.log(row([value, limit, goal, before], name));
const over = measures.filter(({ value, limit }) => value > limit);
if (flags.check === true && over.length > 0) {
  for (const { name, value, limit } of over) console.log(`above its limit: ${name}: ${value} instead of ${limit}`);
  process.exitCode = 1;
}
