// A report in the parts that people read, the same in every format: its title, its facts, and rows by group and role.
import { CAPABILITY_CLASSES, type CapabilityClass, classOf } from "../../../schema/index.ts";
import { byEffect, changesAssumption } from "../../review/danger.ts";
import type { IdentityReview, Origin, PeopleReview, Report, Row } from "../../review/report.ts";
import { countText, organizationsText } from "../words.ts";
import { runFacts } from "./run.ts";

/** Rows of one group and role. */
export interface Change {
  sign: "+" | "-";
  /** `platform/registry`, `clusters (new)` */
  place: string;
  role: string;
  /** the worst first: a long list is cut */
  capabilities: string[];
  /** of the worst of them */
  effect: CapabilityClass;
}

/** Keeps the order of the report: gains before losses, the worst first. */
export const changesOf = ({ gains, losses }: { gains: readonly Row[]; losses: readonly Row[] }): Change[] => [
  ...groupRows("+", gains),
  ...groupRows("-", losses),
];

const groupRows = (sign: "+" | "-", rows: readonly Row[]): Change[] =>
  [...Map.groupBy(rows, placeKey).values()].map((rowsHere) => {
    const { groupName, group, role } = rowsHere[0] as Row;
    const capabilities = rowsHere.map(({ capability }) => capability).sort(byEffect);
    return {
      sign,
      place: placeOf(groupName, group),
      role,
      capabilities,
      effect: classOf(capabilities[0] as string),
    };
  });

// A review may have hundreds of thousands of rows. The length keeps a role "b c" at "a" apart from a role "c" at "a b".
const placeKey = ({ group, groupName, role }: Row): string =>
  `${role.length} ${role} ${group === null ? "new " : ""}${group ?? groupName}`;

export const placeOf = (groupName: string, group: string | null): string =>
  group === null ? `${groupName} (new)` : groupName === "/" ? "/ (the organization)" : groupName;

/** Where there are several services, the one that a subject is at. */
export const serviceText = ({ service }: { service?: string | undefined }): string =>
  service === undefined ? "" : ` at ${service}`;

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
export const countsOf = ({
  identities,
  people,
  deletedGroups,
  steps,
  errors,
  differs,
  adopted,
  opens,
  closes,
}: Report): Count[] => {
  const among = (is: (identity: IdentityReview) => boolean): number => identities.filter(is).length;
  const hasRows = ({ gains, losses }: Pick<IdentityReview, "gains" | "losses">): boolean =>
    gains.length + losses.length > 0;
  const only = (change: IdentityReview["change"]) =>
    among((one) => one.change === change && !hasRows(one) && !changesAssumption(one));
  const hasGains = ({ gains }: { gains: readonly Row[] }): boolean => gains.length > 0;
  const hasLosses = ({ losses }: { losses: readonly Row[] }): boolean => losses.length > 0;
  const unchanged = people.filter((one) => !hasRows(one));
  const count = (kind: Count["kind"], number: number, one: string, many: string): Count => ({
    kind,
    count: number,
    one,
    many,
  });
  return [
    count(
      "alert",
      among(changesAssumption),
      "identity: who can assume it changes",
      "identities: who can assume them changes",
    ),
    { ...count("gain", among(hasGains), "identity gains access", "identities gain access"), isAlways: true },
    count(
      "gain",
      people.filter(hasGains).length,
      "subject without an identity gains access",
      "subjects without an identity gain access",
    ),
    { ...count("loss", among(hasLosses), "identity loses access", "identities lose access"), isAlways: true },
    count(
      "loss",
      people.filter(hasLosses).length,
      "subject without an identity loses access",
      "subjects without an identity lose access",
    ),
    count("alert", unchanged.length, "subject without an identity changes", "subjects without an identity change"),
    count("alert", opens.length, "path to more access opens", "paths to more access open"),
    count("loss", closes.length, "path to more access closes", "paths to more access close"),
    count("gain", only("created"), "new identity without access", "new identities without access"),
    count("loss", only("deleted") + only("replaced"), "identity without access goes", "identities without access go"),
    count("loss", only("updated"), "identity is renamed", "identities are renamed"),
    count("loss", deletedCount(deletedGroups), "group is deleted", "groups are deleted"),
    count("alert", steps.filter(({ ok }) => !ok).length, "step fails", "steps fail"),
    count("alert", errors.length, "other error", "other errors"),
    count("alert", differs.length, "row differs", "rows differ"),
    count("gain", adopted.length, "record is taken over", "records are taken over"),
  ];
};

/** With the groups in them. */
const deletedCount = (groups: Report["deletedGroups"]): number =>
  groups.reduce((sum, { contents }) => sum + 1 + contents.filter(({ kind }) => kind === "group").length, 0);

/** Who is written about, and of which stack. `show` sets names of others apart. */
export const subjectOf = (
  { organizations = [], origin }: Pick<Report, "organizations" | "origin">,
  show: (name: string) => string = (name) => name,
): string => {
  const of = organizations.length === 0 ? "" : ` of ${organizationsText(organizations, show)}`;
  return `Change in access${of} by ${origin?.stack === undefined ? "this program" : show(origin.stack)}`;
};

export const titleOf = (report: Report, show?: (name: string) => string): string => {
  const { findings, unknown, notVisible } = report;
  const parts = countsOf(report).flatMap(({ count, one, many }) => (count > 0 ? [countText(count, one, many)] : []));
  // Nothing seen is not the same as nothing there.
  const none = unknown.length + notVisible.length > 0 ? "no change that this review can see" : "no change";
  const change = parts.length === 0 ? none : parts.join(", ");
  const denied = findings.filter((one) => one.denied).length;
  const found = countText(findings.length, "finding") + (denied > 0 ? `, ${denied} denied` : "");
  return `${subjectOf(report, show)}: ${change}; ${found}`;
};

/** `3 where it gains writes, 12 where it loses access` */
export const kindsOf = (changes: readonly Pick<Change, "sign" | "effect">[], where: string): string => {
  const kinds = [
    ...CAPABILITY_CLASSES.map((effect) => ({ sign: "+", effect, text: GAINS[effect] })),
    { sign: "-", effect: undefined, text: "losses" },
  ];
  return kinds
    .map(({ sign, effect, text }) => {
      const ofEffect = changes.filter((one) => one.sign === sign && (effect === undefined || one.effect === effect));
      return ofEffect.length === 0 ? "" : `${ofEffect.length} ${where} ${text}`;
    })
    .filter(Boolean)
    .join(", ");
};

const GAINS: Readonly<Record<CapabilityClass, string>> = {
  grant: "gains that let it give access",
  write: "gains of writes",
  use: "gains of uses",
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

/** What the head of a review says: what it is of, and who acts. */
export const headFacts = (report: Report): { name: string; value: string }[] => [
  ...(report.origin ? originFacts(report.origin) : []),
  ...runFacts(report),
];

/** What a review of this kind cannot promise. */
export const footOf = ({ deletedGroups }: Report): string => {
  return deletedGroups.length > 0 ? `${CAN_DIFFER} ${SUBSCRIPTIONS}` : CAN_DIFFER;
};

/** Why the run may do something else than what was reviewed. */
const CAN_DIFFER =
  "A program is code: it can act differently on a copy than in the update, and a pull request can replace the tool, the package and the workflow. Only npx pulumi-irm apply binds the update to this review (docs/apply.md).";

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
