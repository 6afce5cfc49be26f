// A resource from its kind: the arguments and outputs of the TypeScript class of the same name.
import type { z } from "zod";
import { ownArguments } from "../../provider/reconcile/check.ts";
import { fixedPaths } from "../../provider/record/desired.ts";
import { type Kind, TYPE_PREFIX } from "../../provider/record/kind.ts";
import { argumentOf, outputOf } from "../../provider/record/state.ts";
import {
  argumentText,
  asMessage,
  BoundRecord,
  fieldInfo,
  fieldText,
  inputFields,
  messageInfo,
  oneofsOf,
  roleBindingSet,
} from "../../schema/index.ts";
import {
  descriptionFrom,
  isRequired,
  type ObjectSpec,
  type Properties,
  propertySpec,
  type ResourceSpec,
  type TypeSpec,
  type Types,
} from "./types.ts";

const text: TypeSpec = { type: "string" };
const replaces = { willReplaceOnChanges: true } as const;

/** The arguments that are not fields of the API; the others are switches. */
const OWN: Readonly<Record<string, TypeSpec>> = { adopt: text, forceDestroyMax: { type: "integer" } };

export const resourceSpec = (kind: Kind, types: Types): ResourceSpec =>
  specFrom(kind.type, kind.texts.about, inputsOf(kind, types), outputsOf(kind, types));

/** The schema of RoleBindingSet, which is not a record of the API (provider/set). */
export const roleBindingSetSpec = (types: Types): ResourceSpec => {
  const { type, about, arguments: inputs, outputs } = roleBindingSet;
  return specFrom(type, about, types.object(inputs, "input"), types.object(outputs, "output"));
};

const specFrom = (type: string, about: string, inputs: ObjectSpec, outputs: ObjectSpec): ResourceSpec => ({
  description: descriptionFrom(about),
  inputProperties: inputs.properties,
  requiredInputs: inputs.required ?? [],
  properties: outputs.properties,
  required: outputs.required ?? [],
  // A stack that was written with the dynamic resource continues with the native one.
  aliases: [{ type: TYPE_PREFIX + type }],
});

const inputsOf = (kind: Kind, types: Types): ObjectSpec => {
  const fixed = fixedPaths(kind);
  const properties: Properties = { parent: { ...propertySpec(text, kind.texts.parent.argument), ...replaces } };
  const required = kind.root ? [] : ["parent"];
  for (const name of inputFields(kind.schema)) {
    const field = kind.schema.shape[name] as z.ZodType;
    const argument = argumentOf(kind, name);
    const replacing = fixed.includes(name) ? replaces : {};
    const spec = propertySpec(types.of(field, "input"), fieldText(field, "argument"), field);
    properties[argument] = { ...spec, ...replacing };
    if (isRequiredInput(kind, name)) required.push(argument);
  }
  for (const name of Object.keys(ownArguments(kind)).filter((one) => !kind.display?.includes(one))) {
    const replacing = name === "root" ? replaces : {};
    const spec = propertySpec(OWN[name] ?? { type: "boolean" }, argumentText(kind, name));
    properties[name] = { ...spec, ...replacing };
  }
  return { type: "object", properties, required };
};

/** Includes the only member of a oneof that must be set. */
const isRequiredInput = ({ schema }: Kind, name: string): boolean => {
  const field = schema.shape[name] as z.ZodType;
  const { oneof } = fieldInfo(field);
  const isOnly = oneof !== undefined && oneofsOf(schema).get(oneof)?.length === 1;
  return isRequired("input", field) || (isOnly && messageInfo(schema)?.requiredOneofs?.includes(oneof) === true);
};

export const isRequiredOutput = (kind: Kind, name: string): boolean =>
  isRequired("output", kind.schema.shape[name] as z.ZodType) || isRequiredInput(kind, name);

const outputsOf = (kind: Kind, types: Types): ObjectSpec => {
  const { uid } = kind.schema.shape;
  const properties: Properties = {
    parent: propertySpec(text, kind.texts.parent.output),
    uid: propertySpec(text, uid && fieldText(uid, "output")),
  };
  const required = kind.root ? ["uid"] : ["parent", "uid"];
  for (const [name, field] of Object.entries(kind.schema.shape)) {
    const output = outputOf(kind, name);
    if (output in properties) continue;
    const type = isSpelledOut(field) ? types.of(BoundRecord, "output") : types.of(field, "output");
    const described = kind.schema.shape[output] ?? field;
    properties[output] = {
      ...propertySpec(type, fieldText(described, "output")),
      ...(fieldInfo(field).secret && { secret: true }),
    };
    if (isRequiredOutput(kind, name)) required.push(output);
  }
  return { type: "object", properties, required };
};

/** A record that another one refers to: the outputs contain its uid and name. */
export const isSpelledOut = (field: z.ZodType): boolean => {
  if (fieldInfo(field).answeredAs !== undefined) return true;
  const message = asMessage(field);
  return message !== undefined && "uid" in message.shape && "name" in message.shape;
};
