// How large the project is. A commit that needs more raises a limit here, and its body says why. With --check, fails if a measure is above
// its limit.
//
//   node scripts/measures.ts [--check]
//
// Product is all code outside test, sdk, examples and docs that is not generated. Tokens are those of TypeScript's parser: comments and
// formatting do not count.
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

interface Measure {
  name: string;
  value: number;
  /** what the work tree may have: lower it after each cut */
  limit: number;
  /** where the cutting ends */
  goal: number;
}

const filesOfTree = (): File[] =>
  filesOfClone().map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

const countLines = ({ text }: File): number => text.split("\n").length - 1;
const sum = (files: readonly File[], count: (file: File) => number): number =>
  files.reduce((total, file) => total + count(file), 0);

const HEAD_LINES = 5;
const isGenerated = ({ path, text }: File): boolean =>
  /^sdk\/|\/generated\//.test(path) ||
  /generated (by|from)|do not edit/i.test(text.split("\n", HEAD_LINES).join("\n")) ||
  path === "package-lock.json";
const isCode = ({ path }: File): boolean => /\.(ts|mjs|js)$/.test(path);
const isTest = ({ path }: File): boolean => path.startsWith("test/");
const isFixture = ({ path }: File): boolean => isTest({ path } as File) && /\/(fixtures|recorded)\//.test(path);
const isProduct = (file: File): boolean =>
  isCode(file) && !/^(test|sdk|examples|docs)\//.test(file.path) && !isGenerated(file);

const parse = once(
  ({ path, text }: File): ts.SourceFile =>
    ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS),
);

/** The leaves of the syntax tree: without a parser, the scanner takes code after a template with a value for text. */
const countTokens = (file: File): number => {
  const source = parse(file);
  const countIn = (node: ts.Node): number => {
    const children = node.getChildren(source).filter((child) => !ts.isJSDoc(child));
    if (children.length > 0) return children.reduce((total, child) => total + countIn(child), 0);
    return node.kind <= ts.SyntaxKind.LastToken && node.getWidth(source) > 0 ? 1 : 0;
  };
  return countIn(source);
};

interface Longest {
  lines: number;
  place: string;
}

/** A function that only returns a table does not count. */
const longestFunction = (files: readonly File[]): Longest => {
  let longest: Longest = { lines: 0, place: "" };
  for (const file of files) {
    const source = parse(file);
    const visit = (node: ts.Node): void => {
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

const isTable = (body: ts.Node): boolean => {
  if (ts.isBlock(body)) return false;
  const value = ts.isParenthesizedExpression(body) ? body.expression : body;
  return ts.isObjectLiteralExpression(value) || ts.isArrayLiteralExpression(value);
};

const SMALL_FILE = 40;

const measuresOf = (files: readonly File[]): Measure[] => {
  const product = files.filter(isProduct);
  const tests = files.filter((file) => isTest(file) && !isFixture(file));
  const small = product.filter((file) => countLines(file) < SMALL_FILE);
  const biome = files.filter(({ path }) => path === "biome.json");
  const [engine, other] = [true, false].map((isEngine) =>
    longestFunction(product.filter(({ path }) => path.startsWith("provider/engine/") === isEngine)),
  ) as [Longest, Longest];
  const bytes = ({ text }: File): number => Buffer.byteLength(text);
  const rows: [name: string, value: number, limit: number, goal: number][] = [
    ["tokens of product", sum(product, countTokens), 664_700, 546_700],
    ["files of product", product.length, 640, 640],
    [`files of product below ${SMALL_FILE} lines`, small.length, 80, 80],
    ["lines of tests", sum(tests, countLines), 92_500, 72_000],
    ["bytes of fixtures", sum(files.filter(isFixture), bytes), 300_000, 300_000],
    ["generated lines", sum(files.filter(isGenerated), countLines), 50_000, 50_000],
    ["lines of biome.json", sum(biome, countLines), 200, 200],
    [`longest function of provider/engine (${engine.place})`, engine.lines, 80, 80],
    [`longest function elsewhere (${other.place})`, other.lines, 150, 150],
  ];
  return rows.map(([name, value, limit, goal]) => ({ name, value, limit, goal }));
};

const { values: flags } = parseArgs({ options: { check: { type: "boolean" } } });
const measures = measuresOf(filesOfTree());
const row = (cells: readonly (number | string)[], name: string): string =>
  `${cells.map((cell) => cell.toLocaleString("en").padStart(10)).join("")}  ${name}`;
console.log(row(["value", "limit", "goal"], "measure"));
for (const { name, value, limit, goal } of measures) console.log(row([value, limit, goal], name));
const over = measures.filter(({ value, limit }) => value > limit);
if (flags.check === true && over.length > 0) {
  for (const { name, value, limit } of over) console.log(`above its limit: ${name}: ${value} instead of ${limit}`);
  process.exitCode = 1;
}
