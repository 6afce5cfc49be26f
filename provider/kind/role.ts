// Role: capabilities are a set, written by friendly or by enum name; a role that is bound cannot be deleted.
import { capabilities as allCapabilities, capabilityFrom, type Json, resources } from "../../schema/index.ts";
import type { Kind } from "./kind.ts";

export const role: Kind = {
  ...resources.role,
  filters: ({ name }) => ({ name }),
  replacementBreaks: "its uid would change: role bindings that name it keep the old role from being deleted",
  canonicalize: (input: Json) => {
    if (!Array.isArray(input.capabilities)) return input;
    const enumName = (name: unknown) => (typeof name === "string" ? (capabilityFrom(name) ?? name) : name);
    return { ...input, capabilities: input.capabilities.map(enumName) };
  },
  valueNames: { capabilities: allCapabilities.flatMap(({ name, enum: enumName }) => [name, enumName]) },
  blockers: (uid) => [{ ...resources.roleBinding.list, request: { role: uid }, word: resources.roleBinding.word }],
};
