// The package schema of the plugin, and what tests read of it.
import { readFileSync } from "node:fs";
import { root } from "../harness/api-process.ts";

export interface Spec {
  type?: string;
  $ref?: string;
  items?: Spec;
  additionalProperties?: Spec;
  oneOf?: Spec[];
  properties?: Record<string, Property>;
  required?: string[];
  enum?: { name: string; value: string }[];
}
export type Property = Spec & {
  description?: string;
  plain?: boolean;
  secret?: boolean;
  willReplaceOnChanges?: boolean;
};
export interface ResourceSpec {
  description: string;
  isComponent?: true;
  inputProperties: Record<string, Property>;
  requiredInputs: string[];
  properties: Record<string, Property>;
  required: string[];
  aliases: { type: string }[];
}

export const pluginSchema = JSON.parse(readFileSync(`${root}/plugin/generated/schema.json`, "utf8")) as {
  version: string;
  keywords: string[];
  repository: string;
  types: Record<string, Spec>;
  resources: Record<string, ResourceSpec>;
  functions: Record<string, { description: string; inputs: Spec; outputs: Spec }>;
  config: { variables: Record<string, Property> };
  provider: { inputProperties: Record<string, Property> };
};

/** What a spec stands for: the type that it refers to, or itself. */
export const specOf = (spec: Spec): Spec => {
  if (spec.$ref === undefined) return spec;
  const found = pluginSchema.types[spec.$ref.replace("#/types/", "")];
  if (found === undefined) throw new TypeError(`${spec.$ref} is not declared`);
  return found;
};
