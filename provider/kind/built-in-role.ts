// Built-in roles by name: root-level roles only, so that a role of the same name in a group is never granted instead. One list
// for a session, when the first name is looked up.

import { listChildren } from "../../client/paginate.ts";
import { isUidp, type Json, suggestion } from "../../schema/index.ts";
import type { LookUpSession } from "../record/kind.ts";
import { withLookedUp } from "../record/normal-form.ts";
import { isUnknown } from "../record/path.ts";
import { perSession } from "../run/session.ts";

type Listed = Json & { uid: string; name: string };

const cacheOf = perSession((): { roles?: Promise<Listed[]> | undefined } => ({}));

/** The service knows no built-in role of that name: the program has to change. */
export class UnknownRole extends Error {
  override readonly name = "UnknownRole";
}

// As of the API's names of roles.
const NAME = /^[a-z0-9 ._-]{1,255}$/;

/** Whether an argument that takes a role names a built-in one. Anything else is a uid, or wrong. */
export const isRoleName = (value: unknown): value is string =>
  typeof value === "string" && !isUnknown(value) && !isUidp(value.trim()) && NAME.test(value);

/** Errors: UnknownRole, with the nearest names; what the service answers to the list. */
export const builtInRoleUid = async (session: LookUpSession, name: string): Promise<string> => {
  const roles = await builtInRoles(session);
  const [match, ...others] = roles.filter((role) => role.name === name);
  if (match && others.length === 0) return match.uid;
  if (match) throw new UnknownRole(`${others.length + 1} built-in roles are named "${name}"; give the uid of one`);
  const names = roles.map((role) => role.name);
  throw new UnknownRole(
    `no built-in role is named "${name}"${suggestion(name, names, 3) || `; there are ${listed(names)}`}`,
  );
};

const SHOWN = 12;

const listed = (names: readonly string[]): string =>
  names.length === 0
    ? "none that the caller may read"
    : names.slice(0, SHOWN).toSorted().join(", ") + (names.length > SHOWN ? ", …" : "");

const builtInRoles = (session: LookUpSession): Promise<Listed[]> => {
  const cache = cacheOf(session);
  cache.roles ??= listRoles(session).catch((error: unknown) => {
    // An outage does not last for the session.
    cache.roles = undefined;
    throw error;
  });
  return cache.roles;
};

const listRoles = async (session: LookUpSession): Promise<Listed[]> => {
  const roles: Listed[] = [];
  for await (const role of listChildren<Listed>(session, { operation: "ListRoles", plural: "roles" }, ""))
    roles.push(role);
  return roles;
};

/** The desired record, with the uid of the role that `field` names. */
export const resolveRole = async (session: LookUpSession, desired: Json, field: string): Promise<Json> => {
  const { [field]: name } = desired;
  return isRoleName(name) ? withLookedUp(desired, field, name, await builtInRoleUid(session, name)) : desired;
};
