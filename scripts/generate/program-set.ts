// The class of a set of role bindings from its descriptor: arguments, outputs and the records in them. What its constructor does is
// written by hand (provider/program/set-resource.ts).
import { z } from "zod";
import {
  BoundRecord,
  fieldText,
  inputFields,
  isOptional,
  type Message,
  messageInfo,
  roleBindingSet,
  typeName,
  unwrap,
} from "../../schema/index.ts";
import { exampleOf } from "./example.ts";
import { argumentMembers } from "./program-argument.ts";
import { createImports, docLines, exampleLines, fileOfType, HEAD, type Imports, scalarType } from "./program-type.ts";

/** The files by name: the set, and the record that it shares with the outputs of other kinds. */
export const setFiles = (): Map<string, string> =>
  new Map([
    ["bound-record.ts", `${[HEAD, recordText(BoundRecord, createImports(""), [])].join("\n\n")}\n`],
    [`${fileOfType(roleBindingSet.type)}.ts`, setFile()],
  ]);

const setFile = (): string => {
  const { type } = roleBindingSet;
  const imports = createImports(type);
  imports.value("SetResource", "../set-resource.ts");
  const declared: string[] = [];
  const outputs = outputMembers(roleBindingSet.outputs, imports, declared);
  const blocks = [...argumentBlocks(imports), ...declared, classText(outputs)];
  return `${[[HEAD, ...imports.lines()].join("\n"), ...blocks].join("\n\n")}\n`;
};

const argumentBlocks = (imports: Imports): string[] => {
  const { type, arguments: schema } = roleBindingSet;
  const declared: string[] = [];
  const { plain } = argumentMembers(schema, inputFields(schema), (name) => name, imports, declared);
  // No field of the API: the program knows it while it runs, as it knows the switches of other kinds.
  const members = plain.map((line) => line.replace(/pulumi\.Input<(boolean|number)>/, "$1"));
  const head = docLines("", [`What a ${type} takes.`, "", ...texts()]);
  return [...declared, [...head, `export interface ${type}Args {`, ...members, "}"].join("\n")];
};

const texts = () => [`Errors: ${roleBindingSet.errors}`, "", ...exampleLines(exampleOf(roleBindingSet.type))];

const classText = (outputs: ReturnType<typeof outputMembers>): string => {
  const { type, about } = roleBindingSet;
  const members = outputs.flatMap(({ name, text, valueType, isOptional }) => [
    ...docLines("  ", [text]),
    `  declare readonly ${name}: pulumi.Output<${valueType}${isOptional ? " | undefined" : ""}>;`,
  ]);
  return `${docLines("", [`${type}: ${about}`, "", ...texts()]).join("\n")}
export class ${type} extends SetResource {
${members.join("\n")}

  /** \`name\` is its logical name, unique among the sets of the stack. */
  constructor(name: string, args: ${type}Args, opts: pulumi.CustomResourceOptions = {}) {
    super(name, args, opts);
  }
}`;
};

/** The fields of a message as outputs; the records in them are added to `declared`. */
const outputMembers = (schema: Message, imports: Imports, declared: string[]) =>
  Object.entries(schema.shape).map(([name, field]) => ({
    name,
    text: fieldText(field, "output") ?? "",
    valueType: valueType(unwrap(field), imports, declared),
    isOptional: isOptional(field),
  }));

const valueType = (inner: z.ZodType, imports: Imports, declared: string[]): string => {
  const message = messageInfo(inner)?.message;
  if (message === messageInfo(BoundRecord)?.message) return imports.type("BoundRecord", "./bound-record.ts");
  if (inner instanceof z.ZodArray) return `${valueType(unwrap(inner.element as z.ZodType), imports, declared)}[]`;
  if (message !== undefined) {
    declared.push(recordText(inner as Message, imports, declared));
    return typeName(message);
  }
  return scalarType(inner);
};

const recordText = (schema: Message, imports: Imports, declared: string[]): string => {
  const { message = "", text = "" } = messageInfo(schema) ?? {};
  const members = outputMembers(schema, imports, declared).flatMap((one) => [
    ...docLines("  ", [one.text]),
    `  ${one.name}${one.isOptional ? "?" : ""}: ${one.valueType};`,
  ]);
  return [...docLines("", [`${text}.`]), `export interface ${typeName(message)} {`, ...members, "}"].join("\n");
};
