// Built-in roles that differ from what is written down, and whom that reaches, in the parts that people read.
import { CAPABILITY_CLASSES, classOf } from "../../schema/index.ts";
import { joinWithAnd } from "../list-text.ts";
import { isChange, type Reach, type RoleChange } from "../roles/change.ts";
import type { RolesReport } from "../roles/report.ts";
import type { Document, Item, Part } from "./document/document.ts";
import { countText } from "./words.ts";

export const ROLES_TITLE = "Built-in roles that the service has changed";

/** Most lines of one role. JSON has all. */
const LINES_MAX = 20;

/** An item for each role, with a line for each binding that reaches somebody. */
export const roleItems = (changes: readonly RoleChange[]): Item[] =>
  changes.map((change) => ({
    parts: [...headParts(change), `; ${reachText(change)}`],
    lines: reachLines(change.reaches),
    ...(change.against === "table" && { isExcused: true as const }),
  }));

const VERBS: Readonly<Record<RoleChange["change"], string>> = {
  added: "the service added ",
  changed: "the service changed ",
  removed: "the service removed ",
};

const headParts = ({ name, change, added, removed, against, date }: RoleChange): Part[] => {
  const capabilities = [...added.map((one) => `+${one}`), ...removed.map((one) => `-${one}`)].join(", ");
  return against === "lock"
    ? [VERBS[change], { quoted: name }, ": ", { quoted: capabilities }]
    : [{ quoted: name }, ` differs from the table of ${date}: `, { quoted: capabilities }];
};

const reachText = ({ added, removed, reaches, against }: RoleChange): string => {
  const part = (own: readonly Reach[], verb: string, capabilities: readonly string[]): string[] => {
    if (own.length === 0) return [];
    const who = countText(new Set(own.map(({ identity, name }) => identity ?? name)).size, "identity", "identities");
    const where = countText(new Set(own.map(({ group }) => group)).size, "group");
    return [`${who} ${verb} ${capabilities.length === 1 ? "it" : "access"} at ${where}`];
  };
  const of = (field: "gains" | "losses") => reaches.filter((one) => one[field].length > 0);
  if (against === "table") return part(reaches, "have", added.length === 1 ? added : []).join("") || "nobody holds it";
  const parts = [...part(of("gains"), "gained", added), ...part(of("losses"), "lost", removed)];
  return parts.length === 0 ? "nobody gained or lost access by it" : `${joinWithAnd(parts)}; no pull request did`;
};

const reachLines = (reaches: readonly Reach[]): Part[][] => [
  ...reaches
    .slice(0, LINES_MAX)
    .map(({ name, identity, groupName, binding, gains, losses }): Part[] => [
      { quoted: name },
      ...(identity === null ? [] : [" ", { quoted: identity }]),
      " at ",
      { quoted: groupName },
      " by ",
      { quoted: binding },
      ": ",
      { quoted: [...gains.map((one) => `+${one}`), ...losses.map((one) => `-${one}`)].join(", ") },
    ]),
  ...(reaches.length > LINES_MAX ? [[`and ${reaches.length - LINES_MAX} more; \`--format json\` has all`]] : []),
];

export const rolesDocument = ({ origin, roles, changed, notVisible }: RolesReport): Document => ({
  title: `Built-in roles: ${countText(roles.length, "role")}, ${countText(changed.filter(isChange).length, "change")}`,
  origin,
  sections: [
    { title: ROLES_TITLE, items: roleItems(changed) },
    {
      title: "Not visible to the caller, so somebody may be missing here",
      items: notVisible.map(({ groupName, message }) => ({
        parts: [{ quoted: groupName }, ": ", { quoted: message }],
        lines: [],
      })),
    },
    {
      title: "Built-in roles",
      items: roles.map((one) => ({ parts: [{ quoted: one.name }, countsOf(one)], lines: [] })),
    },
  ],
  foot: "`--format json` lists the capabilities. docs/roles.md says what to do about a change.",
});

/** `: 138 capabilities (8 grant, 61 write, 4 use, 65 read)` */
const countsOf = ({ capabilities }: RolesReport["roles"][number]): string => {
  const byClass = Map.groupBy(capabilities, classOf);
  const counts = CAPABILITY_CLASSES.flatMap((one) => {
    const count = byClass.get(one)?.length ?? 0;
    return count === 0 ? [] : [`${count} ${one}`];
  });
  return `: ${countText(capabilities.length, "capability", "capabilities")} (${counts.join(", ")})`;
};
