// The order of importance for a reader: the one order of every list, in every format and in drift. Denied findings come first; then access
// to own, to change, to run and to read things. A gain precedes every loss, and a broader place a deeper one. No name is a special case.
// People, external groups and keys are treated like identities. Unknown access counts as the worst.
import { CAPABILITY_CLASSES, type CapabilityClass, classOf } from "../../schema/index.ts";
import { compare, equalityKey } from "../canonical.ts";

/** With this capability an identity can give access to itself or to others. */
export const isGrant = (capability: string): boolean => classOf(capability) === "grant";

/** Whether a capability changes records. */
export const isWrite = ({ capability }: { capability: string }): boolean =>
  ["grant", "write"].includes(classOf(capability));

const rankOf = (capability: string) => CAPABILITY_CLASSES.indexOf(classOf(capability));

/** Ranks after each class. */
const HARMLESS: number = CAPABILITY_CLASSES.length;

const worstRankOf = (capabilities: Capabilities) => {
  if (capabilities === "unknown") return 0;
  let worst = HARMLESS;
  for (const capability of capabilities) {
    worst = Math.min(worst, rankOf(capability));
    if (worst === 0) break;
  }
  return worst;
};

/** The class of the worst of these capabilities; null without any. */
export const worstClassOf = (capabilities: Capabilities): CapabilityClass | null =>
  CAPABILITY_CLASSES[worstRankOf(capabilities)] ?? null;

export const byEffect = (a: string, b: string): number => rankOf(a) - rankOf(b) || compare(a, b);

/** `/` is above all others, and so is `/ of acme`. */
const depthOf = (path: string) => (path.startsWith("/") ? 0 : path.split("/").length);

/** The paths of groups: a broader one holds in more places. */
export const byBreadth = (a: string, b: string): number => depthOf(a) - depthOf(b) || compare(a, b);

export type Capabilities = Iterable<string> | "unknown";

/** The capabilities of a role. A role without any cannot be read: the API has none. */
export const capabilitiesIn = (
  roles: ReadonlyMap<string, { capabilities: readonly string[] }>,
  role: string | null | undefined,
): Capabilities => {
  const { capabilities = [] } = roles.get(role ?? "") ?? {};
  return capabilities.length === 0 ? "unknown" : capabilities;
};

/** The values that decide the position of an entry. An absent value is harmless. */
export interface Weight {
  /** `open`: it applies, and no one excuses it */
  standing?: "denied" | "open" | undefined;
  /** the capabilities that someone gains by it, or holds */
  capabilities?: Capabilities | undefined;
  /** the class of the worst of these, if they are not available */
  effect?: CapabilityClass | null | undefined;
  /** others than before may act by it */
  isReassumed?: boolean | undefined;
  losses?: Capabilities | undefined;
  /** path of a group */
  place?: string | undefined;
  /** texts that decide between equals, in this order; without any, they keep their order */
  texts: readonly (string | null | undefined)[];
}

/** The worst first. Computes the weight of each entry once: there may be hundreds of thousands. */
export const worstFirst = <T>(all: Iterable<T>, weightOf: (one: T) => Weight): T[] =>
  Array.from(all, (one) => {
    const { standing, capabilities = [], effect, isReassumed, losses = [], place, texts } = weightOf(one);
    const ranks = [
      standing === "denied" ? 0 : standing === "open" ? 1 : 2,
      effect ? CAPABILITY_CLASSES.indexOf(effect) : worstRankOf(capabilities),
      isReassumed ? 0 : 1,
      worstRankOf(losses),
      place === undefined ? Number.MAX_SAFE_INTEGER : depthOf(place),
    ];
    return { one, ranks, place: place ?? "", texts };
  })
    .sort(
      (a, b) =>
        a.ranks.reduce((order, rank, i) => order || rank - (b.ranks[i] as number), 0) ||
        compare(a.place, b.place) ||
        a.texts.reduce<number>((order, text, i) => order || compare(text ?? "", b.texts[i] ?? ""), 0),
    )
    .map(({ one }) => one);

interface AccessRow {
  group: string | null;
  groupName: string;
  capability: string;
  role: string;
}

export const rowsInOrder = <R extends AccessRow>(rows: readonly R[]): R[] =>
  worstFirst(rows, ({ capability, groupName, role, group }) => ({
    capabilities: [capability],
    place: groupName,
    texts: [role, capability, group],
  }));

interface Assumable {
  change: string;
  assumableBefore: unknown;
  assumableAfter: unknown;
}

/** Whether other workloads than before can assume an identity that exists before and after. */
export const changesAssumption = ({ change, assumableBefore, assumableAfter }: Assumable): boolean =>
  (change === "updated" || change === "none") && equalityKey(assumableBefore) !== equalityKey(assumableAfter);

interface Judged {
  rule: string;
  subject: string;
  unknown?: true | undefined;
  denied?: true | undefined;
  allowed?: true | undefined;
}

/** These rules are about who may own, regardless of the certain gains of the subject. */
const OWNING = ["gains-owner", "may-own", "required-owners", "last-owner-goes"];

/** The contribution of an open finding to a weight. A possible but unknown gain counts as the worst. */
const dangerOf = ({ rule, unknown }: Judged): Pick<Weight, "effect"> =>
  unknown || OWNING.includes(rule) ? { effect: "grant" } : {};

/** An identity that changes, or people who have access without one. Rows are in order. */
interface Subject {
  uid: string | null;
  groupName: string;
  /** the worst that someone gains; absent: unknown beyond the rows */
  effect?: CapabilityClass | null | undefined;
  gains: readonly AccessRow[];
  losses: readonly AccessRow[];
}
type AnySubject = Subject &
  ((Assumable & { name: string }) | { subject: string; before: string | null; after: string | null });

const isReassumed = (one: AnySubject) =>
  "subject" in one ? one.before !== null && one.after !== null && one.before !== one.after : changesAssumption(one);

/** The name of the subject in a finding. */
const keyOf = (one: AnySubject) => ("subject" in one ? one.subject : (one.uid ?? one.name));

const weightOf = (one: AnySubject): Weight => {
  const { effect, gains, losses, groupName, uid } = one;
  return {
    effect,
    capabilities: effect === undefined && isReassumed(one) ? "unknown" : gains.map(({ capability }) => capability),
    isReassumed: isReassumed(one),
    losses: losses.map(({ capability }) => capability),
    place: (gains[0] ?? losses[0])?.groupName ?? groupName,
    texts: ["subject" in one ? one.subject : one.name, groupName, uid],
  };
};

/** By their findings, their gains, who can assume them, and last by their losses. */
export const subjectsInOrder = <T extends AnySubject>(subjects: readonly T[], findings: readonly Judged[]): T[] => {
  const denied = new Set(findings.filter((one) => one.denied).map(({ subject }) => subject));
  const stands = findings.filter((one) => !one.allowed);
  const open = new Set(stands.map(({ subject }) => subject));
  const owning = new Set(stands.filter((one) => dangerOf(one).effect).map(({ subject }) => subject));
  return worstFirst(subjects, (one) => {
    const key = keyOf(one);
    return {
      ...weightOf(one),
      ...(owning.has(key) && { effect: "grant" }),
      standing: denied.has(key) ? "denied" : open.has(key) ? "open" : undefined,
    };
  });
};

/**
 * Denied findings first, and allowed ones last; then by the gains of the subject. If the subject is not in the change, the finding may be
 * about any access. Equals keep the order of the rules.
 */
export const findingsInOrder = <F extends Judged>(findings: readonly F[], subjects: readonly AnySubject[]): F[] => {
  const weights = new Map(subjects.map((one) => [keyOf(one), weightOf(one)]));
  const unknown: Weight = { capabilities: "unknown", place: "/", texts: [] };
  return worstFirst(findings, (finding) => {
    const { subject, denied, allowed } = finding;
    return {
      ...(weights.get(subject) ?? unknown),
      ...dangerOf(finding),
      standing: denied ? "denied" : allowed ? undefined : "open",
      isReassumed: false,
      texts: [],
    };
  });
};
