// The published types say in words what each class, argument, output and function is; an editor shows nothing else.
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { installPackage } from "../support/package.ts";

test.each([
  ["index", 350],
  ["plugin", 60],
])("%s.d.ts leaves nothing without a docstring", async (entry, least) => {
  const { path } = await installPackage();
  const { count, ...found } = undocumentedIn(join(path, `${entry}.d.ts`));
  expect(count).toBeGreaterThan(least);
  for (const [what, names] of Object.entries(found)) expect([what, names]).toEqual([what, []]);
});

/** Types that a program fills, and the blocks in them. */
const isArgument = (name: string, { type }: ts.PropertySignature): boolean =>
  /(?:Args|Config|Document|Fields)$/.test(name) || /\bInput</.test(type?.getText() ?? "");

const DEFAULT = /default|keeps its uid/i;

const isMeasured = (node: ts.PropertySignature | ts.PropertyDeclaration | ts.MethodDeclaration): boolean => {
  const type = ts.isMethodDeclaration(node) ? "" : (node.type?.getText() ?? "");
  return !type.includes("{") && (/\bnumber\b/.test(type) || /(?:Time|Timeout|ttl)$/.test(node.name.getText()));
};

const UNIT = /RFC 3339|seconds|records|role bindings|number of (?:the|its)/i;

/** Of one .d.ts file: what it exports, and the members of exported classes, interfaces and types. */
const undocumentedIn = (file: string) => {
  const program = ts.createProgram([file], { noResolve: true, skipLibCheck: true });
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(file) as ts.SourceFile) as ts.Symbol;
  const result = {
    /** no doc comment at all: `Group`, `GroupArgs.name` */
    missing: [] as string[],
    /** classes and functions whose comment has no example, or names no error */
    withoutExample: [] as string[],
    withoutErrors: [] as string[],
    /** arguments that may be left out, whose comment does not say what holds then */
    withoutDefault: [] as string[],
    /** numbers, times and durations whose comment does not say in what they are counted */
    withoutUnit: [] as string[],
    count: 0,
  };
  const note = (name: string, node: ts.Node): string => {
    result.count += 1;
    const docs = ts.getJSDocCommentsAndTags(node).map((doc) => doc.getText());
    if (docs.length === 0) result.missing.push(name);
    return docs.join("\n");
  };
  const members = (name: string, node: ts.Node): void => {
    const visit = (inner: ts.Node): void => {
      const isMember =
        ts.isPropertySignature(inner) ||
        ts.isPropertyDeclaration(inner) ||
        ts.isMethodDeclaration(inner) ||
        ts.isConstructorDeclaration(inner);
      const isAbsent = ts.isPropertySignature(inner) && inner.type?.kind === ts.SyntaxKind.UndefinedKeyword;
      if (isMember && !isAbsent) {
        const own = `${name}.${inner.name?.getText() ?? "constructor"}`;
        const text = note(own, inner);
        if (ts.isPropertySignature(inner) && inner.questionToken && isArgument(name, inner) && !DEFAULT.test(text))
          result.withoutDefault.push(own);
        if (!ts.isConstructorDeclaration(inner) && isMeasured(inner) && !UNIT.test(text)) result.withoutUnit.push(own);
      }
      if (!ts.isFunctionLike(inner)) ts.forEachChild(inner, visit);
    };
    ts.forEachChild(node, visit);
  };
  for (const exported of checker.getExportsOfModule(module)) {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    for (const declaration of symbol.declarations ?? []) {
      const { name } = exported;
      const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
      const text = note(name, node);
      const acts = ts.isClassDeclaration(node) || ts.isFunctionDeclaration(node) || ts.isVariableStatement(node);
      if (acts && !text.includes("@example")) result.withoutExample.push(name);
      if (acts && !text.includes("Errors:")) result.withoutErrors.push(name);
      members(name, node);
    }
  }
  return result;
};
