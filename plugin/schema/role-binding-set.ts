// RoleBindingSet, which is not a record of the API (provider/set).

import { aliasOf, boundRecord, describeOutputs } from "./resource.ts";
import type { Descriptions, Properties, ResourceSpec, TypeSpec } from "./spec.ts";
import { type Describe, propertySpec, type Types } from "./types.ts";

export const roleBindingSetSpec = (types: Types, { member }: Descriptions): ResourceSpec => {
  const text: TypeSpec = { type: "string" };
  const settings = { exclusive: { type: "boolean" }, maxRemovals: { type: "integer" } } as const;
  const listOf = (items: TypeSpec): TypeSpec => ({ type: "array", items });
  const propertiesOf = (members: Record<string, TypeSpec>, describe: Describe): Properties =>
    Object.fromEntries(Object.entries(members).map(([name, type]) => [name, propertySpec(type, describe(name))]));
  const describe =
    (declaration: string): Describe =>
    (name = "") =>
      member(declaration, name);
  const declare = (name: string, members: Record<string, TypeSpec>, required: string[]): TypeSpec =>
    types.declare(name, { type: "object", properties: propertiesOf(members, describe(name)), required });

  const record = boundRecord(types, member);
  const binding = { uid: text, identity: record, role: record };
  const bound = Object.keys(binding);
  const pair = declare("RoleBindingPair", { identity: text, role: text }, ["identity", "role"]);
  const inputs = propertiesOf({ parent: text, bindings: listOf(pair), ...settings }, describe("RoleBindingSetArgs"));
  const outputs = propertiesOf(
    {
      parent: text,
      bindings: listOf(declare("SetBinding", binding, bound)),
      unmanaged: listOf(declare("UnmanagedBinding", { ...binding, kept: text }, bound)),
      ...settings,
      updateTime: text,
    },
    describeOutputs("RoleBindingSet", member),
  );
  const { parent, ...others } = inputs;
  return {
    inputProperties: { parent: { ...(parent as TypeSpec), willReplaceOnChanges: true }, ...others },
    requiredInputs: ["parent", "bindings"],
    properties: outputs,
    required: Object.keys(outputs).filter((name) => name !== "updateTime"),
    ...aliasOf("RoleBindingSet"),
  };
};
