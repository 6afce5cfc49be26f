// The doc comments of declarations, and of the members of their values, read from the sources alone: types are followed by name, so
// the compiler need not check a whole program each time that files are generated.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** The doc comment of an exported declaration, or of a member at a path in its values: `GroupArgs`, `name`. */
export type FindDocstring = (declaration: string, ...path: string[]) => string | undefined;

type Declaration = ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.ClassDeclaration;

interface Member {
  text: string | undefined;
  type: ts.TypeNode | undefined;
}

/** Of all declarations in the files of a folder. */
export const docstringsIn = (folder: string): FindDocstring => {
  const declarations = new Map<string, Declaration>();
  const texts = new Map<string, string>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".ts"))) {
    const source = ts.createSourceFile(file, readFileSync(join(folder, file), "utf8"), ts.ScriptTarget.Latest, true);
    for (const statement of source.statements) {
      for (const [name, text] of textsOf(statement)) texts.set(name, text);
      if (!isDeclaration(statement) || !statement.name) continue;
      const { text: name } = statement.name;
      declarations.set(name, statement);
      const opening = openingText(source.text, name);
      if (opening !== undefined && !texts.has(name)) texts.set(name, opening);
    }
  }

  /** The members of the values of a type: of a list or a map, of those that it holds. */
  const membersOf = (node: ts.Node): Map<string, Member> => {
    const found = new Map<string, Member>();
    const add = (name: string, member: Member) => {
      if (found.get(name)?.text === undefined) found.set(name, member);
    };
    const visit = (inner: ts.Node): void => {
      if ((ts.isPropertySignature(inner) || ts.isPropertyDeclaration(inner)) && ts.isIdentifier(inner.name))
        add(inner.name.text, { text: textOf(inner), type: inner.type });
      else if (ts.isTypeReferenceNode(inner) || ts.isExpressionWithTypeArguments(inner)) {
        const name = (ts.isTypeReferenceNode(inner) ? inner.typeName : inner.expression).getText();
        const declared = declarations.get(name);
        if (declared) for (const [one, member] of membersOf(declared)) add(one, member);
        for (const argument of inner.typeArguments ?? []) visit(argument);
      } else if (!ts.isFunctionLike(inner)) ts.forEachChild(inner, visit);
    };
    visit(node);
    return found;
  };

  return (declaration, ...path) => {
    if (path.length === 0) return texts.get(declaration);
    let node: ts.Node | undefined = declarations.get(declaration);
    let text: string | undefined;
    for (const name of path) {
      const member: Member | undefined = node && membersOf(node).get(name);
      text = member?.text;
      node = member?.type;
    }
    return text;
  };
};

const isDeclaration = (node: ts.Node): node is Declaration =>
  ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node);

const textsOf = (statement: ts.Statement): [string, string][] => {
  const text = textOf(statement);
  if (text === undefined) return [];
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => [name.getText(), text]);
  const named = ts.isFunctionDeclaration(statement) || isDeclaration(statement) ? statement.name : undefined;
  return named ? [[named.text, text]] : [];
};

const textOf = (node: ts.Node): string | undefined => {
  const [comment] = ts.getJSDocCommentsAndTags(node);
  return comment && ts.getTextOfJSDocComment(comment.comment)?.replace(/\s+/g, " ");
};

/** A file that opens with `// Group: a node …` says so of its class. */
const openingText = (text: string, name: string): string | undefined => {
  const [comment = ""] = /^(?:\/\/.*\n)+/.exec(text) ?? [];
  const own = comment
    .replace(/^\/\/ ?/gm, "")
    .replace(/\s+/g, " ")
    .trim();
  return own.startsWith(`${name}: `) ? own.slice(name.length + 2) : undefined;
};
