// What a reader must see first. This is the one order of every list of a review, and of what a format leaves out last: findings; who
// can assume an identity; capabilities that give access to others; capabilities that change things; capabilities that read. A gain
// comes before every loss. A broader place comes first, and no name is a special case.
import { CAPABILITY_CLASSES, classOf } from "../../schema/index.ts";
import { compare } from "../graph/compare.ts";
import { textOf } from "../graph/same.ts";
import type { Finding, IdentityReview, PeopleReview, Row } from "./report.ts";

/** With this capability an identity can give access to itself or to others. */
export const isGrant = (capability: string): boolean => classOf(capability) === "grant";

/** Whether a capability changes records. */
export const isWrite = ({ capability }: { capability: string }): boolean =>
  ["grant", "write"].includes(classOf(capability));

const rankOf = (capability: string): number => CAPABILITY_CLASSES.indexOf(classOf(capability));

/** The rank of the worst of these capabilities; without any, the rank of a harmless one. */
export const worstRankOf = (capabilities: Iterable<string>): number => {
  let worst: number = CAPABILITY_CLASSES.length;
  for (const capability of capabilities) {
    worst = Math.min(worst, rankOf(capability));
    if (worst === 0) break;
  }
  return worst;
};

export const byEffect = (a: string, b: string): number => rankOf(a) - rankOf(b) || compare(a, b);

/** `/` is above all others. */
const depthOf = (path: string): number => (path === "/" ? 0 : path.split("/").length);

/** The paths of groups: a broader one holds in more places. */
export const byBreadth = (a: string, b: string): number => depthOf(a) - depthOf(b) || compare(a, b);

/** Ranks are computed once for each row: there may be hundreds of thousands. */
export const rowsInOrder = <R extends Row>(rows: readonly R[]): R[] =>
  rows
    .map((row) => ({ row, rank: rankOf(row.capability) }))
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        byBreadth(a.row.groupName, b.row.groupName) ||
        compare(a.row.role, b.row.role) ||
        compare(a.row.capability, b.row.capability) ||
        compare(a.row.group ?? "", b.row.group ?? ""),
    )
    .map(({ row }) => row);

/** Whether another workload than before can assume an identity that stays. */
export const changesAssumption = ({ change, assumableBefore, assumableAfter }: IdentityReview): boolean =>
  (change === "updated" || change === "none") && textOf(assumableBefore) !== textOf(assumableAfter);

/** The denied first, then those that stand, then what is allowed. Each in the order of the rules, which is kept. */
const standingOf = ({ denied, allowed }: Finding): number => (denied ? 0 : allowed ? 2 : 1);

export const findingsInOrder = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted((a, b) => standingOf(a) - standingOf(b));

/** Identities with the worst first: by their findings, by who can assume them, by what they gain, and by what they lose. */
export const identitiesInOrder = <T extends IdentityReview>(
  identities: readonly T[],
  findings: readonly Finding[],
): T[] => {
  const standing = standingsOf(findings);
  return inOrder(identities, (identity) => ({
    ranks: ranksOf(identity, standing.get(identity.uid ?? identity.name), changesAssumption(identity)),
    texts: [identity.name, identity.groupName],
  }));
};

/** The same of those who have no identity. */
export const peopleInOrder = (people: readonly PeopleReview[], findings: readonly Finding[]): PeopleReview[] => {
  const standing = standingsOf(findings);
  return inOrder(people, (one) => ({
    ranks: ranksOf(one, standing.get(one.subject), one.before !== null && one.before !== one.after),
    texts: [one.subject, one.uid ?? ""],
  }));
};

const standingsOf = (findings: readonly Finding[]): Map<string, number> => {
  const standing = new Map<string, number>();
  for (const finding of findings) {
    const rank = standingOf(finding);
    standing.set(finding.subject, Math.min(rank, standing.get(finding.subject) ?? rank));
  }
  return standing;
};

const inOrder = <T>(all: readonly T[], keyOf: (one: T) => { ranks: number[]; texts: string[] }): T[] =>
  all
    .map((one) => ({ one, ...keyOf(one) }))
    .sort(
      (a, b) =>
        a.ranks.reduce((order, rank, i) => order || rank - (b.ranks[i] as number), 0) ||
        a.texts.reduce((order, text, i) => order || compare(text, b.texts[i] as string), 0),
    )
    .map(({ one }) => one);

const ranksOf = (
  { gains, losses }: { gains: readonly Row[]; losses: readonly Row[] },
  standing = EXCUSED,
  isOtherPeople: boolean,
): number[] => [
  Math.min(standing, EXCUSED),
  isOtherPeople ? 0 : 1,
  worstRankOf(gains.map(({ capability }) => capability)),
  worstRankOf(losses.map(({ capability }) => capability)),
];

/** What is excused ranks as what has no finding. */
const EXCUSED = 2;
