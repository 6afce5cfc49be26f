// The messages of the API as plain TypeScript, for the published types. The types of zod cannot be published: a program would
// have to compile zod's own types.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { z } from "zod";
import { enumInfo, type Message, messageInfo, unwrap } from "../schema/field.ts";
import { operations, typeName } from "../schema/index.ts";
import { root } from "./project.mjs";

/** The resources, their list requests, and every message in them. v1 is left out. */
export const messageText = (): string => {
  const declared = new Map<string, { schema: z.ZodType; lines: string[] }>();
  for (const [name, { request, response }] of Object.entries(operations)) {
    if (messageInfo(request)?.message.includes(".v1.")) continue;
    if (name.startsWith("Get")) declare(response, declared);
    if (name.startsWith("List")) declare(request, declared);
  }
  const names = Object.keys(operations).map((name) => `  | "${name}"`);
  const methods = `/** Every method that is served. */\nexport type OperationName =\n${names.join("\n")};`;
  const blocks = [...declared].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, { lines }]) => lines.join("\n"));
  const head = [
    "// Generated from schema/ by `npm run generate`; not to be edited.",
    "// The API's messages as they are in JSON.",
  ];
  return `${[head.join("\n"), ...blocks, methods].join("\n\n")}\n`;
};

type Declared = Map<string, { schema: z.ZodType; lines: string[] }>;

/** The name of a type. Declares it and every type in it. */
const declare = (schema: z.ZodType, declared: Declared): string => {
  const inner = unwrap(schema);
  const full = (messageInfo(inner)?.message ?? enumInfo(inner)?.enum) as string;
  const name = typeName(full);
  const known = declared.get(name);
  if (known) {
    if (shapeOf(known.schema) !== shapeOf(inner)) throw new TypeError(`two types are named ${name}`);
    return name;
  }
  const lines: string[] = [];
  declared.set(name, { schema: inner, lines });
  const numbers = enumInfo(inner)?.numbers;
  if (numbers) {
    lines.push(`export type ${name} =`, ...Object.keys(numbers).map((value) => `  | "${value}"`));
    lines.push(`${lines.pop()};`);
    return name;
  }
  const fields = Object.entries((inner as Message).shape);
  if (fields.length === 0) {
    lines.push(`export type ${name} = Record<string, never>;`);
    return name;
  }
  lines.push(`export interface ${name} {`);
  for (const [field, own] of fields) {
    const comment = fieldComment(full, field);
    if (comment) lines.push(`  /** ${comment} */`);
    lines.push(
      `  ${field}${isOptional(own) ? "?" : ""}: ${typeText(own, declared)}${isOptional(own) ? " | undefined" : ""};`,
    );
  }
  lines.push("}");
  return name;
};

const shapeOf = (schema: z.ZodType): string =>
  Object.keys(enumInfo(schema)?.numbers ?? (schema as Message).shape).join();

const isOptional = (schema: z.ZodType): boolean =>
  schema instanceof z.ZodOptional || (schema instanceof z.ZodReadonly && isOptional(schema.unwrap() as z.ZodType));

const isReadonly = (schema: z.ZodType): boolean =>
  schema instanceof z.ZodReadonly || (schema instanceof z.ZodOptional && isReadonly(schema.unwrap() as z.ZodType));

const typeText = (schema: z.ZodType, declared: Declared): string => {
  const inner = unwrap(schema);
  const readonly = isReadonly(schema);
  if (messageInfo(inner)) return readonly ? `Readonly<${declare(inner, declared)}>` : declare(inner, declared);
  if (enumInfo(inner)) return declare(inner, declared);
  if (inner instanceof z.ZodArray) {
    const element = typeText(inner.element as z.ZodType, declared);
    return readonly ? `readonly ${element}[]` : `${element}[]`;
  }
  if (inner instanceof z.ZodRecord) {
    const map = `Record<string, ${typeText(inner.valueType as z.ZodType, declared)}>`;
    return readonly ? `Readonly<${map}>` : map;
  }
  if (inner instanceof z.ZodBoolean) return "boolean";
  if (inner instanceof z.ZodNumber) return "number";
  if (inner instanceof z.ZodString || inner instanceof z.ZodStringFormat) return "string";
  throw new TypeError(`a ${inner.def.type} has no type yet: scripts/message-text.ts`);
};

/** The comment of a field in schema/: of `iam.Group`, `name`. */
export const fieldComment = (message: string, field: string): string | undefined => {
  const isList = /\.List\w+Request$/.test(message);
  return comments().get(`${message}.${field}`) ?? (isList ? comments().get(`.${field}`) : undefined);
};

/** Comments of fields by message and field: `iam.Group.name`; of fields that every list request has: `.pageSize`. */
let read: Map<string, string> | undefined;
const comments = (): Map<string, string> => {
  if (read) return read;
  const found = new Map<string, string>();
  const folder = join(root, "schema");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  for (const file of files.filter((name) => name.endsWith(".ts") && !name.startsWith("generated")).toSorted()) {
    const source = ts.createSourceFile(file, readFileSync(join(folder, file), "utf8"), ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      if (ts.isCallExpression(node)) {
        const [name, shape] = node.arguments;
        if (shape && ts.isObjectLiteralExpression(shape))
          for (const property of shape.properties)
            if (ts.isPropertyAssignment(property)) {
              const [comment] = ts.getJSDocCommentsAndTags(property);
              const text = comment && ts.getTextOfJSDocComment(comment.comment)?.replace(/\s+/g, " ");
              const message = name && ts.isStringLiteral(name) ? name.text : "";
              if (text) found.set(`${message}.${property.name.getText()}`, text);
            }
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  read = found;
  return found;
};
