// The lists of a report beside findings and identities, the same in every format.
import type { Report } from "../../review/report.ts";
import { pullTokenParts } from "../pull-token.ts";
import { roleItems, rolesTitle } from "../roles.ts";
import { countText } from "../words.ts";
import { runLimits, runNotes } from "./run.ts";
import type { Part, Section, ShownPart } from "./section.ts";

const quote = (quoted: string | null): Part => ({ quoted: quoted ?? "(new)" });

/** The same in every format. */
export const TITLES = {
  unknown: "Not known",
  opens: "Opens: paths to more access, by requests that were not possible before",
  closes: "Closes: paths to more access that end",
  notVisible: "Not visible to the caller, so in neither gains nor losses",
  deletedGroups: "Deleted groups, and what disappears with them",
  adopted: "Adopted: existing records that the program takes over",
  forceDestroy: "forceDestroy",
  undeclared: "Live access that nothing declares",
  expiringKeys: "Static keys that end within 30 days",
  pullTokens: "Pull tokens that lose a role",
  rules: "Rules of this review",
} as const;

/** What this review cannot tell. It comes before the identities: a reader must not take silence for safety. */
export const limitsOf = (report: Report): Section[] => [
  ...runLimits(report),
  { id: "unknown", title: TITLES.unknown, items: report.unknown.map(({ message }) => ({ parts: [quote(message)] })) },
  {
    id: "not-visible",
    title: TITLES.notVisible,
    items: report.notVisible.map(({ groupName, message }) => ({ parts: [quote(groupName), ": ", quote(message)] })),
  },
];

/** What follows the identities. */
export const sectionsOf = (report: Report): Section[] => [
  {
    id: "deleted",
    title: TITLES.deletedGroups,
    items: report.deletedGroups.map(({ groupName, contents }) => ({
      parts: [quote(groupName), contents.length === 0 ? ": it is empty" : ": ", { contents }],
    })),
  },
  {
    id: "adopted",
    title: TITLES.adopted,
    items: report.adopted.map(({ kind, name, uid, resource, deletedLater }) => ({
      parts: [
        `${kind} `,
        quote(name),
        " ",
        quote(uid),
        " by ",
        quote(resource),
        deletedLater ? "; deleted with the resource" : "; it stays when the resource goes",
      ],
    })),
  },
  {
    id: "forced",
    title: TITLES.forceDestroy,
    items: report.forceDestroy.map((row) => ({ parts: forcedParts(row) })),
  },
  {
    id: "undeclared",
    title: TITLES.undeclared,
    items: report.undeclared.map(({ identityName, role, groupName, binding }) => ({
      parts: [
        quote(identityName),
        " has the role ",
        quote(role),
        " at ",
        quote(groupName),
        ", by binding ",
        quote(binding),
      ],
    })),
  },
  {
    id: "expiring",
    title: TITLES.expiringKeys,
    items: report.expiringKeys.map(({ name, groupName, expirationTime }) => ({
      parts: [quote(name), " in ", quote(groupName), ": ", quote(expirationTime)],
    })),
  },
  {
    id: "changed-roles",
    title: rolesTitle(report.roles ?? []),
    items: roleItems(report.roles ?? []).map(({ parts, lines }) => ({
      parts: [...parts, ...lines.flatMap((line): Part[] => ["; ", ...line])],
    })),
  },
  {
    id: "pull-tokens",
    title: TITLES.pullTokens,
    items: report.pullTokens.map((one) => ({ parts: pullTokenParts(one) })),
  },
  ...runNotes(report),
  { id: "rules", title: TITLES.rules, items: rulesParts(report).map((parts) => ({ parts })) },
];

/** Where the rules come from, and how the tests went: a reader must see that there are none. */
const rulesParts = ({ rules, tests }: Report): Part[][] => {
  const parts: Part[][] = [];
  if (rules) {
    const { file, isThere, base, commit = "" } = rules;
    const place: Part[] =
      base === undefined ? [" in the work tree"] : [" at ", quote(base), ` (${commit.slice(0, 12)})`];
    parts.push(isThere ? [quote(file), ...place] : ["there is no ", quote(file), ...place, ": only flags count"]);
  }
  if (tests) {
    const old = tests.filter(({ failedBefore }) => failedBefore);
    const failed = tests.filter(({ passed }) => !passed).length - old.length;
    const counts = [
      ...(failed > 0 ? [`${failed} failed`] : []),
      ...(old.length > 0 ? [`${old.length} failed before this change too`] : []),
    ];
    parts.push([`${countText(tests.length, "test")} of access: ${counts.join(", ") || "all passed"}`]);
    for (const { name, reason = "" } of old)
      parts.push(["test ", quote(name), " failed before this change too: ", quote(reason)]);
  }
  return parts;
};

const forcedParts = ({ kind, name, deletes, contents }: Report["forceDestroy"][number]): Part[] => {
  const title = [`${kind} `, quote(name)];
  if (!deletes) return [...title, " gets forceDestroy: a later deletion takes along what no resource manages"];
  const what = contents.length === 0 ? " is deleted, with nothing else in it" : " is deleted, and with it ";
  return [...title, what, { contents }];
};

const CONTENTS_SHOWN = 20;

/** Shows only the first of the contents, as a list in a sentence. */
export const inLine = (parts: readonly Part[]): ShownPart[] =>
  parts.flatMap((part) => {
    if (typeof part === "string" || !("contents" in part)) return [part];
    const shown = part.contents.slice(0, CONTENTS_SHOWN);
    const rest = part.contents.length - shown.length;
    const names = shown.flatMap(({ kind, name }, i) => [i === 0 ? `${kind} ` : `, ${kind} `, { quoted: name }]);
    return rest > 0 ? [...names, ` and ${rest} more`] : names;
  });
