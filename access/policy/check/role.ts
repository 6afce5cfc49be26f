// The custom roles of a policy.
import {
  capabilities,
  capabilityFrom,
  capabilityName,
  isBuiltInRole,
  Role,
  type RoleBundles,
} from "../../../schema/index.ts";
import { suggestion } from "../../../schema/nearest.ts";
import type { PolicyGroup, PolicyRole } from "../policy.ts";
import { checkGroupPath } from "./group.ts";
import { type Path, type Report, recordChecker } from "./report.ts";
import type { PolicyDraft } from "./shape.ts";

/** The built-in roles of one source. */
export interface BuiltInRoles {
  /** address of the API; absent: the table of this version */
  service?: string;
  roles: RoleBundles;
}

export const checkRoles = (
  draft: PolicyDraft["roles"],
  groups: ReadonlyMap<string, PolicyGroup>,
  builtIn: readonly BuiltInRoles[],
  report: Report,
): Map<string, PolicyRole> => {
  const roles = new Map<string, PolicyRole>();
  const check = recordChecker(report, Role, "role", Object.keys(draft ?? {}));
  for (const [key, role] of Object.entries(draft ?? {})) {
    const path = ["roles", key];
    if (isBuiltInRole(key) || builtIn.some((one) => Object.hasOwn(one.roles, key)))
      report.wrongKey(path, `${key} is a built-in role; choose another key, and give name where it must be ${key}`);
    const group = checkGroupPath(role.in, groups, [...path, "in"], report);
    const can = checkCapabilities(role.can, path, report);
    const { violations, ...record } = check(key, role, path, group, key, { capabilities: can });
    // An empty list and an unknown capability have their own texts.
    for (const { field, description } of violations)
      if (field === "capabilities" && can.length > 0) report.mistake([...path, "can"], description);
    if (group === undefined) continue;
    roles.set(key, { key, group, ...record, capabilities: [...new Set(can)].map(capabilityName).sort() });
  }
  return roles;
};

const names = new Set(capabilities.map(({ name }) => name));

/** The enum names of the capabilities that exist. */
const checkCapabilities = (
  can: (string | null)[] | undefined,
  path: Path,
  { mistake, wrongKey, comparable }: Report,
): string[] => {
  if (can === undefined) wrongKey(path, "needs can: a list of capabilities, such as [repo.list]");
  else if (can.length === 0) mistake([...path, "can"], "must have at least one capability, such as repo.list");
  const seen = new Set<string>();
  return (can ?? []).flatMap((text, i) => {
    if (text === null) return [];
    const itemPath = [...path, "can", i];
    const capability = capabilityFrom(text);
    if (capability === undefined)
      mistake(itemPath, `there is no capability ${text}${suggestion(text, comparable(text, names), 3)}`);
    else if (seen.has(capability)) mistake(itemPath, `${text} is here twice`);
    else {
      seen.add(capability);
      return [capability];
    }
    return [];
  });
};
