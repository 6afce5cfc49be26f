// Checks who has which role where: groups, roles and identities exist, a role is at its group or below, and nothing is listed twice.
import { ExternalGroupRoleMapping, IdentityProvider, inputViolations, isRoleName } from "../../../schema/index.ts";
import { suggestion } from "../../../schema/nearest.ts";
import { type PolicyBinding, type PolicyGroup, type PolicyPeople, type PolicyRole, ROOT } from "../policy.ts";
import { checkGroupPath } from "./group.ts";
import type { Path, Report } from "./report.ts";
import type { BuiltInRoles } from "./role.ts";
import type { PolicyDraft } from "./shape.ts";

interface KnownRoles {
  roles: ReadonlyMap<string, PolicyRole>;
  /** empty: the service decides */
  builtIn: readonly BuiltInRoles[];
  /** every key of the policy, including keys of records with mistakes */
  roleKeys: ReadonlySet<string>;
}

interface Known extends KnownRoles {
  groups: ReadonlyMap<string, PolicyGroup>;
  /** every key of the policy, including keys of records with mistakes */
  identityKeys: ReadonlySet<string>;
}

export const checkBindings = (draft: PolicyDraft["access"], known: Known, report: Report): PolicyBinding[] => {
  /** groups and roles are keys here */
  const keys = { ...report, mistake: report.wrongKey };
  return Object.entries(draft ?? {}).flatMap(([groupPath, held]) => {
    const group = checkGroupPath(groupPath, known.groups, ["access", groupPath], keys);
    return Object.entries(held ?? {}).flatMap(([role, identities]) => {
      const path = ["access", groupPath, role];
      checkRole(role, group, known, path, keys);
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
        return [{ group: group ?? groupPath, role, identity, place: report.findPlace(itemPath) }];
      });
    });
  });
};

/** `group` is the group of the binding. */
const checkRole = (
  role: string,
  group: string | undefined,
  { roles, builtIn, roleKeys }: KnownRoles,
  path: readonly PropertyKey[],
  { mistake, comparable }: Report,
): void => {
  if (!roleKeys.has(role) && !isBuiltIn(role, builtIn)) {
    const lacking = builtIn.filter(({ roles }) => !Object.hasOwn(roles, role));
    const names = new Set(builtIn.flatMap((one) => Object.keys(one.roles)));
    const where = lacking.length < builtIn.length ? ` at ${lacking.map(({ service }) => service).join(", ")}` : "";
    const near = suggestion(role, [...comparable(role, roleKeys), ...comparable(role, names)]) || NO_ROLE;
    mistake(path, `there is no role ${role}${where}${where ? NO_ROLE : near}`);
  }
  const roleGroup = roles.get(role)?.group;
  if (roleGroup === undefined || group === undefined || isAtOrBelow(group, roleGroup)) return;
  mistake(path, `role ${role} belongs to ${roleGroup}, so it can be given there and below, not at ${group}`);
};

const NO_ROLE = "; declare it in roles, or run `npx pulumi-irm roles --write` if your service has it";

const isBuiltIn = (role: string, builtIn: KnownRoles["builtIn"]) =>
  builtIn.length === 0 ? isRoleName(role) : builtIn.every(({ roles }) => Object.hasOwn(roles, role));

const isAtOrBelow = (group: string, top: string) => top === ROOT || group === top || group.startsWith(`${top}/`);

// The roles of people who sign in by an identity provider of the organization. The policy does not create the provider, so only the roles
// can be checked here.

/** Why the run that creates an organization gives no roles to people there. */
export const NO_PEOPLE_YET =
  "this run creates the organization, so it has no identity provider yet; add people once it has one";

export const NO_DEFAULT_ROLE =
  "AccessPolicy changes no identity provider, and so not its default role; set defaultRole where the IdentityProvider is declared, and remove it here";

/** By name of the identity provider. */
export const checkPeople = (
  draft: PolicyDraft["people"],
  known: KnownRoles,
  report: Report,
  isNew: boolean,
): Map<string, PolicyPeople> => {
  const found = new Map<string, PolicyPeople>();
  for (const [provider, people] of Object.entries(draft ?? {})) {
    const path = ["people", provider];
    for (const { field, description } of inputViolations(IdentityProvider, { name: provider }))
      if (field === "name") report.wrongKey(path, `${description}; the key is the name of an identity provider`);
    const externalGroups = people?.externalGroups;
    if (externalGroups == null) report.wrongKey(path, "needs externalGroups");
    if (isNew) report.wrongKey(path, NO_PEOPLE_YET);
    const place = report.findPlace(path);
    found.set(provider, { provider, place, externalGroups: checkGroups(externalGroups ?? {}, known, path, report) });
  }
  return found;
};

const checkGroups = (
  draft: Readonly<Record<string, readonly (string | null)[]>>,
  known: KnownRoles,
  above: Path,
  report: Report,
) =>
  new Map(
    Object.entries(draft).map(([externalGroupId, roles]) => {
      const path = [...above, "externalGroups", externalGroupId];
      for (const { field, description } of inputViolations(ExternalGroupRoleMapping, { externalGroupId }))
        if (field === "externalGroupId") report.wrongKey(path, description);
      if (roles.length === 0) report.mistake(path, "must have at least one role, such as viewer");
      const seen = new Set<string>();
      roles.forEach((role, i) => {
        if (role === null) return;
        if (seen.has(role)) report.mistake([...path, i], `has ${role} already`);
        else checkRole(role, ROOT, known, [...path, i], report);
        seen.add(role);
      });
      return [externalGroupId, [...seen]] as const;
    }),
  );
