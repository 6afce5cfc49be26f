// Functions: the look-ups and lists of the TypeScript programs. They return the API's messages.

import type { Kind } from "../../provider/record/kind.ts";
import { fieldText, lookUpArguments, type Operation } from "../../schema/index.ts";
import type { FunctionSpec, Properties, TypeSpec } from "./spec.ts";
import { propertySpec, type Types, token } from "./types.ts";

/** Fields of a list request that page through it: the plugin reads all pages. */
const PAGING = ["pageToken", "skip"];

export const functionSpecs = (kind: Kind, types: Types): Record<string, FunctionSpec> => ({
  ...(kind.texts.lookUp && { [token(`get${kind.type}`)]: lookUpSpec(kind, kind.texts.lookUp.text, types) }),
  [token(`list${kind.list.operation.slice("List".length)}`)]: listSpec(kind, types),
});

const lookUpSpec = (kind: Kind, description: string, types: Types): FunctionSpec => {
  const taken = lookUpArguments(kind);
  const properties: Properties = Object.fromEntries(
    taken.map(({ name, text }) => [name, propertySpec({ type: "string" }, text)]),
  );
  const required = taken.flatMap(({ name, isRequired }) => (isRequired ? [name] : []));
  return {
    description,
    inputs: { type: "object", properties, ...(required.length > 0 && { required }) },
    outputs: types.object(kind.schema, "output", fieldText),
  };
};

const listSpec = (kind: Kind, types: Types): FunctionSpec => {
  const { operation, plural } = kind.list;
  const { request, response } = kind.methods[operation] as Operation;
  const inputs = types.object(request, "input");
  for (const name of PAGING) delete inputs.properties[name];
  inputs.properties.pageSize = propertySpec({ type: "integer" }, "Records of one request; default and most: 200");
  const field = response.shape[plural];
  if (field === undefined) throw new TypeError(`${operation} has no ${plural}`);
  const items: TypeSpec = types.of(field, "output");
  return {
    description: kind.texts.list,
    inputs,
    outputs: {
      type: "object",
      properties: { [plural]: propertySpec(items, `The ${kind.words} that were found`) },
      required: [plural],
    },
  };
};
