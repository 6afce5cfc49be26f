// Which roles people get who sign in by an identity provider of the organization. The policy does not create the provider, so only the
// roles can be checked here.
import { ExternalGroupRoleMapping, IdentityProvider, inputViolations } from "../../../schema/index.ts";
import { type PolicyPeople, ROOT } from "../policy.ts";
import { checkRole, type KnownRoles } from "./binding.ts";
import type { Path, Report } from "./report.ts";

export interface PeopleDraft {
  externalGroups?: Readonly<Record<string, (string | null)[]>> | null;
}

/** Why the run that creates an organization gives no people roles there. */
export const NO_PEOPLE_YET =
  "this run creates the organization, so it has no identity provider yet; add people once it has one";

export const NO_DEFAULT_ROLE =
  "AccessPolicy changes no identity provider, and so not its default role; set defaultRole where the IdentityProvider is declared, and remove it here";

/** By name of the identity provider. */
export const checkPeople = (
  draft: Readonly<Record<string, PeopleDraft | null>> | null | undefined,
  known: KnownRoles,
  report: Report,
  isNew: boolean,
): Map<string, PolicyPeople> => {
  const found = new Map<string, PolicyPeople>();
  for (const [provider, people] of Object.entries(draft ?? {})) {
    const path = ["people", provider];
    for (const { field, description } of inputViolations(IdentityProvider, { name: provider }))
      if (field === "name") report.mistake(path, `${description}; the key is the name of an identity provider`, AT_KEY);
    const externalGroups = people?.externalGroups;
    if (externalGroups == null) report.mistake(path, "needs externalGroups", AT_KEY);
    if (isNew) report.mistake(path, NO_PEOPLE_YET, AT_KEY);
    const place = report.placeOf(path);
    found.set(provider, { provider, place, externalGroups: checkGroups(externalGroups ?? {}, known, path, report) });
  }
  return found;
};

const AT_KEY = { atKey: true };

const checkGroups = (
  draft: NonNullable<PeopleDraft["externalGroups"]>,
  known: KnownRoles,
  above: Path,
  report: Report,
): Map<string, readonly string[]> =>
  new Map(
    Object.entries(draft).map(([externalGroupId, roles]) => {
      const path = [...above, "externalGroups", externalGroupId];
      for (const { field, description } of inputViolations(ExternalGroupRoleMapping, { externalGroupId }))
        if (field === "externalGroupId") report.mistake(path, description, AT_KEY);
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
