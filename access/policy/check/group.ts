// The groups of a policy, from the tree to their paths.
import { GROUP_LEVELS_MAX, Group, inputViolations, isUidp, UIDP_TEXT } from "../../../schema/index.ts";
import { nearest, suggestion } from "../../../schema/nearest.ts";
import { withoutSlashes } from "../../graph/graph.ts";
import { type PolicyGroup, type PolicyOrganization, ROOT } from "../policy.ts";
import { checkRecord, type Path, type Report, recordChecker } from "./report.ts";

interface GroupDraft {
  name?: string;
  was?: string;
  description?: string;
  groups?: Groups;
}
type Groups = Readonly<Record<string, GroupDraft | null>> | null;

export const checkOrganization = (draft: unknown, report: Report): PolicyOrganization => {
  const path = ["organization"];
  if (typeof draft === "string") {
    for (const { description } of inputViolations(Group, { name: draft })) report.mistake(path, description);
    return { name: draft };
  }
  if (typeof draft !== "object" || draft === null) return {};
  const organization = draft as PolicyOrganization;
  if (organization.uid === undefined) checkRecord(report, Group, { ...organization }, path, true);
  else if (!isUidp(organization.uid) || organization.uid.includes("/"))
    report.mistake(
      [...path, "uid"],
      `${UIDP_TEXT.split(",")[0]}: the uid of an organization has 40 hexadecimal digits`,
    );
  return organization;
};

/** The groups by path, each before the groups below it. */
export const checkGroups = (draft: Groups | undefined, report: Report): Map<string, PolicyGroup> => {
  const found = new Map<string, PolicyGroup>();
  const walk = (groups: Groups | undefined, parent: string, path: Path, level: number): void => {
    const check = recordChecker(report, Group, "group", Object.keys(groups ?? {}));
    for (const [key, group] of Object.entries(groups ?? {})) {
      const itemPath = [...path, key];
      if (key === "" || key.includes("/")) {
        report.wrongKey(itemPath, 'a key of a group must not contain "/": write the group below its parent, in groups');
        continue;
      }
      if (level > GROUP_LEVELS_MAX) {
        report.wrongKey(itemPath, `is more than ${GROUP_LEVELS_MAX} levels below the organization`);
        continue;
      }
      const groupPath = parent === ROOT ? key : `${parent}/${key}`;
      const { violations: _, ...record } = check(key, group ?? {}, itemPath, parent, groupPath);
      found.set(groupPath, { path: groupPath, parent, ...record });
      walk(group?.groups, groupPath, [...itemPath, "groups"], level + 1);
    }
  };
  walk(draft, ROOT, ["groups"], 1);
  return found;
};

/** The path of a group in a reference; undefined if there is no such group. */
export const checkGroupPath = (
  text: string | undefined,
  groups: ReadonlyMap<string, PolicyGroup>,
  path: Path,
  { mistake, comparable }: Report,
): string | undefined => {
  if (text === undefined || text === ROOT) return ROOT;
  if (groups.has(text)) return text;
  const trimmed = withoutSlashes(text);
  const paths = comparable(text, groups);
  const end = `/${trimmed}`;
  const below = paths.find((one) => one.endsWith(end)) ?? nearest(trimmed, paths);
  const near = groups.has(trimmed)
    ? `; did you mean ${trimmed}?`
    : below
      ? `; did you mean ${below}?`
      : suggestion(text, paths);
  mistake(path, `there is no group ${text}${near || "; declare it in groups"}`);
  return undefined;
};
