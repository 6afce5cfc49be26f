// The package schema of the plugin, as the writers of examples and pages read it.
import type { EnumSpec, ObjectSpec, ResourceSpec, TypeSpec } from "../../plugin/schema/types.ts";

export interface Schema {
  types: Readonly<Record<string, ObjectSpec | EnumSpec>>;
  resources: Readonly<Record<string, ResourceSpec>>;
}

/** The message or the enum of a property; undefined for any other type. */
export const namedType = (spec: TypeSpec, { types }: Schema): ObjectSpec | EnumSpec | undefined =>
  "$ref" in spec ? types[spec.$ref.replace("#/types/", "")] : undefined;
