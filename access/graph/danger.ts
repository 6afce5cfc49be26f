// What a reader must see first: the one order of every list, in every format and in drift. Denied findings; then who may own; then who
// may change things, run things, read. A gain comes before every loss, and a broader place before a deeper one. No name is a special
// case, and people, external groups and keys are no other case than identities. What is not known counts as the worst.
import { CAPABILITY_CLASSES, type CapabilityClass, classOf } from "../../schema/index.ts";
import { compare, equalityKey } from "../canonical.ts";

/** With this capability an identity can give access to itself or to others. */
export const isGrant = (capability: string): boolean => classOf(capability) === "grant";

/** Whether a capability changes records. */
export const isWrite = ({ capability }: { capability: string }): boolean =>
  ["grant", "write"].includes(classOf(capability));

const rankOf = (capability: string): number => CAPABILITY_CLASSES.indexOf(classOf(capability));

/** Ranks behind each class. */
const HARMLESS: number = CAPABILITY_CLASSES.length;

const worstRankOf = (capabilities: Capabilities): number => {
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

/** `/` is above all others, also as `/ of acme`. */
const depthOf = (path: string): number => (path.startsWith("/") ? 0 : path.split("/").length);

/** The paths of groups: a broader one holds in more places. */
export const byBreadth = (a: string, b: string): number => depthOf(a) - depthOf(b) || compare(a, b);

export type Capabilities = Iterable<string> | "unknown";

/** What a role grants. One without capabilities cannot be read: the API has none. */
export const capabilitiesIn = (
  roles: ReadonlyMap<string, { capabilities: readonly string[] }>,
  role: string | null | undefined,
): Capabilities => {
  const { capabilities = [] } = roles.get(role ?? "") ?? {};
  return capabilities.length === 0 ? "unknown" : capabilities;
};

/** What decides where an entry stands. What is absent is harmless. */
export interface Weight {
  /** `open`: it stands, and nobody excuses it */
  standing?: "denied" | "open" | undefined;
  /** what somebody gains by it, or holds */
  capabilities?: Capabilities | undefined;
  /** the class of the worst of these, where they are not at hand */
  effect?: CapabilityClass | null | undefined;
  /** others than before may act by it */
  isReassumed?: boolean | undefined;
  losses?: Capabilities | undefined;
  /** path of a group */
  place?: string | undefined;
  /** what decides between equals, in this order; without any, they keep theirs */
  texts: readonly (string | null | undefined)[];
}

/** The worst first. Weights are made once for each entry: there may be hundreds of thousands. */
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

/** Whether another workload than before can assume an identity that stays. */
export const changesAssumption = ({ change, assumableBefore, assumableAfter }: Assumable): boolean =>
  (change === "updated" || change === "none") && equalityKey(assumableBefore) !== equalityKey(assumableAfter);

interface Judged {
  rule: string;
  subject: string;
  unknown?: true | undefined;
  denied?: true | undefined;
  allowed?: true | undefined;
}

/** They are about who may own, whatever the subject gains for certain. */
const OWNING = ["gains-owner", "may-own", "required-owners", "last-owner-goes"];

/** What a finding that stands adds to a weight. What is possible, and not known, counts as the worst. */
const dangerOf = ({ rule, unknown }: Judged): Pick<Weight, "effect"> =>
  unknown || OWNING.includes(rule) ? { effect: "grant" } : {};

/** Whoever changes: an identity, or who has access without one. Rows are in order. */
interface Subject {
  uid: string | null;
  groupName: string;
  /** the worst that somebody gains; absent: not known beyond the rows */
  effect?: CapabilityClass | null | undefined;
  gains: readonly AccessRow[];
  losses: readonly AccessRow[];
}
type AnySubject = Subject &
  ((Assumable & { name: string }) | { subject: string; before: string | null; after: string | null });

const isReassumed = (one: AnySubject): boolean =>
  "subject" in one ? one.before !== null && one.after !== null && one.before !== one.after : changesAssumption(one);

/** What a finding calls it. */
const keyOf = (one: AnySubject): string => ("subject" in one ? one.subject : (one.uid ?? one.name));

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

/** By their findings, by what somebody gains, by who can assume them, and last by what they lose. */
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
 * The denied first, and the allowed last; then by what the subject gains. One that is no subject of the change may be about any access.
 * Equals keep the order of the rules.
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
