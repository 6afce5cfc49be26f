// Converts a write back to the request for it.
import type { Json, OperationName } from "../../schema/index.ts";
import { methodOf } from "./methods.ts";
import { type Resolving, resolveValue } from "./value.ts";
import type { Write } from "./write.ts";

export const requestOf = (write: Write, resolving: Resolving): { method: OperationName; request: Json } => {
  const { verb, field } = methodOf(write.method);
  const method = write.method as OperationName;
  const uid = resolveValue(write.uid, resolving);
  if (field === undefined) return { method, request: { uid } };
  const fields = resolveValue(write.fields, resolving) as Json;
  if (verb === "update")
    return { method, request: { [field]: { ...fields, uid }, updateMask: (write.mask ?? []).join(",") } };
  const parent = resolveValue(write.parent, resolving);
  return { method, request: { ...(parent !== undefined && { parent }), [field]: fields } };
};
