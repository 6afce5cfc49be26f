// Built-in roles that differ from the recorded ones, and the identities and people that this reaches, in the parts that people read.
import { CAPABILITY_CLASSES, classOf } from "../../schema/index.ts";
import { type Live, notVisibleRows } from "../graph/live.ts";
import type { NotVisible, Origin } from "../review/report.ts";
import { builtInRolesIn, isChange, type Reach, type RoleChange, roleChanges } from "../roles/change.ts";
import type { LockedRoles } from "../roles/lock.ts";
import { joinWithAnd, shortList } from "../text.ts";
import { type Document, type Item, type Line, line, originFacts, say, section } from "./document/document.ts";
import { countText } from "./words.ts";

/** Maximum lines of one role. JSON contains all. */
const LINES_MAX = 20;

export const rolesTitle = (changes: readonly RoleChange[]): string =>
  changes.some(isChange)
    ? "Built-in roles that the service has changed"
    : "Built-in roles that differ from the table of this version, which does not count as a difference";

/** An item for each role, with a line for each binding that reaches someone. */
export const roleItems = (changes: readonly RoleChange[]): Item[] =>
  changes.map((change) => {
    const { name, added, removed, date, reaches } = change;
    const capabilities = signedText(added, removed);
    if (!isChange(change))
      return { ...line`${name} differs from the table of ${[date]}: ${capabilities}`, isExcused: true };
    return {
      parts: say`the service ${[change.change]} ${name}: ${capabilities}; ${[reachText(change)]}`,
      lines: reachLines(reaches),
    };
  });

const signedText = (added: readonly string[], removed: readonly string[]) =>
  [...added.map((one) => `+${one}`), ...removed.map((one) => `-${one}`)].join(", ");

const reachText = ({ added, removed, reaches, complete }: RoleChange): string => {
  const part = (own: readonly Reach[], verb: string, capabilities: readonly string[]) => {
    if (own.length === 0) return [];
    const who = countText(new Set(own.map(({ identity, name }) => identity ?? name)).size, "identity", "identities");
    const where = countText(new Set(own.map(({ group }) => group)).size, "group");
    return [`${who} ${verb} ${capabilities.length === 1 ? "it" : "access"} at ${where}`];
  };
  const of = (field: "gains" | "losses") => reaches.filter((one) => one[field].length > 0);
  const parts = [...part(of("gains"), "gained", added), ...part(of("losses"), "lost", removed)];
  const hidden = complete ? "" : "; you may not list everything, so others may have";
  return parts.length === 0
    ? `nobody${complete ? "" : " that you can see"} gained or lost access by it`
    : `${joinWithAnd(parts)}; no pull request did${hidden}`;
};

const reachLines = (reaches: readonly Reach[]): Line[] => [
  ...reaches
    .slice(0, LINES_MAX)
    .map(
      ({ name, identity, groupName, binding, gains, losses }) =>
        line`${name}${identity !== null && say` ${identity}`} at ${groupName} by ${binding}: ${signedText(gains, losses)}`,
    ),
  ...(reaches.length > LINES_MAX
    ? [line`and ${[String(reaches.length - LINES_MAX)]} more; \`--format json\` has all`]
    : []),
];

const PLACES_SHOWN = 3;

export const rolesDocument = ({ origin, roles, changed, notVisible }: RolesReport): Document => ({
  title: [
    `Built-in roles: ${countText(roles.length, "role")}, ${countText(changed.filter(isChange).length, "change")}`,
  ],
  facts: originFacts(origin),
  sections: [
    section("changed", rolesTitle(changed), roleItems(changed)),
    section(
      "not-visible",
      "Not visible to the caller, so somebody may be missing here",
      [...Map.groupBy(notVisible, ({ message }) => message)].map(([message, places]) => {
        const names = places.map(({ groupName }) => groupName);
        return line`${shortList(names, PLACES_SHOWN)}: ${message}`;
      }),
    ),
    section(
      "roles",
      "Built-in roles",
      roles.map((one) => line`${one.name}${[countsOf(one)]}`),
    ),
  ],
  foot: "`--format json` lists the capabilities. docs/reference/roles.md says what to do about a change.",
});

/** `: 138 capabilities (8 grant, 61 write, 4 use, 65 read)` */
const countsOf = ({ capabilities }: RolesReport["roles"][number]) => {
  const byClass = Map.groupBy(capabilities, classOf);
  const counts = CAPABILITY_CLASSES.flatMap((one) => {
    const count = byClass.get(one)?.length ?? 0;
    return count === 0 ? [] : [`${count} ${one}`];
  });
  return `: ${countText(capabilities.length, "capability")} (${counts.join(", ")})`;
};

// The document that `irm roles --format json` prints, and that every other format shows.

export interface RolesReport {
  origin?: Origin;
  /** the roles of the service, by name */
  roles: { name: string; uid: string; capabilities: readonly string[] }[];
  /** the roles that differ from roles.lock.yaml; without one, from the table of this version */
  changed: RoleChange[];
  notVisible: NotVisible[];
}

export const rolesReportOf = (service: string, live: Live, recorded: LockedRoles, nowMs: number): RolesReport => ({
  roles: [...builtInRolesIn(live.graph).values()]
    .flat()
    .map(({ id, name, capabilities }) => ({ name, uid: id, capabilities }))
    .sort((a, b) => (`${a.name} ${a.uid}` < `${b.name} ${b.uid}` ? -1 : 1)),
  changed: roleChanges(service, live, recorded, nowMs),
  notVisible: notVisibleRows(live.graph, live.notVisible),
});
