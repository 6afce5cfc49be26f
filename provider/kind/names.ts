// A record as messages name it: by its name if that is known and not secret, otherwise by its uid.

import { listChildren } from "../../client/records.ts";
import { containsUnknown, isUnknown } from "../../pulumi/value.ts";
import {
  isRoleName as isName,
  isObject,
  isRoot,
  isUidp,
  type Json,
  printable,
  suggestion,
} from "../../schema/index.ts";
import type { LookUpSession } from "../record/kind.ts";
import { withLookedUp } from "../record/normal-form.ts";
import { SECRET_NAME } from "../record/state.ts";
import { perSession } from "../run/ownership.ts";

export interface Named {
  uid?: unknown;
  name?: unknown;
}

/** The uid and name of a referenced record, from a response or from outputs. */
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

// Built-in roles by name: root-level roles only, so that a role of the same name in a group is never granted instead. A session lists them
// once, when it looks up the first name.

type Listed = Json & { uid: string; name: string };

const cacheOf = perSession((): { roles?: Promise<Listed[]> | undefined } => ({}));

/** The service knows no built-in role of that name: the program has to change. */
export class UnknownRole extends Error {
  override readonly name = "UnknownRole";
}

/** Whether an argument that takes a role names a built-in one. Anything else is a uid, or wrong, or not known yet. */
export const isRoleName = (value: unknown): value is string => !isUnknown(value) && isName(value);

/** Errors: UnknownRole, with the nearest names; the error of the list request. */
export const builtInRoleUid = async (session: LookUpSession, name: string): Promise<string> => {
  const cache = cacheOf(session);
  const list = { operation: "ListRoles", plural: "roles" } as const;
  cache.roles ??= Array.fromAsync(listChildren<Listed>(session, list, "")).catch((error: unknown) => {
    // An outage need not last for the whole session.
    cache.roles = undefined;
    throw error;
  });
  const roles = await cache.roles;
  const [match, ...others] = roles.filter((role) => role.name === name);
  if (match && others.length === 0) return match.uid;
  if (match) throw new UnknownRole(`${others.length + 1} built-in roles are named "${name}"; give the uid of one`);
  const names = roles.map((role) => role.name);
  const shown = names.slice(0, SHOWN).toSorted().join(", ") + (names.length > SHOWN ? ", …" : "");
  const all = `; there are ${shown || "none that the caller may read"}`;
  throw new UnknownRole(`no built-in role is named "${name}"${suggestion(name, names, 3) || all}`);
};

const SHOWN = 12;

/** The desired record, with the uid of the role that `field` names. */
export const resolveRole = async (session: LookUpSession, desired: Json, field: string): Promise<Json> => {
  const { [field]: name } = desired;
  return isRoleName(name) ? withLookedUp(desired, field, name, await builtInRoleUid(session, name)) : desired;
};
