// The class of a set of role bindings from its descriptor: arguments, outputs and the records in them. Its constructor is in
// provider/program/set-resource.ts, by hand.
import { z } from "zod";
import {
  BoundRecord,
  fieldText,
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
    ["bound-record.ts", `${[HEAD, recordText(BoundRecord, createImports(""))].join("\n\n")}\n`],
    [`${fileOfType(roleBindingSet.type)}.ts`, setFile()],
  ]);

const setFile = () => {
  const { type, about, errors, arguments: schema, outputs } = roleBindingSet;
  const imports = createImports(type);
  imports.value("SetResource", "../set-resource.ts");
  const texts = [`Errors: ${errors}`, "", ...exampleLines(exampleOf(type))];
  const { plain } = argumentMembers(schema, imports);
  const argumentBlocks = [
    ...imports.takeDeclared(),
    [
      ...docLines("", [`What a ${type} takes.`, "", ...texts]),
      `export interface ${type}Args {`,
      // No field of the API: the program knows it while it runs, as it knows the switches of other kinds.
      ...plain.map((line) => line.replace(/pulumi\.Input<(boolean|number)>/, "$1")),
      "}",
    ].join("\n"),
  ];
  const members = outputMembers(outputs, imports).flatMap(({ name, text, valueType, isOptional }) => [
    ...docLines("  ", [text]),
    `  declare readonly ${name}: pulumi.Output<${valueType}${isOptional ? " | undefined" : ""}>;`,
  ]);
  const classText = `${docLines("", [`${type}: ${about}`, "", ...texts]).join("\n")}
export class ${type} extends SetResource {
${members.join("\n")}

  /** \`name\` is its logical name, unique among the sets of the stack. */
  constructor(name: string, args: ${type}Args, opts: pulumi.CustomResourceOptions = {}) {
    super(name, args, opts);
  }
}`;
  const blocks = [...argumentBlocks, ...imports.takeDeclared(), classText];
  return `${[[HEAD, ...imports.lines()].join("\n"), ...blocks].join("\n\n")}\n`;
};

/** The fields of a message as outputs. The file declares the records in them. */
const outputMembers = (schema: Message, imports: Imports) =>
  Object.entries(schema.shape).map(([name, field]) => ({
    name,
    text: fieldText(field, "output") ?? "",
    valueType: valueType(unwrap(field), imports),
    isOptional: isOptional(field),
  }));

const valueType = (inner: z.ZodType, imports: Imports): string => {
  const message = messageInfo(inner)?.message;
  if (message === messageInfo(BoundRecord)?.message) return imports.type("BoundRecord", "./bound-record.ts");
  if (inner instanceof z.ZodArray) return `${valueType(unwrap(inner.element as z.ZodType), imports)}[]`;
  if (message === undefined) return scalarType(inner);
  return imports.declare(typeName(message), recordText(inner as Message, imports));
};

const recordText = (schema: Message, imports: Imports) => {
  const { message = "", text = "" } = messageInfo(schema) ?? {};
  const members = outputMembers(schema, imports).flatMap((one) => [
    ...docLines("  ", [one.text]),
    `  ${one.name}${one.isOptional ? "?" : ""}: ${one.valueType};`,
  ]);
  return [...docLines("", [`${text}.`]), `export interface ${typeName(message)} {`, ...members, "}"].join("\n");
};
