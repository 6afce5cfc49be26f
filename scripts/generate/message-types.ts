// The messages of the API as plain TypeScript, for the published types. The types of zod cannot be published: a program would
// have to compile zod's own types.
import { z } from "zod";
import {
  enumInfo,
  fieldText,
  isManaged,
  isOptional,
  type Message,
  messageInfo,
  operations,
  type Resource,
  resources,
  typeName,
  unwrap,
} from "../../schema/index.ts";
import { HEAD } from "./program-type.ts";

/** The resources, their list requests, and every message in them. v1 is left out. */
export const messageTypes = (): string => {
  const declared: Declared = new Map();
  for (const [name, { request, response }] of Object.entries(operations)) {
    if (messageInfo(request)?.message.includes(".v1.")) continue;
    if (name.startsWith("Get")) declare(response, declared);
    if (name.startsWith("List")) declare(request, declared);
  }
  const names = Object.keys(operations).map((name) => `  | "${name}"`);
  const methods = `/** Every method that is served. */\nexport type OperationName =\n${names.join("\n")};`;
  const kinds = Object.values<Resource>(resources).filter(isManaged);
  const kindNames = kinds.map(({ field }) => `  | "${field}"`).toSorted();
  const declarable = `/** Every resource that a program can declare. */\nexport type KindName =\n${kindNames.join("\n")};`;
  const blocks = [...declared].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, { lines }]) => lines.join("\n"));
  const head = `${HEAD}\n// The API's messages as they are in JSON.`;
  return `${[head, ...blocks, methods, declarable].join("\n\n")}\n`;
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
    const comment = fieldText(own);
    if (comment) lines.push(`  /** ${comment} */`);
    lines.push(
      `  ${field}${isOptional(own) ? "?" : ""}: ${typeText(own, declared)}${isOptional(own) ? " | undefined" : ""};`,
    );
  }
  lines.push("}");
  return name;
};

const shapeOf = (schema: z.ZodType) => Object.keys(enumInfo(schema)?.numbers ?? (schema as Message).shape).join();

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
  throw new TypeError(`a ${inner.def.type} has no type yet: scripts/generate/message-types.ts`);
};
