// A report in the parts that people read, the same in every format: its title, rows by group and role, and the lists below.
import { byEffect, changesAssumption, EFFECTS, type Effect, effectOf } from "../../review/danger.ts";
import type { Blocked, IdentityReview, Origin, PeopleReview, Report, Row } from "../../review/report.ts";
import { counted } from "../words.ts";

/** Rows of one group and role. */
export interface Change {
  sign: "+" | "-";
  /** `platform/registry`, `clusters (new)` */
  place: string;
  role: string;
  /** the worst first: a long list is cut */
  capabilities: string[];
  /** of the worst of them */
  effect: Effect;
}

/** In the order of the report: gains before losses, the worst first. */
export const changesOf = ({ gains, losses }: { gains: readonly Row[]; losses: readonly Row[] }): Change[] => [
  ...grouped("+", gains),
  ...grouped("-", losses),
];

const grouped = (sign: "+" | "-", rows: readonly Row[]): Change[] =>
  [...Map.groupBy(rows, placeKey).values()].map((own) => {
    const { groupName, group, role } = own[0] as Row;
    const capabilities = own.map(({ capability }) => capability).sort(byEffect);
    return {
      sign,
      place: placeOf(groupName, group),
      role,
      capabilities,
      effect: effectOf(capabilities[0] as string),
    };
  });

// A review may have hundreds of thousands of rows. The length keeps a role "b c" at "a" apart from a role "c" at "a b".
const placeKey = ({ group, groupName, role }: Row): string =>
  `${role.length} ${role} ${group === null ? "new " : ""}${group ?? groupName}`;

export const placeOf = (groupName: string, group: string | null): string =>
  group === null ? `${groupName} (new)` : groupName === "/" ? "/ (the organization)" : groupName;

/** A number that a headline or a badge shows. */
export interface Count {
  kind: "alert" | "gain" | "loss";
  count: number;
  one: string;
  many: string;
  /** a page also shows that there are none */
  isAlways?: true;
}

/** What changes, the worst first. */
export const countsOf = ({ identities, people, deletedGroups, blocked, adopted }: Report): Count[] => {
  const among = (is: (identity: IdentityReview) => boolean): number => identities.filter(is).length;
  const hasRows = ({ gains, losses }: IdentityReview): boolean => gains.length + losses.length > 0;
  const only = (change: IdentityReview["change"]) =>
    among((one) => one.change === change && !hasRows(one) && !changesAssumption(one));
  return [
    {
      kind: "alert",
      count: among(changesAssumption),
      one: "identity: who can assume it changes",
      many: "identities: who can assume them changes",
    },
    {
      kind: "gain",
      count: among(({ gains }) => gains.length > 0),
      one: "identity gains access",
      many: "identities gain access",
      isAlways: true,
    },
    {
      kind: "gain",
      count: people.filter(({ gains }) => gains.length > 0).length,
      one: "subject without an identity gains access",
      many: "subjects without an identity gain access",
    },
    {
      kind: "loss",
      count: among(({ losses }) => losses.length > 0),
      one: "identity loses access",
      many: "identities lose access",
      isAlways: true,
    },
    {
      kind: "loss",
      count: people.filter(({ losses }) => losses.length > 0).length,
      one: "subject without an identity loses access",
      many: "subjects without an identity lose access",
    },
    {
      kind: "alert",
      count: people.filter(({ gains, losses }) => gains.length + losses.length === 0).length,
      one: "subject without an identity changes",
      many: "subjects without an identity change",
    },
    {
      kind: "gain",
      count: only("created"),
      one: "new identity without access",
      many: "new identities without access",
    },
    {
      kind: "loss",
      count: only("deleted") + only("replaced"),
      one: "identity without access goes",
      many: "identities without access go",
    },
    { kind: "loss", count: only("updated"), one: "identity is renamed", many: "identities are renamed" },
    { kind: "loss", count: deletedGroups.length, one: "group is deleted", many: "groups are deleted" },
    {
      kind: "alert",
      count: blocked.filter(({ certain }) => certain).length,
      one: "deletion will be blocked",
      many: "deletions will be blocked",
    },
    {
      kind: "alert",
      count: blocked.filter(({ certain }) => !certain).length,
      one: "deletion may be blocked",
      many: "deletions may be blocked",
    },
    { kind: "gain", count: adopted.length, one: "record is taken over", many: "records are taken over" },
  ];
};

export const titleOf = (report: Report): string => {
  const { findings, source, unknown, notVisible } = report;
  const parts = countsOf(report).flatMap(({ count, one, many }) => (count > 0 ? [counted(count, one, many)] : []));
  // Nothing seen is not the same as nothing there.
  const none = unknown.length + notVisible.length > 0 ? "no change that this review can see" : "no change";
  const change = parts.length === 0 ? none : parts.join(", ");
  const denied = findings.filter((one) => one.denied).length;
  const found = counted(findings.length, "finding") + (denied > 0 ? `, ${denied} denied` : "");
  return `Change in access by this ${source}: ${change}; ${found}`;
};

/** `3 where it gains writes, 12 where it loses access` */
export const kindsOf = (changes: readonly Pick<Change, "sign" | "effect">[], where: string): string => {
  const kinds = [
    ...EFFECTS.map((effect) => ({ sign: "+", effect, text: GAINS[effect] })),
    { sign: "-", effect: undefined, text: "losses" },
  ];
  return kinds
    .map(({ sign, effect, text }) => {
      const own = changes.filter((one) => one.sign === sign && (effect === undefined || one.effect === effect));
      return own.length === 0 ? "" : `${own.length} ${where} ${text}`;
    })
    .filter(Boolean)
    .join(", ");
};

const GAINS: Readonly<Record<Effect, string>> = {
  grant: "gains that let it give access",
  write: "gains of writes",
  read: "gains of reads",
};

/** The names and values that a format shows. */
export const originFacts = ({
  stack,
  service,
  commit,
  isModified,
  time,
}: Origin): { name: string; value: string }[] => [
  ...(stack === undefined ? [] : [{ name: "Stack", value: stack }]),
  { name: "Service", value: service },
  ...(commit === undefined
    ? []
    : [{ name: "Commit", value: isModified ? `${commit}, with changes that are not committed` : commit }]),
  { name: "Time", value: time },
];

/** What a review of this kind cannot promise. */
export const footOf = ({ source, deletedGroups }: Report): string => {
  const foot =
    source === "policy"
      ? "A policy runs no code, but a pull request can replace the tool and the workflow. This review does not bind the run (docs/security.md)."
      : "A program is code: it can act differently in a preview than in an update, and a pull request can replace the tool, the package and the workflow. This review does not bind the run (docs/security.md).";
  return deletedGroups.length > 0 ? `${foot} ${SUBSCRIPTIONS}` : foot;
};

/** They block a deletion too (docs/contract.md#d7). */
const SUBSCRIPTIONS = "It does not list event subscriptions, which would block the deletion of their group.";

export const CHANGES: Readonly<Record<string, string>> = {
  created: "new",
  deleted: "deleted",
  replaced: "replaced",
  updated: "changed",
  none: "",
};

/** Who people are, before and after, where that changes. */
export const whoOf = ({ before, after }: PeopleReview): { when: "before" | "after"; text: string }[] =>
  before === after
    ? []
    : [
        { when: "before" as const, text: before },
        { when: "after" as const, text: after },
      ].flatMap(({ when, text }) => (text === null ? [] : [{ when, text }]));

export const peopleFactOf = ({ before, after }: PeopleReview): string =>
  before === after ? "" : before === null ? "new" : after === null ? "ends" : "who it is changes";

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

export const blockedParts = ({ subject, message, contents }: Blocked): Part[] => [
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
