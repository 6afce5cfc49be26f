// The lists of a report beside findings and identities, the same in every format.
import type { Blocked, Report } from "../../review/report.ts";
import { counted } from "../words.ts";

export interface Section {
  title: string;
  items: { parts: Part[] }[];
}

/** Our own words, or a text of others, which a format sets apart. */
export type Part = string | { quoted: string };

const quote = (quoted: string | null): Part => ({ quoted: quoted ?? "(new)" });

/** The same in every format. */
export const TITLES = {
  unknown: "Not known",
  notVisible: "Not visible to the caller, so in neither gains nor losses",
  deletedGroups: "Deleted groups, and what disappears with them",
  adopted: "Adopted: existing records that the program takes over",
  forceDestroy: "forceDestroy",
  undeclared: "Live access that nothing declares",
  expiringKeys: "Static keys that end within 30 days",
  rules: "Rules of this review",
} as const;

/** What this review cannot tell. It comes before the identities: a reader must not take silence for safety. */
export const limitsOf = (report: Report): Section[] => [
  { title: TITLES.unknown, items: report.unknown.map(({ message }) => ({ parts: [quote(message)] })) },
  { title: blockedTitle(report.blocked), items: report.blocked.map((one) => ({ parts: blockedParts(one) })) },
  {
    title: TITLES.notVisible,
    items: report.notVisible.map(({ groupName, message }) => ({ parts: [quote(groupName), ": ", quote(message)] })),
  },
];

export const blockedTitle = (blocked: readonly Blocked[]): string =>
  blocked.every(({ certain }) => certain) ? "Deletions that will fail" : "Deletions that will or may fail";

const blockedParts = ({ subject, message, contents }: Blocked): Part[] => [
  quote(subject),
  ": ",
  quote(message),
  ...(contents.length === 0 ? [] : [": ", ...named(contents)]),
];

/** What follows the identities. */
export const sectionsOf = (report: Report): Section[] => [
  {
    title: TITLES.deletedGroups,
    items: report.deletedGroups.map(({ groupName, contents }) => ({
      parts: [quote(groupName), contents.length === 0 ? ": it is empty" : ": ", ...named(contents)],
    })),
  },
  {
    title: TITLES.adopted,
    items: report.adopted.map(({ kind, name, uid, resource, deletedLater, interruptedAt }) => ({
      parts: [
        `${kind} `,
        quote(name),
        " ",
        quote(uid),
        " by ",
        quote(resource),
        ...(interruptedAt === undefined ? [] : [", created by an earlier run at ", quote(interruptedAt)]),
        deletedLater ? "; deleted with the resource" : "; it stays when the resource goes",
      ],
    })),
  },
  {
    title: TITLES.forceDestroy,
    items: report.forceDestroy.map(({ kind, name, deletes, contents }) => ({
      parts: deletes
        ? [
            `${kind} `,
            quote(name),
            contents.length === 0 ? " is deleted, with nothing else in it" : " is deleted, and with it ",
            ...named(contents),
          ]
        : [`${kind} `, quote(name), " gets forceDestroy: a later deletion takes along what no resource manages"],
    })),
  },
  {
    title: TITLES.undeclared,
    items: report.undeclared.map(({ identityName, role, groupName, binding }) => ({
      parts: [quote(identityName), " is ", quote(role), " at ", quote(groupName), " by binding ", quote(binding)],
    })),
  },
  {
    title: TITLES.expiringKeys,
    items: report.expiringKeys.map(({ name, groupName, expirationTime }) => ({
      parts: [quote(name), " in ", quote(groupName), ": ", quote(expirationTime)],
    })),
  },
  { title: TITLES.rules, items: rulesParts(report).map((parts) => ({ parts })) },
];

/** Where the rules come from, and how the tests went: a reader must see that there are none. */
export const rulesParts = ({ rules, tests }: Report): Part[][] => {
  const parts: Part[][] = [];
  if (rules) {
    const { file, isThere, base, commit = "" } = rules;
    const place: Part[] =
      base === undefined ? [" in the work tree"] : [" at ", quote(base), ` (${commit.slice(0, 12)})`];
    parts.push(isThere ? [quote(file), ...place] : ["there is no ", quote(file), ...place, ": only flags count"]);
  }
  if (tests) {
    const failed = tests.filter(({ passed }) => !passed).length;
    parts.push([`${counted(tests.length, "test")} of access: ${failed === 0 ? "all passed" : `${failed} failed`}`]);
  }
  return parts;
};

const CONTENTS_SHOWN = 20;

const named = (contents: readonly { kind: string; name: string }[]): Part[] => {
  const shown = contents.slice(0, CONTENTS_SHOWN);
  const rest = contents.length - shown.length;
  const parts = shown.flatMap(({ kind, name }, i): Part[] => [i === 0 ? `${kind} ` : `, ${kind} `, quote(name)]);
  return rest > 0 ? [...parts, ` and ${rest} more`] : parts;
};
