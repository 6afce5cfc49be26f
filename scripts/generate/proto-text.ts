// A protobuf file as .proto text (protobuf language guide, proto3): one line a field, in the order of their numbers.
import {
  descriptorTexts,
  type EnumDescriptor,
  type FieldDescriptor,
  type FileDescriptor,
  type MessageDescriptor,
  type Options,
  toLowerCamel,
  toSnake,
} from "../../schema/index.ts";
import { HEAD, wrapText } from "./program-type.ts";

export const protoText = (file: FileDescriptor): string => {
  const scope = `.${file.package}.`;
  const imports = file.dependency.map((name) => `import "${name}";`);
  const blocks = [
    ...file.extension.map((own) => [
      `extend ${shortTypeName(own.extendee, scope)} {`,
      `  ${fieldText(own, scope)}`,
      "}",
    ]),
    ...file.service.map((own) => serviceText(own, scope)),
    ...file.messageType.map((own) => messageText(own, scope)),
    ...file.enumType.map(enumText),
  ];
  const sections = [
    [HEAD, 'syntax = "proto3";'],
    [`package ${file.package};`],
    ...(imports.length > 0 ? [imports] : []),
    ...blocks,
  ];
  return `${sections.map((lines) => lines.join("\n")).join("\n\n")}\n`;
};

const indent = (lines: readonly string[]) => lines.map((line) => (line ? `  ${line}` : line));

const serviceText = ({ name, method }: FileDescriptor["service"][number], scope: string) => [
  `service ${name} {`,
  ...indent(
    method.flatMap((own) => [
      `rpc ${own.name}(${shortTypeName(own.inputType, scope)}) returns (${shortTypeName(own.outputType, scope)}) {`,
      ...Object.entries(own.options ?? {}).flatMap(([option, value]) =>
        indent(`option ${optionName(option)} = ${aggregate(value as Options).join("\n")};`.split("\n")),
      ),
      "}",
    ]),
  ),
  "}",
];

const messageText = (message: MessageDescriptor, scope: string): string[] => {
  const { name, oneofDecl, reservedRange, reservedName } = message;
  const entries = message.nestedType.filter(({ options }) => options?.mapEntry);
  const nested = message.nestedType.filter((own) => !entries.includes(own));
  const fields = message.field.toSorted((a, b) => a.number - b.number);
  const printed = new Set<number>();
  const lines = fields.flatMap((own) => {
    if (own.oneofIndex === undefined || own.proto3Optional) return fieldLines(own, scope, entries);
    // The members of a oneof are written together, in the place of the first.
    if (printed.has(own.oneofIndex)) return [];
    printed.add(own.oneofIndex);
    const members = fields.filter(({ oneofIndex }) => oneofIndex === own.oneofIndex);
    const inside = members.flatMap((member) => fieldLines(member, scope, entries));
    return [`oneof ${oneofDecl[own.oneofIndex]?.name} {`, ...indent(inside), "}"];
  });
  const reserved = [
    ...(reservedRange.length > 0 ? [`reserved ${reservedRange.map(({ start }) => start).join(", ")};`] : []),
    ...(reservedName.length > 0 ? [`reserved ${reservedName.map((own) => `"${own}"`).join(", ")};`] : []),
  ];
  const inner = [
    ...nested.map((own) => messageText(own, scope)),
    ...message.enumType.map(enumText),
    ...[reserved, lines].filter((own) => own.length > 0),
  ];
  const comment = commentLines(message);
  if (inner.length === 0) return [...comment, `message ${name} {}`];
  return [...comment, `message ${name} {`, ...indent(inner.flatMap((own, i) => (i > 0 ? ["", ...own] : own))), "}"];
};

const enumText = ({ name, value }: EnumDescriptor) => [
  `enum ${name} {`,
  ...indent(value.map((own) => `${own.name} = ${own.number};`)),
  "}",
];

/** Without the slashes. */
const COMMENT_WIDTH = 97;

/** The text of a message or a field above it, in lines. */
const commentLines = (own: FieldDescriptor | MessageDescriptor): string[] => {
  const text = descriptorTexts.get(own);
  return text === undefined ? [] : wrapText(text, COMMENT_WIDTH).map((line) => `// ${line}`);
};

const fieldLines = (field: FieldDescriptor, scope: string, entries: readonly MessageDescriptor[]) => [
  ...commentLines(field),
  fieldText(field, scope, entries),
];

const fieldText = (field: FieldDescriptor, scope: string, entries: readonly MessageDescriptor[] = []): string => {
  const { name, number, jsonName, label, proto3Optional, options = {} } = field;
  const entry = entries.find((own) => field.typeName?.endsWith(`.${own.name}`));
  const [key, value] = entry?.field ?? [];
  const prefix = label === "LABEL_REPEATED" ? "repeated " : proto3Optional ? "optional " : "";
  const type =
    key && value ? `map<${typeText(key, scope)}, ${typeText(value, scope)}>` : prefix + typeText(field, scope);
  const shownOptions = [
    ...(jsonName !== undefined && jsonName !== toLowerCamel(name) ? [`json_name = "${jsonName}"`] : []),
    ...Object.entries(options).flatMap(([option, values]) =>
      (values as string[]).map((own) => `${optionName(option)} = ${own}`),
    ),
  ];
  return `${type} ${name} = ${number}${shownOptions.length > 0 ? ` [${shownOptions.join(", ")}]` : ""};`;
};

const typeText = ({ type, typeName }: FieldDescriptor, scope: string) =>
  typeName ? shortTypeName(typeName, scope) : type.replace("TYPE_", "").toLowerCase();

// Types of the same package by their short name; others with the dot, so that no scope is searched for them.
const shortTypeName = (typeName = "", scope: string) =>
  typeName.startsWith(scope) ? typeName.slice(scope.length) : typeName;

const optionName = (option: string) => option.replace(/^\[(.*)\]$/, "($1)");

/** A message as an option's value: `{ get: "/x" }`. */
const aggregate = (value: Options): string[] => {
  const entries = Object.entries(value).flatMap(([key, own]) =>
    Array.isArray(own) ? own.map((item) => [key, item] as const) : [[key, own] as const],
  );
  const lines = entries.flatMap(([key, own]) => {
    const name = toSnake(key);
    if (typeof own === "string") return [`${name}: ${JSON.stringify(own)}`];
    const [first, ...rest] = aggregate(own as Options);
    return [`${name} ${first}`, ...rest];
  });
  return ["{", ...indent(lines), "}"];
};
