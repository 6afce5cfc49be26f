// A resource from its kind: the arguments and outputs of the TypeScript class of the same name.
import type { z } from "zod";
import { ownArguments } from "../../provider/reconcile/check.ts";
import { fixedPaths } from "../../provider/record/changes.ts";
import { type Kind, TYPE_PREFIX } from "../../provider/record/kind.ts";
import { argumentOf } from "../../provider/record/state.ts";
import { asMessage, fieldInfo, inputFields, messageInfo, oneofsOf } from "../../schema/index.ts";
import type { Descriptions, ObjectSpec, Properties, ResourceSpec, TypeSpec } from "./spec.ts";
import { isRequired, propertySpec, type Types } from "./types.ts";

const text: TypeSpec = { type: "string" };
const replaces = { willReplaceOnChanges: true } as const;

/** The arguments that are not fields of the API; the others are switches. */
const OWN: Readonly<Record<string, TypeSpec>> = { adopt: text, forceDestroyMax: { type: "integer" } };

export const resourceSpec = (kind: Kind, types: Types, descriptions: Descriptions): ResourceSpec => {
  const { properties: inputProperties, required: requiredInputs = [] } = inputsOf(kind, types, descriptions);
  const { properties, required = [] } = outputsOf(kind, types, descriptions);
  return { inputProperties, requiredInputs, properties, required, ...aliasOf(kind.type) };
};

/** A stack that was written with the dynamic resource goes on with the native one. */
export const aliasOf = (type: string) => ({ aliases: [{ type: TYPE_PREFIX + type }] });

const inputsOf = (kind: Kind, types: Types, { member }: Descriptions): ObjectSpec => {
  const describe = (...path: string[]) => member(`${kind.type}Args`, ...path);
  const fixed = fixedPaths(kind);
  const properties: Properties = { parent: { ...propertySpec(text, describe("parent")), ...replaces } };
  const required = kind.root ? [] : ["parent"];
  for (const name of inputFields(kind.schema)) {
    const field = kind.schema.shape[name] as z.ZodType;
    const argument = argumentOf(kind, name);
    const type = types.of(field, "input", (...path) => describe(argument, ...path));
    const replacing = fixed.includes(name) ? replaces : {};
    properties[argument] = { ...propertySpec(type, describe(argument), field), ...replacing };
    if (isRequiredInput(kind, name)) required.push(argument);
  }
  for (const name of Object.keys(ownArguments(kind)).filter((one) => !kind.display?.includes(one))) {
    const replacing = name === "root" ? replaces : {};
    properties[name] = { ...propertySpec(OWN[name] ?? { type: "boolean" }, describe(name)), ...replacing };
  }
  return { type: "object", properties, required };
};

/** Also the only member of a oneof of which one must be set. */
const isRequiredInput = ({ schema }: Kind, name: string): boolean => {
  const field = schema.shape[name] as z.ZodType;
  const { oneof } = fieldInfo(field);
  const isOnly = oneof !== undefined && oneofsOf(schema).get(oneof)?.length === 1;
  return isRequired("input", field) || (isOnly && messageInfo(schema)?.requiredOneofs?.includes(oneof) === true);
};

/** Where an output is "As given", the text of the argument. */
export const describeOutputs =
  (type: string, member: Descriptions["member"]) =>
  (name = "", ...path: string[]): string | undefined => {
    const own = path.length === 0 ? member(type, name) : undefined;
    return own === undefined || own === "As given" ? (member(`${type}Args`, name, ...path) ?? own) : own;
  };

const outputsOf = (kind: Kind, types: Types, { member }: Descriptions): ObjectSpec => {
  const describe = describeOutputs(kind.type, member);
  const properties: Properties = {
    parent: propertySpec(text, describe("parent")),
    uid: propertySpec(text, describe("uid")),
  };
  const required = kind.root ? ["uid"] : ["parent", "uid"];
  for (const [name, field] of Object.entries(kind.schema.shape)) {
    const output = argumentOf(kind, name);
    if (output in properties) continue;
    const type = isSpelledOut(field)
      ? boundRecord(types, member)
      : types.of(field, "output", (...path) => describe(output, ...path));
    properties[output] = { ...propertySpec(type, describe(output)), ...(fieldInfo(field).secret && { secret: true }) };
    if (isRequired("output", field) || isRequiredInput(kind, name)) required.push(output);
  }
  return { type: "object", properties, required };
};

/** A record that another one refers to: the outputs have its uid and its name. */
const isSpelledOut = (field: z.ZodType): boolean => {
  if (fieldInfo(field).answeredAs !== undefined) return true;
  const message = asMessage(field);
  return message !== undefined && "uid" in message.shape && "name" in message.shape;
};

export const boundRecord = (types: Types, member: Descriptions["member"]): TypeSpec =>
  types.declare("BoundRecord", {
    type: "object",
    properties: {
      uid: propertySpec(text, member("BoundRecord", "uid")),
      name: propertySpec(text, member("BoundRecord", "name")),
    },
    required: ["uid"],
  });
