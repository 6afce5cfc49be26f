// A report in the parts that people read, the same in every format: its title, rows by group and role, and the lists below.
import type { Report, Row } from "../../review/report.ts";
import { isWrite } from "../../review/write.ts";
import { counted } from "../words.ts";

/** Rows of one group and role. */
export interface Change {
  sign: "+" | "-";
  /** `platform/registry`, `clusters (new)` */
  place: string;
  role: string;
  capabilities: string[];
}

export const changesOf = ({ gains, losses }: { gains: readonly Row[]; losses: readonly Row[] }): Change[] => [
  ...grouped("+", gains),
  ...grouped("-", losses),
];

const grouped = (sign: "+" | "-", rows: readonly Row[]): Change[] =>
  [...Map.groupBy(rows, placeKey).values()].map((own) => {
    const { groupName, group, role } = own[0] as Row;
    // What changes things first: a long list is cut.
    const [writes, reads] = [own.filter(isWrite), own.filter((row) => !isWrite(row))];
    const capabilities = [...writes, ...reads].map(({ capability }) => capability);
    return { sign, place: placeOf(groupName, group), role, capabilities };
  });

// A review may have hundreds of thousands of rows. The length keeps a role "b c" at "a" apart from a role "c" at "a b".
const placeKey = ({ group, groupName, role }: Row): string =>
  `${role.length} ${role} ${group === null ? "new " : ""}${group ?? groupName}`;

export const placeOf = (groupName: string, group: string | null): string =>
  group === null ? `${groupName} (new)` : groupName === "/" ? "/ (the organisation)" : groupName;

export const titleOf = ({ identities, findings, source, unknown, notVisible }: Report): string => {
  const gaining = identities.filter(({ gains }) => gains.length > 0).length;
  const losing = identities.filter(({ losses }) => losses.length > 0).length;
  const parts = [
    gaining > 0 && `${counted(gaining, "identity gains", "identities gain")} access`,
    losing > 0 && `${counted(losing, "identity loses", "identities lose")} access`,
  ].filter(Boolean);
  // Nothing seen is not the same as nothing there.
  const none = unknown.length + notVisible.length > 0 ? "no change that this review can see" : "no change";
  const change = parts.length === 0 ? none : parts.join(", ");
  return `Change in access by this ${source}: ${change}; ${counted(findings.length, "finding")}`;
};

export const CHANGES: Readonly<Record<string, string>> = {
  created: "new",
  deleted: "deleted",
  replaced: "replaced",
  updated: "changed",
  none: "",
};

export interface Section {
  title: string;
  items: { parts: Part[] }[];
}

/** Our own words, or a text of others, which a format sets apart. */
export type Part = string | { quoted: string };

const quote = (quoted: string | null): Part => ({ quoted: quoted ?? "(new)" });

/** What follows the identities. */
export const sectionsOf = (report: Report): Section[] => [
  {
    title: "Deleted groups, and what disappears with them",
    items: report.deletedGroups.map(({ groupName, contents }) => ({
      parts: [quote(groupName), contents.length === 0 ? ": it is empty" : ": ", ...named(contents)],
    })),
  },
  {
    title: "Adopted: existing records that the program takes over",
    items: report.adopted.map(({ kind, name, uid, resource, deletedLater, interruptedAt }) => ({
      parts: [
        `${kind} `,
        quote(name),
        " ",
        quote(uid),
        " by ",
        quote(resource),
        ...(interruptedAt === undefined ? [] : [", created by an interrupted run at ", quote(interruptedAt)]),
        deletedLater ? "; deleted with the resource" : "; it stays when the resource goes",
      ],
    })),
  },
  {
    title: "forceDestroy",
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
    title: "Live access that nothing declares",
    items: report.undeclared.map(({ identityName, role, groupName, binding }) => ({
      parts: [quote(identityName), " is ", quote(role), " at ", quote(groupName), " by binding ", quote(binding)],
    })),
  },
  {
    title: "Static keys that end within 30 days",
    items: report.expiringKeys.map(({ name, groupName, expirationTime }) => ({
      parts: [quote(name), " in ", quote(groupName), ": ", quote(expirationTime)],
    })),
  },
  { title: "Not known", items: report.unknown.map(({ message }) => ({ parts: [quote(message)] })) },
  {
    title: "Not visible to the caller, so in neither gains nor losses",
    items: report.notVisible.map(({ groupName, message }) => ({ parts: [quote(groupName), ": ", quote(message)] })),
  },
];

const CONTENTS_SHOWN = 20;

const named = (contents: readonly { kind: string; name: string }[]): Part[] => {
  const shown = contents.slice(0, CONTENTS_SHOWN);
  const rest = contents.length - shown.length;
  const parts = shown.flatMap(({ kind, name }, i): Part[] => [i === 0 ? `${kind} ` : `, ${kind} `, quote(name)]);
  return rest > 0 ? [...parts, ` and ${rest} more`] : parts;
};
