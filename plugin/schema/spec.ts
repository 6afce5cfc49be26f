// The parts of a Pulumi package schema that this package uses (https://www.pulumi.com/docs/iac/extending-pulumi/schema/).

export type TypeSpec =
  | { type: "string" | "boolean" | "integer" | "number" }
  | { type: "array"; items: TypeSpec }
  | { type: "object"; additionalProperties: TypeSpec }
  | { $ref: string; plain?: true }
  | { oneOf: TypeSpec[] };

export type PropertySpec = TypeSpec & {
  description?: string;
  secret?: true;
  /** takes no value that is not known yet */
  plain?: true;
  /** a change creates a new record */
  willReplaceOnChanges?: true;
};

export type Properties = Record<string, PropertySpec>;

export interface ObjectSpec {
  description?: string;
  type: "object";
  properties: Properties;
  required?: string[];
}

export interface EnumSpec {
  type: "string";
  enum: { name: string; value: string }[];
}

export interface ResourceSpec {
  description?: string;
  /** the plugin constructs it, of resources of its own */
  isComponent?: true;
  properties: Properties;
  required: string[];
  inputProperties: Properties;
  requiredInputs: string[];
  aliases?: { type: string }[];
}

export interface FunctionSpec {
  description: string;
  inputs: ObjectSpec;
  outputs: ObjectSpec;
}
