// RoleBindingSet, which is not a record of the API (provider/set).

import { roleBindingSet } from "../../schema/index.ts";
import { aliasOf } from "./resource.ts";
import type { ResourceSpec } from "./spec.ts";
import type { Types } from "./types.ts";

export const roleBindingSetSpec = (types: Types): ResourceSpec => {
  const inputs = types.object(roleBindingSet.arguments, "input");
  const outputs = types.object(roleBindingSet.outputs, "output");
  return {
    inputProperties: inputs.properties,
    requiredInputs: inputs.required ?? [],
    properties: outputs.properties,
    required: outputs.required ?? [],
    ...aliasOf(roleBindingSet.type),
  };
};
