// A record as messages name it: by its name, where that is known and not secret, otherwise by its uid.
import { isObject, isRoot, isUidp, type Json, printable } from "../../schema/index.ts";
import { containsUnknown, isUnknown } from "../record/normal-form.ts";
import { SECRET_NAME } from "../record/state.ts";

export interface Named {
  uid?: unknown;
  name?: unknown;
}

/** What a response, or outputs, spell out of a record that they refer to. */
export const partOf = (record: Json, name: string): { uid?: string; name?: string } =>
  isObject(record[name]) ? record[name] : {};

/** Whether a role is built in. */
export const isBuiltIn = ({ uid }: Named): boolean => isUidp(uid) && isRoot(uid);

export const namedText = ({ uid, name }: Named): string => {
  if (isUnknown(name) || (name === undefined && containsUnknown(uid))) return "(not known yet)";
  return typeof name === "string"
    ? name === SECRET_NAME
      ? name
      : `"${printable(name)}"`
    : String(uid ?? "(not known)");
};
