// Who has which role where: groups, roles and identities that exist, a role at its group or below, and nothing twice.
import { isRoleName } from "../../../schema/index.ts";
import { suggestion } from "../../../schema/nearest.ts";
import { type PolicyBinding, type PolicyGroup, type PolicyRole, ROOT } from "../policy.ts";
import { checkGroupPath } from "./group.ts";
import type { Report } from "./report.ts";
import type { BuiltInRoles } from "./role.ts";

export type AccessDraft = Readonly<Record<string, Readonly<Record<string, (string | null)[]>> | null>>;

export interface KnownRoles {
  roles: ReadonlyMap<string, PolicyRole>;
  /** empty: the service decides */
  builtIn: readonly BuiltInRoles[];
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
  if (!roleKeys.has(role) && !isBuiltIn(role, builtIn)) {
    const lacking = builtIn.filter(({ roles }) => !Object.hasOwn(roles, role));
    const names = new Set(builtIn.flatMap((one) => Object.keys(one.roles)));
    const where = lacking.length < builtIn.length ? ` at ${lacking.map(({ service }) => service).join(", ")}` : "";
    const near = suggestion(role, [...comparable(role, roleKeys), ...comparable(role, names)]) || NO_ROLE;
    mistake(path, `there is no role ${role}${where}${where ? NO_ROLE : near}`, options);
  }
  const roleGroup = roles.get(role)?.group;
  if (roleGroup === undefined || group === undefined || isAtOrBelow(group, roleGroup)) return;
  mistake(path, `role ${role} belongs to ${roleGroup}, so it can be given there and below, not at ${group}`, options);
};

const NO_ROLE = "; declare it in roles, or run `npx pulumi-irm roles --write` if your service has it";

const isBuiltIn = (role: string, builtIn: KnownRoles["builtIn"]): boolean =>
  builtIn.length === 0 ? isRoleName(role) : builtIn.every(({ roles }) => Object.hasOwn(roles, role));

const isAtOrBelow = (group: string, top: string): boolean =>
  top === ROOT || group === top || group.startsWith(`${top}/`);
