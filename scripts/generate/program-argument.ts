// The types of arguments of provider/program from the fields of messages: Outputs, alternatives, and the messages and enums that have a
// name of their own in programs.
import { z } from "zod";
import {
  enumInfo,
  fieldInfo,
  fieldText,
  inputFields,
  type Message,
  messageInfo,
  typeName,
  unwrap,
} from "../../schema/index.ts";
import { docLines, type Imports, OPEN_ENUM, scalarType } from "./program-type.ts";

interface Members {
  /** lines of members that every form has */
  plain: string[];
  /** types of which one form is given */
  alternatives: string[];
}

/** The members of a message as arguments, by the names that `nameOf` gives to fields. The file declares the types in them. */
export const argumentMembers = (
  schema: Message,
  imports: Imports,
  nameOf: (field: string) => string = (field) => field,
): Members => {
  const fields = inputFields(schema);
  const { requiredOneofs = [], anyOf = [] } = messageInfo(schema) ?? {};
  const fieldOf = (name: string) => schema.shape[name] as z.ZodType;
  const groups = requiredOneofs.map((oneof) => fields.filter((name) => fieldInfo(fieldOf(name)).oneof === oneof));
  const excluding = fields.filter((name) => fieldInfo(fieldOf(name)).excludes !== undefined);
  const excluded = excluding.flatMap((name) => fieldInfo(fieldOf(name)).excludes ?? []);
  const apart = [...groups.filter((group) => group.length > 1).flat(), ...excluding, ...excluded, ...anyOf];
  const isRequired = (name: string) =>
    fieldInfo(fieldOf(name)).behavior === "REQUIRED" ||
    groups.some(([only, ...others]) => only === name && others.length === 0);
  const member = (name: string, required: boolean, indent = "  ") => {
    const field = fieldOf(name);
    const type = argumentType(field, imports);
    const text = fieldText(field, "argument") ?? "";
    const isAlternative = required || groups.flat().includes(name);
    const shown = isAlternative ? text : withDefault(text, unwrap(field).def.type);
    return [...docLines(indent, [shown]), `${indent}${nameOf(name)}${required ? "" : "?"}: ${type};`];
  };
  const plain = fields.filter((name) => !apart.includes(name)).flatMap((name) => member(name, isRequired(name)));
  const oneOfs = groups
    .filter((group) => group.length > 1)
    .map((group) => {
      imports.type("OneOf", "../inputs.ts");
      return `OneOf<{\n${group.flatMap((name) => member(name, true)).join("\n")}\n}>`;
    });
  const exclusive = excluding.map((name) => {
    const others = fieldInfo(fieldOf(name)).excludes ?? [];
    const [with_, without] = [
      [...member(name, true, "      "), ...others.map((other) => `      ${nameOf(other)}?: undefined;`)],
      [`      ${nameOf(name)}?: undefined;`, ...others.flatMap((other) => member(other, false, "      "))],
    ];
    return alternativesText([with_, without]);
  });
  const some = anyOf.map((name, i) => {
    const before = anyOf.slice(0, i).map((other) => `      ${nameOf(other)}?: undefined;`);
    const isSwitch = unwrap(fieldOf(name)).def.type === "boolean";
    const lines = member(name, true, "      ").map((line) =>
      isSwitch ? line.replace("pulumi.Input<boolean>", "pulumi.Input<true>") : line,
    );
    return [...before, ...lines, ...anyOf.slice(i + 1).flatMap((other) => member(other, false, "      "))];
  });
  return { plain, alternatives: [...oneOfs, ...exclusive, ...(some.length > 0 ? [alternativesText(some)] : [])] };
};

const alternativesText = (forms: readonly string[][]) =>
  `(\n${forms.flatMap((lines) => ["  | {", ...lines, "    }"]).join("\n")}\n)`;

const membersText = (members: Members) =>
  [...(members.plain.length > 0 ? [`{\n${members.plain.join("\n")}\n}`] : []), ...members.alternatives].join(" & ");

const argumentType = (field: z.ZodType, imports: Imports) => {
  const inner = unwrap(field);
  const { references } = fieldInfo(field);
  if (references !== undefined) {
    const one = `${imports.resource(references)} | pulumi.Input<string>`;
    return inner instanceof z.ZodRecord ? `Record<string, ${one}>` : one;
  }
  const typeName = valueType(inner, imports);
  return hasReferences(inner) ? typeName : `pulumi.Input<${typeName}>`;
};

/** A resource in place of a uid cannot be within an Output. */
const hasReferences = (inner: z.ZodType): boolean =>
  inner instanceof z.ZodArray
    ? hasReferences(unwrap(inner.element as z.ZodType))
    : Object.values((inner as { shape?: Record<string, z.ZodType> }).shape ?? {}).some(
        (field) => fieldInfo(field).references !== undefined || hasReferences(unwrap(field)),
      );

const valueType = (inner: z.ZodType, imports: Imports): string => {
  if (inner instanceof z.ZodArray) {
    const item = unwrap(inner.element as z.ZodType);
    const typeName = valueType(item, imports);
    return hasReferences(item) ? `${typeName}[]` : `pulumi.Input<${typeName}>[]`;
  }
  if (inner instanceof z.ZodRecord)
    return `Record<string, pulumi.Input<${valueType(unwrap(inner.valueType as z.ZodType), imports)}>>`;
  if (enumInfo(inner)) return enumType(inner, imports);
  if (messageInfo(inner)) return messageType(inner as unknown as Message, imports);
  return scalarType(inner);
};

const enumType = (inner: z.ZodType, imports: Imports) => {
  const { enum: name, numbers, argumentType: own, text } = enumInfo(inner) ?? { enum: "", numbers: {} };
  if (Object.keys(numbers).length > OPEN_ENUM) return "string";
  if (own === undefined) throw new TypeError(`${name} is an argument, and has no argumentType`);
  const type = imports.message(typeName(name), "Value");
  const lines = [...docLines("", [`${text ?? own}, by its name in the API.`]), `export type ${own} = ${type};`];
  return imports.declare(own, lines.join("\n"));
};

const messageType = (schema: Message, imports: Imports) => {
  const { argumentType: own, text } = messageInfo(schema) ?? {};
  const members = argumentMembers(schema, imports);
  if (own === undefined) return membersText(members).replaceAll("\n", "\n  ");
  const lines =
    members.alternatives.length === 0
      ? [`export interface ${own} {`, ...members.plain, "}"]
      : [`export type ${own} = ${membersText(members)};`];
  return imports.declare(own, [...docLines("", [`${text ?? own}.`]), ...lines].join("\n"));
};

/** A text that names the default of the value. */
export const withDefault = (text: string, type: string): string => {
  if (/default|absent|undefined|may always|instead of/i.test(text)) return text;
  return `${text.replace(/\.$/, "")}; default: ${type === "boolean" ? "false" : type === "array" || type === "record" ? "empty" : "none"}`;
};
