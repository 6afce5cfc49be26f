// Who has which role where: groups, roles and identities that exist, a role at its group or below, and nothing twice.
import { suggestion } from "../../../schema/nearest.ts";
import { type PolicyBinding, type PolicyGroup, ROOT } from "../policy.ts";
import { checkGroupPath } from "./group.ts";
import type { Report } from "./report.ts";
import type { Roles } from "./role.ts";

export type AccessDraft = Readonly<Record<string, Readonly<Record<string, (string | null)[]>> | null>>;

export interface KnownRoles extends Roles {
  /** every key that the policy has, also of records with mistakes */
  roleKeys: ReadonlySet<string>;
}

interface Known extends KnownRoles {
  groups: ReadonlyMap<string, PolicyGroup>;
  /** every key that the policy has, also of records with mistakes */
  identityKeys: ReadonlySet<string>;
}

export const checkBindings = (draft: AccessDraft | null | undefined, known: Known, report: Report): PolicyBinding[] => {
  return Object.entries(draft ?? {}).flatMap(([groupPath, held]) => {
    const group = checkGroupPath(groupPath, known.groups, ["access", groupPath], report, { atKey: true });
    return Object.entries(held ?? {}).flatMap(([role, identities]) => {
      const path = ["access", groupPath, role];
      checkRole(role, group, known, path, report, { atKey: true });
      const seen = new Set<string>();
      return identities.flatMap((identity, i): PolicyBinding[] => {
        if (identity === null) return [];
        const itemPath = [...path, i];
        if (!known.identityKeys.has(identity)) {
          const near =
            suggestion(identity, report.comparable(identity, known.identityKeys)) || "; declare it in identities";
          report.mistake(itemPath, `there is no identity ${identity}${near}`);
        } else if (seen.has(identity)) report.mistake(itemPath, `${identity} has ${role} here already`);
        seen.add(identity);
        return [{ group: group ?? groupPath, role, identity, place: report.placeOf(itemPath) }];
      });
    });
  });
};

/** `group` is where the role is given. */
export const checkRole = (
  role: string,
  group: string | undefined,
  { roles, builtIn, roleKeys }: KnownRoles,
  path: readonly PropertyKey[],
  { mistake, comparable }: Report,
  options: { atKey?: boolean } = {},
): void => {
  if (!roleKeys.has(role) && !builtIn.has(role)) {
    const near =
      suggestion(role, [...comparable(role, roleKeys), ...comparable(role, builtIn)]) || "; declare it in roles";
    mistake(path, `there is no role ${role}${near}`, options);
  }
  const roleGroup = roles.get(role)?.group;
  if (roleGroup === undefined || group === undefined || isAtOrBelow(group, roleGroup)) return;
  mistake(path, `role ${role} belongs to ${roleGroup}, so it can be given there and below, not at ${group}`, options);
};

const isAtOrBelow = (group: string, top: string): boolean =>
  top === ROOT || group === top || group.startsWith(`${top}/`);
